"""What is left of the detail, and levels, are the same where the rows are on disk."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import shoal

HOW = {
    "age": {"intervals": [5, 20]},
    "zip": {"mask": "right"},
    "town": {"tree": {"any": {"n": ["a", "b, c", "{d"], "s": ["e", "*"]}}},
}


@pytest.mark.parametrize("method", ["mondrian", "datafly"])
def test_on_disk_as_in_memory(tmp_path: Path, method: str) -> None:
    random = np.random.default_rng(2)
    n = 400
    table = pa.table(
        {
            "age": random.integers(0, 90, n),
            "zip": [f"0{one}" for one in random.integers(2000, 2050, n)],
            "town": random.choice(["a", "b, c", "{d", "e", "*"], n),
            "ill": random.choice(["flu", "cold"], n),
        }
    )
    csv.write_csv(table, tmp_path / "t.csv")
    columns = {
        name: {"role": "quasi"} | ({"hierarchy": how} if method == "datafly" else {})
        for name, how in HOW.items()
    }
    policy = {
        "columns": columns | {"ill": "sensitive"},
        "constraints": [{"k": 4}],
        "method": method,
        "seed": 3,
    }
    found = [
        shoal.run(tmp_path / "t.csv", policy, tmp_path / f"r{i}.csv", memory=memory)
        for i, memory in enumerate((None, "2GB"))
    ]
    assert found[0].detail == found[1].detail
    assert found[0].levels == found[1].levels
    assert bool(found[0].levels) == (method == "datafly")
    assert 0 < found[0].detail.exact < 1 or method == "datafly"
