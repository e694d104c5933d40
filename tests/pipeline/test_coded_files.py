"""Files read and written by the numbers of their fields give the same releases as any other."""

from pathlib import Path
from typing import Any

import pytest
from pyarrow import csv

import shoal
from shoal.engines.formats import coded_csv
from shoal.sample.census import census

COLUMNS: dict[str, Any] = {
    "age": "quasi",
    "sex": "quasi",
    "nationality": {"role": "quasi", "kind": "unordered"},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "hours": "plain",
    "salary": "plain",
    "disease": "sensitive",
    "weight": "plain",
}
POLICIES: dict[str, dict[str, Any]] = {
    "sets": {},
    "starred": {"suppression": 0.5, "suppressed": "starred", "method": "local-recoding"},
    "kept order": {"order": "kept"},
    "identifier": {"columns": COLUMNS | {"weight": "identifier"}},
    "weight": {"columns": COLUMNS | {"weight": "weight"}},
    "target": {"target": "hours"},
    "anatomy": {"publish": "anatomy", "constraints": [{"l": 2, "of": "disease"}]},
    "rounded": {"columns": COLUMNS | {"salary": {"role": "plain", "round": 1000}}},
}


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize(
    ("name", "wide"),
    [*((name, 100) for name in POLICIES), ("sets", 2), ("starred", 2), ("weight", 2)],
)
def test_the_same_release(
    name: str, wide: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """wide: from so many columns on, numbers take two bytes where they fit."""
    policy = {"columns": COLUMNS, "constraints": [{"k": 3}], "seed": 1} | POLICIES[name]
    source = tmp_path / "in.csv"
    csv.write_csv(
        census(400).drop_columns(["race", "marital_status", "education", "workclass"]), source
    )
    plain = shoal.run(source, policy, tmp_path / "plain.csv")
    monkeypatch.setattr(coded_csv, "LARGE", 0)
    monkeypatch.setattr(coded_csv, "LARGE_ROWS", 0)
    monkeypatch.setattr(coded_csv, "WIDE", wide)
    coded = shoal.run(source, policy, tmp_path / "coded.csv")
    for file in tmp_path.glob("plain*.csv"):
        other = file.with_name(file.name.replace("plain", "coded"))
        assert other.read_bytes() == file.read_bytes()
    assert coded.table.equals(plain.table)
    assert coded.table.schema == plain.table.schema
    assert coded.metrics == plain.metrics
    assert coded.findings == plain.findings
    assert coded.run.warnings == plain.run.warnings
