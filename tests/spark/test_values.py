"""What counts as a value is the same on a cluster as on one machine."""

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.engines.spark.session import SparkTables
from shoal.errors import InputError
from shoal.policy import Policy
from tests.out_of_core.session_runs import run_in
from tests.spark.cases import read_all, rows_of

ROLES: dict[str, Any] = {"age": "quasi", "ill": "sensitive"}
MODELS = [{"k": 4}, {"l": 3, "of": "ill"}, {"t": 0.6, "of": "ill"}]


def test_spellings_and_codes_for_missing_values(session: SparkTables, tmp_path: Path) -> None:
    chance = Random(4)
    ills = ["HIV", "hiv ", "flu", "gout", "1", "1.0", "NA", ""]
    ages = [*map(str, range(20, 40)), "?"]
    drawn = {"age": chance.choices(ages, k=200), "ill": chance.choices(ills, k=200)}
    source, here, there = (tmp_path / f"{name}.parquet" for name in ("in", "here", "there"))
    pq.write_table(pa.table(drawn), source)
    keys = {"columns": ROLES, "constraints": MODELS, "seed": 3}
    policy = Policy.load({**keys, "read": {"missing": ["NA", "?"]}})
    memory = shoal.run(source, policy, here)
    found = run_in(session, source, policy, there, folders=True, fragment_rows=60)
    assert rows_of(read_all(there)) == rows_of(read_all(here))
    assert found.findings == memory.findings
    assert found.warnings == memory.warnings
    assert any("6 spellings read as 4 values" in text for text in found.warnings)
    asking = Policy.load({**keys, "read": {"missing": ["?"]}})
    with pytest.raises(InputError, match=r"reads 'NA' in .* Add `missing: \[\"\?\", NA\]`"):
        run_in(session, source, asking, tmp_path / "asked.parquet", folders=True)


def test_sensitive_numbers_have_one_zero(session: SparkTables, tmp_path: Path) -> None:
    chance = Random(2)
    pay = chance.choices([0.0, -0.0, 1.0, 2.5, None], k=200)
    source, here, there = (tmp_path / f"{name}.parquet" for name in ("in", "here", "there"))
    pq.write_table(pa.table({"age": chance.choices(range(40), k=200), "pay": pay}), source)
    columns = {"age": "quasi", "pay": "sensitive"}
    constraints = [{"k": 4}, {"t": 0.25, "of": "pay"}]
    policy = Policy.load({"columns": columns, "constraints": constraints, "seed": 3})
    memory = shoal.run(source, policy, here)
    found = run_in(session, source, policy, there, folders=True, fragment_rows=60)
    assert found.findings == memory.findings
    published = read_all(there)
    assert rows_of(published) == rows_of(read_all(here))
    assert not any(str(value) == "-0.0" for value in published["pay"].to_pylist())
