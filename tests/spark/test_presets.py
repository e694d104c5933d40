"""The rules and checks of presets give the same on a cluster as on one machine."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.engines.spark.session import SparkTables
from shoal.policy import Policy
from tests.out_of_core.session_runs import run_in
from tests.presets.test_hipaa import AREAS, policy, rows
from tests.spark.cases import read_all, rows_of


@pytest.fixture
def safe_harbor(tmp_path: Path) -> tuple[Path, Policy]:
    (tmp_path / "zip3.csv").write_text(AREAS, encoding="utf-8")
    pq.write_table(pa.table(rows(160)), tmp_path / "in.parquet")
    return tmp_path / "in.parquet", policy(tmp_path).with_changes(k=4, seed=7)


@pytest.mark.long
def test_safe_harbor_on_a_cluster(
    session: SparkTables, safe_harbor: tuple[Path, Policy], tmp_path: Path
) -> None:
    source, required = safe_harbor
    here, there = tmp_path / "here.parquet", tmp_path / "there.parquet"
    memory = shoal.run(source, required, here)
    found = run_in(session, source, required, there, folders=True, fragment_rows=60)
    assert rows_of(read_all(there)) == rows_of(read_all(here))
    assert found.presets == memory.presets
    assert found.verified
    small = shoal.criteria(here, required)
    large = shoal.criteria(session._spark.read.parquet(str(there)), required)
    assert large.singling_out == small.singling_out
    assert large.inference == small.inference


@pytest.mark.thorough
def test_a_violation_prevents_the_release_on_a_cluster(
    session: SparkTables, safe_harbor: tuple[Path, Policy], tmp_path: Path
) -> None:
    _, required = safe_harbor
    table: dict[str, Any] = rows(160)
    table["note"][17] = "call (617) 555-0123"
    source, target = tmp_path / "bad.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table(table), source)
    words = "hipaa-safe-harbor: Column 'note' has phone or fax numbers"
    with pytest.raises(shoal.VerificationFailed, match=words):
        run_in(session, source, required, target, folders=True, fragment_rows=60)
    assert not target.exists()
