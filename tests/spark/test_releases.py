"""A cluster publishes the very rows of one machine: every method, several constraints, tables that lie
there in any number of files and parts."""

from pathlib import Path

import pytest

import shoal
from shoal.engines.spark.session import SHUFFLE_PARTITIONS, SparkTables
from shoal.progress import Clock
from shoal.release import Release
from tests.out_of_core.session_runs import run_in
from tests.spark.cases import (
    LAYOUTS,
    RELEASES,
    Layout,
    name_of,
    policy_of,
    put,
    read_all,
    rows_of,
)
from tests.spark.conftest import Configure

FRAGMENT_ROWS = 400
"""So few that there are top cuts in such a small table."""
THOROUGH = pytest.mark.thorough


def _marks(number: int, turn: int) -> list[pytest.MarkDecorator]:
    if number >= len(LAYOUTS) or turn != number:
        return [THOROUGH]
    return [] if number in (0, 3, 6) else [pytest.mark.long]


CASES = [
    pytest.param(
        number,
        layout,
        id=name_of(number, layout),
        # every layout once, and every way that a table goes: fragments, blocks or cells; four of
        # the seven are for `make long`. Other methods run the same code there as on DuckDB, and some in
        # `test_golden.py`; all methods with all layouts are for `make spark`
        marks=_marks(number, turn),
    )
    for number in range(len(RELEASES))
    for turn, layout in enumerate(LAYOUTS)
]


@pytest.mark.parametrize(("number", "layout"), CASES)
def test_the_same_rows_as_on_one_machine(
    session: SparkTables,
    tmp_path: Path,
    configure: Configure,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    layout: Layout,
) -> None:
    policy = policy_of(RELEASES[number])
    one, parts = put(tmp_path, layout)
    configure(layout)
    if number % 2:  # rows go to their parts by the kernel, as they do where there are many
        monkeypatch.setattr("shoal.engines.partition_tree.MOST_SQL_FRAGMENTS", 0)
    alone = shoal.run(one, policy, tmp_path / f"alone{one.suffixes[0]}")
    expected = rows_of(read_all(tmp_path / f"alone{one.suffixes[0]}"))
    other: Release
    if layout.kind == "frame":
        frame = session._spark.read.parquet(str(parts)).repartition(layout.files)
        other = shoal.anonymize(frame, policy)
        assert rows_of(other.table.toArrow()) == expected
        other.table.unpersist()
    else:
        target = tmp_path / f"there{one.suffixes[0]}"
        other = run_in(
            session, parts, policy, target, Clock(), folders=True, fragment_rows=FRAGMENT_ROWS
        )
        assert rows_of(read_all(target)) == expected
    assert other.findings == alone.findings
    assert other.groups == alone.groups
    assert other.published_classes == alone.published_classes
    assert other.column_loss == pytest.approx(alone.column_loss)
    # Spark used the configured number of parts
    assert session._spark.conf.get(SHUFFLE_PARTITIONS) == str(layout.shuffled)
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]
