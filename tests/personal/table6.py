"""The worked example of personalised (α,l)-diversity k-anonymity, and its policy."""

from typing import Any

import pyarrow as pa

LEVELS = {
    4: ["HIV", "Cancer"],
    3: ["Phthisis", "Hepatitis"],
    2: ["Heart Disease", "Asthma"],
    1: ["Flu", "Indigestion"],
}
TREE = {
    "any disease": {
        "cardio-respiratory": {
            "respiratory infection": ["Flu", "Phthisis"],
            "chest disease": ["Asthma", "Heart Disease"],
        },
        "other": {
            "digestive disease": ["Indigestion", "Hepatitis"],
            "systemic disease": ["HIV", "Cancer"],
        },
    }
}
SID = {value: level for level, values in LEVELS.items() for value in values}
PATHS = {
    leaf: (leaf, low, middle, "any disease")
    for middle, parts in TREE["any disease"].items()
    for low, leaves in parts.items()
    for leaf in leaves
}
"""Each disease and its ancestors, lowest first."""
DISEASE = {
    "role": "sensitive",
    "levels": LEVELS,
    "hierarchy": {"tree": TREE},
    "preference": "ppl",
}

ROWS = [
    ("Male", 34, "100751", "Cancer", 4),
    ("Male", 43, "100720", "Flu", 2),
    ("Female", 66, "200386", "HIV", 3),
    ("Female", 70, "200425", "Asthma", None),
    ("Female", 55, "178642", "Cancer", None),
    ("Female", 48, "178653", "Flu", 1),
    ("Female", 36, "178634", "Hepatitis", 2),
]
NAMES = ["gender", "age", "zip", "disease", "ppl"]


def table6() -> pa.Table:
    """The table of the example."""
    return pa.table(dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True)))


def policy(**keys: Any) -> dict[str, Any]:
    """Its policy: (0.5,2)-diversity 2-anonymity by top-down."""
    asked = {
        "columns": {
            "gender": "quasi",
            "age": "quasi",
            "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
            "disease": DISEASE,
            "ppl": "preference",
        },
        "constraints": [{"k": 2}, {"l": 2, "of": "disease"}, {"alpha": 0.5, "of": "disease"}],
        "method": "top-down",
    }
    return asked | keys
