"""A table with every kind of column, and the columns of its policy."""

from typing import Any

import numpy as np
import pyarrow as pa

JOBS = ("baker", "clerk", "driver", "farmer", "guard", "judge", "nurse", "pilot")
COLUMNS: dict[str, Any] = {
    "name": "identifier",
    "age": {"role": "quasi", "kind": "ordered"},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "job": {"role": "quasi", "kind": "unordered"},
    "sex": "quasi",
    "illness": "sensitive",
    "ward": "plain",
    "paid": "plain",
}
TREES: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20], "from": 0}},
        "job": {
            "role": "quasi",
            "hierarchy": {"tree": {"any": {"in": list(JOBS[:4]), "out": list(JOBS[4:])}}},
        },
        "sex": {"role": "quasi", "hierarchy": {"tree": {"any": ["f", "m"]}}},
    }
}


def patients(n: int, seed: int = 5) -> pa.Table:
    """So many patients; values depend on each other, some are missing, many are equal."""
    random = np.random.default_rng(seed)
    age = np.clip(random.normal(45, 18, n), 0, 99).astype(int)
    job = random.integers(0, 8, n) * (age > 20)
    ill = np.minimum(random.geometric(0.35, n) + age // 40, 7)

    def some(values: list[Any], missing: float) -> list[Any]:
        gone = random.random(n) < missing
        return [None if no else value for value, no in zip(values, gone, strict=True)]

    return pa.table(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": pa.array(
                [None if r < 0.02 else int(a) for a, r in zip(age, random.random(n), strict=True)]
            ),
            "zip": [f"{z:04d}" for z in 1000 + 37 * random.integers(0, 30, n)],
            "job": [JOBS[j] for j in job],
            "sex": random.choice(["f", "m"], n),
            "illness": [
                None if r < 0.03 else f"illness {i}"
                for i, r in zip(ill, random.random(n), strict=True)
            ],
            "ward": random.choice(["east", "west", "north"], n),
            "paid": np.round(random.random(n) * 100, 1),
        }
    )
