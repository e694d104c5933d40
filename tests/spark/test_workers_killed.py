"""A worker, its executor and its Python are killed while they work: the same rows come out."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.engines.spark import connection
from shoal.engines.spark.session import SparkTables
from shoal.progress import Clock
from tests.out_of_core.session_runs import run_in
from tests.spark.cases import RELEASES, Layout, policy_of, put, read_all, rows_of
from tests.spark.cluster import Cluster
from tests.spark.conftest import Configure
from tests.spark.test_session import COMMA, rows_in
from tests.spark.worker_kills import Stage, Work

FOUR_FILES = Layout(4, ".parquet", 2, 2, usual=True)
WITH_L = RELEASES[1]


class PausedSession:
    """A session that holds up the coding of the rows and the finishing of the fragments."""

    def __init__(self, session: SparkTables, coding: Stage, finishing: Stage) -> None:
        self._session, self._coding, self._finishing = session, coding, finishing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def map(self, name: str, sql: str, function: Any, *more: Any, **options: Any) -> None:
        if name == "encoded":
            function = self._coding.holding(function)
        self._session.map(name, sql, function, *more, **options)

    def map_groups(
        self, name: str, sql: str, key: str, function: Any, *more: Any, **options: Any
    ) -> None:
        if name == "published":
            function = self._finishing.holding(function)
        self._session.map_groups(name, sql, key, function, *more, **options)


def killed_twice(cluster: Cluster, coding: Stage, finishing: Stage, work: Work) -> Any:
    cluster.mend()
    work.start()
    coding.kill_during(cluster, work)
    cluster.mend()
    finishing.kill_during(cluster, work)
    given = work.result()
    cluster.mend()
    assert coding.calls > 2, "what the killed worker had begun was done again"
    assert finishing.calls > 2
    return given


@pytest.mark.long
def test_during_a_release(
    session: SparkTables, cluster: Cluster, tmp_path: Path, configure: Configure
) -> None:
    configure(FOUR_FILES)
    one, parts = put(tmp_path, FOUR_FILES)
    policy = policy_of(WITH_L)
    alone = shoal.run(one, policy, tmp_path / "alone.parquet")
    coding, finishing = Stage(tmp_path / "coding"), Stage(tmp_path / "finishing")
    held: Any = PausedSession(session, coding, finishing)
    target = tmp_path / "there.parquet"

    def release() -> Any:
        return run_in(held, parts, policy, target, Clock(), folders=True, fragment_rows=450)

    other = killed_twice(cluster, coding, finishing, Work(release))
    assert rows_of(read_all(target)) == rows_of(read_all(tmp_path / "alone.parquet"))
    assert other.findings == alone.findings
    assert other.groups == alone.groups
    assert {each.name for each in tmp_path.iterdir() if each.name.startswith(".")} == set()


@pytest.mark.thorough
def test_during_a_release_of_a_frame(
    session: SparkTables,
    cluster: Cluster,
    tmp_path: Path,
    configure: Configure,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    configure(FOUR_FILES)
    one, parts = put(tmp_path, FOUR_FILES)
    policy = policy_of(WITH_L)
    shoal.run(one, policy, tmp_path / "alone.parquet")
    coding, finishing = Stage(tmp_path / "coding"), Stage(tmp_path / "finishing")
    open_frame = connection.open_frame
    monkeypatch.setattr(
        connection, "open_frame", lambda f: PausedSession(open_frame(f), coding, finishing)
    )
    monkeypatch.setattr("shoal.engines.partition_tree.FRAGMENT_ROWS", 450)
    frame = session._spark.read.parquet(str(parts)).repartition(4)

    def release() -> Any:
        return shoal.anonymize(frame, policy)

    other = killed_twice(cluster, coding, finishing, Work(release))
    assert rows_of(other.table.toArrow()) == rows_of(read_all(tmp_path / "alone.parquet"))
    other.table.unpersist()


@pytest.mark.thorough
@pytest.mark.parametrize("groups", [False, True])
def test_during_one_call(
    session: SparkTables, cluster: Cluster, tmp_path: Path, groups: bool
) -> None:
    cluster.mend()
    folder = tmp_path / "numbers"
    folder.mkdir()
    for i in range(4):
        pq.write_table(pa.table({"i": range(i * 1000, i * 1000 + 1000)}), folder / f"{i}.parquet")
    session.read("numbers", [folder], ["i"], COMMA)
    # what is kept is lost in part too, and must be computed again
    session.keep("kept", "SELECT p0 % 8 AS node, p0 FROM numbers")
    schema = pa.schema([("node", pa.int64()), ("p0", pa.int64())])
    stage = Stage(tmp_path / "stage")
    hold, sql = stage.holding(lambda rows: rows), "SELECT node, p0 FROM kept"

    def work() -> None:
        if groups:
            session.map_groups("out", sql, "node", hold, schema, [500] * 8)
        else:
            session.map("out", sql, hold, schema)

    working = Work(work)
    working.start()
    stage.kill_during(cluster, working)
    working.result()
    expected = Counter((i % 8, i) for i in range(4000))
    assert rows_in(session, "out") == expected
    assert rows_in(session, "kept") == expected
    assert stage.calls > (8 if groups else 2), "what the killed worker had begun was done again"
    session.drop("out")
    session.drop("kept")
    cluster.mend()
