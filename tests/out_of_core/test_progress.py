"""A run on a table larger than memory reports its steps and the rows that are done."""

from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from shoal.engines.duckdb.session import DuckSession
from shoal.engines.files import LocalFiles
from shoal.engines.sessions import Transfer
from shoal.engines.spark.session import Poller, tasks_of
from shoal.policy import Policy
from shoal.progress import Clock, ProgressEvent
from tests.out_of_core.patients import COLUMNS, TREES, patients
from tests.out_of_core.session_runs import run_in

STEPS = ["read", "encode", "group", "publish", "measure", "write", "verify", "truth"]


@pytest.mark.parametrize("method", ["flexible-partition", "datafly"])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_every_step_begins_ends_and_counts_rows(
    tmp_path: Path, method: str, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.engines.duckdb.session.BATCH", 100)
    monkeypatch.setattr("shoal.engines.duckdb.session.BATCH", 100)
    source, table = tmp_path / f"people{ending}", patients(700)
    LocalFiles().write(table, source)
    keys: dict[str, Any] = TREES if method == "datafly" else {}
    columns = COLUMNS | keys.get("columns", {})
    policy = Policy.load({"columns": columns, "constraints": [{"k": 5}], "method": method})
    seen: list[ProgressEvent] = []
    session = DuckSession("1GB")
    clock = Clock(seen.append)
    run_in(
        session, source, policy, tmp_path / "out.parquet", clock, folders=False, fragment_rows=100
    )
    session.close()
    found = {step: list(events) for step, events in groupby(seen, lambda event: event.step)}
    assert list(found) == STEPS == list(clock.seconds)
    for step, events in found.items():
        shares = [event.share for event in events]
        assert (shares[0], shares[-1]) == (0, 1), step
        assert shares == sorted(shares), step
        assert events[-1].rows == events[-1].total == 700, step
        rows = [event.rows for event in events if event.rows is not None]
        assert rows == sorted(rows), step
    for step in ("encode", "publish", "write", "verify"):
        assert len([event for event in found[step] if 0 < (event.rows or 0) < 700]) >= 3, step
    if ending == ".parquet":
        # DuckDB reads the file whenever rows are needed
        assert [event.rows for event in found["read"][1:]] == [700, 700]


def test_no_progress_is_reported_after_a_step(tmp_path: Path) -> None:
    pq.write_table(patients(50), tmp_path / "t.parquet")
    session = DuckSession("500MB")
    seen: list[Transfer] = []
    session.listener = seen.append
    from shoal.io.csv_dialect import CsvOptions

    session.read("raw", [tmp_path / "t.parquet"], ["age"], CsvOptions())
    assert seen == [Transfer(50)]
    session.close()


class Tracker:
    """As Spark's own: what runs just now, step by step."""

    def __init__(self, *steps: list[tuple[int, int] | None]) -> None:
        self._steps = list(steps)
        self._now: list[tuple[int, int] | None] = []

    def getActiveStageIds(self) -> list[int]:  # noqa: N802 - as Spark calls it
        if not self._steps:
            raise ConnectionError("Spark went away")
        self._now = self._steps.pop(0)
        return list(range(len(self._now)))

    def getStageInfo(self, stage: int) -> Any:  # noqa: N802
        info = self._now[stage]
        return info and type("Info", (), {"numCompletedTasks": info[0], "numTasks": info[1]})


def test_the_tasks_of_a_spark_are_added_up() -> None:
    assert tasks_of(Tracker([])) is None
    assert tasks_of(Tracker([None, (0, 0)])) is None
    assert tasks_of(Tracker([(1, 4), None, (2, 2)])) == Transfer(tasks=3, of_tasks=6)


def test_polling_ends_with_spark_and_with_the_session() -> None:
    seen: list[Transfer] = []
    poller = Poller(Tracker([(1, 4)], [], [(4, 4)]), seen.append, pause=0.01)
    poller._thread.join(60)
    assert not poller._thread.is_alive()
    assert seen == [Transfer(tasks=1, of_tasks=4), Transfer(tasks=4, of_tasks=4)]
    other = Poller(Tracker(), seen.append, pause=60)
    other.end()
    assert not other._thread.is_alive()
