"""People are counted on a cluster as on one machine."""

from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest

import shoal
from shoal.engines.spark.session import SparkTables
from shoal.policy import Policy
from shoal.release import Release
from tests.out_of_core import test_repeated_ids as repeated
from tests.out_of_core.session_runs import run_in
from tests.out_of_core.test_people import ROLES, require_people, visits
from tests.spark.cases import read_all, rows_of

K_AND_L: list[dict[str, Any]] = [{"k": 3}, {"l": 2, "of": "ill"}]


@pytest.mark.parametrize(
    ("method", "models", "as_frame"),
    [
        ("least-loss-partition", K_AND_L, False),
        pytest.param(
            "flexible-partition",
            [{"k": 3}, {"alpha": 0.95, "of": "ill"}],
            True,
            marks=pytest.mark.long,
        ),
    ],
)
def test_the_same_rows_and_findings_as_in_memory(
    session: SparkTables,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    models: list[dict[str, Any]],
    as_frame: bool,
) -> None:
    policy = Policy.load({"columns": ROLES, "constraints": models, "method": method, "seed": 3})
    table = visits(Random(5), 150, 60, numbered=not as_frame)
    source, here, there = (tmp_path / f"{name}.parquet" for name in ("in", "here", "there"))
    pq.write_table(table, source)
    memory = shoal.run(source, policy, here)
    expected = rows_of(read_all(here))
    found: Release
    if as_frame:
        monkeypatch.setattr("shoal.engines.relational.RelationalEngine.fragment_rows", 80)
        found = shoal.anonymize(session._spark.read.parquet(str(source)).repartition(3), policy)
        assert rows_of(found.table.toArrow()) == expected
        found.write(there)  # the people stay behind: these are the rows that were verified
        assert rows_of(read_all(there)) == expected
        found.table.unpersist()
    else:
        found = run_in(session, source, policy, there, folders=True, fragment_rows=80)
        assert rows_of(read_all(there)) == expected
        require_people(there, table, models)
    assert found.findings == memory.findings
    assert {finding.counted for finding in found.findings} == {"people"}
    assert found.measured.people == memory.measured.people


@pytest.mark.parametrize("as_frame", [True, False])
def test_ids_that_repeat_are_noticed(session: SparkTables, tmp_path: Path, as_frame: bool) -> None:
    """In the same words as in memory, with the same figures as a plain count has."""
    table = repeated.visits(Random(4))
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(table, source)
    policy = repeated.policy("least-loss-partition" if as_frame else "datafly")
    memory = shoal.run(source, policy, tmp_path / "here.parquet")
    found: Release
    if as_frame:
        found = shoal.anonymize(session._spark.read.parquet(str(source)), policy)
        rows = found.table.toArrow()
        found.table.unpersist()
    else:
        found = run_in(session, source, policy, target, folders=True)
        rows = read_all(target)
    assert found.disclosure == memory.disclosure
    (one,) = found.disclosure.repeated
    repeated.require_counted(one, table, rows)
    assert one.warning in found.warnings
