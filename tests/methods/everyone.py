"""A table that has a column of every kind, and the policy that goes with it."""

from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

SCHOOLS = {
    "none": ("basic", "*"),
    "primary": ("basic", "*"),
    "lycée": ("middle", "*"),
    "BSc": ("higher", "*"),
    "MSc": ("higher", "*"),
}
RACES = {"light": ["a", "b"], "dark": ["c", {"darker": ["d", "e"]}]}
TOWNS = [
    "*",
    "[1~2]",
    "{a, b}",
    "a, b",
    "",
    "<missing>",
    "back\\slash",
    "北京",
    "Zürich",
    "x~y",
    "plain",
]
SIZES = ["small", "middle", "large", "huge"]
ILLS = ["flu", "asthma", "cancer", "gout", "ulcer"]

COLUMNS: dict[str, Any] = {
    "age": "quasi",
    "income": {"role": "quasi", "kind": "ordered"},
    "born": "quasi",
    "size": {"role": "quasi", "order": SIZES},
    "town": {"role": "quasi", "kind": "unordered"},
    "smoker": "quasi",
    "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "hours": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
    "visit": {"role": "quasi", "hierarchy": {"date": ["month", "year", "decade"]}},
    "school": {"role": "quasi", "hierarchy": "school.csv"},
    "race": {"role": "quasi", "hierarchy": {"tree": RACES}},
    "ill": "sensitive",
    "ward": "plain",
    "name": "identifier",
}
QUASI = [name for name in COLUMNS if name not in ("ill", "ward", "name")]


def write_hierarchies(folder: Path) -> None:
    """The files that the policy names."""
    lines = [";".join((leaf, *above)) for leaf, above in SCHOOLS.items()]
    (folder / "school.csv").write_text("\n".join(lines), encoding="utf-8")


def policy(folder: Path, method: Mapping[str, Any], **keys: Any) -> dict[str, Any]:
    """A policy for the table; k = 7 unless other constraints are given."""
    asked = {"constraints": [{"k": 7}], "default": "drop", **keys}
    return {"columns": COLUMNS, "method": dict(method), "folder": folder, **asked}


def everyone(n: int, seed: int = 1, gaps: float = 0.06) -> pa.Table:
    """n made-up people; in every column but the plain ones a share of `gaps` is missing."""
    rng = np.random.default_rng(seed)

    def some(values: list[Any], kind: pa.DataType | None = None) -> pa.Array:
        picked = [values[i] for i in rng.integers(0, len(values), n)]
        gone = rng.random(n) < gaps
        gone[0] = False  # never all
        return pa.array([None if g else v for g, v in zip(gone, picked, strict=True)], kind)

    day = date(1950, 1, 1)
    return pa.table(
        {
            "age": some(list(range(18, 90))),
            "income": some([x / 2 for x in range(2000, 9000, 7)]),
            "born": some([day + timedelta(days=17 * i) for i in range(900)]),
            "size": some(SIZES),
            "town": some(TOWNS),
            "smoker": some([True, False]),
            "zip": some([f"{x:05}" for x in range(2100, 2200, 3)]),
            "hours": some(list(range(60))),
            "visit": some([(day + timedelta(days=101 * i)).isoformat() for i in range(200)]),
            "school": some(list(SCHOOLS)),
            "race": some(list("abcde")),
            "ill": some(ILLS),
            "ward": pa.array(rng.integers(0, 9, n), pa.int8()),
            "name": pa.array([f"person {i}" for i in range(n)]),
        }
    )


def leaves_under() -> dict[str, dict[str, set[str]]]:
    """Per column with a hierarchy of words, the leaves under each node, worked out by hand."""
    visits = [(date(1950, 1, 1) + timedelta(days=101 * i)).isoformat() for i in range(200)]
    nodes: dict[str, set[str]] = {}
    for visit in visits:
        for node in (visit[:7], visit[:4], visit[:3] + "0s"):
            nodes.setdefault(node, set()).add(visit)
    schools: dict[str, set[str]] = {}
    for leaf, above in SCHOOLS.items():
        for node in above:
            schools.setdefault(node, set()).add(leaf)
    races = {"light": {"a", "b"}, "dark": {"c", "d", "e"}, "darker": {"d", "e"}}
    return {"visit": nodes, "school": schools, "race": races}
