"""A session in DuckDB: tables, functions on their rows, files, and nothing left behind."""

import csv
import datetime as dt
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from shoal.engines.duckdb import session as duck
from shoal.engines.duckdb.session import DuckSession
from shoal.engines.files import LocalFiles
from shoal.engines.sessions import Session
from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions
from shoal.threads import ahead, in_turn

OPTIONS = CsvOptions()


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    (tmp_path / "rows").mkdir()
    made = DuckSession("500MB", tmp_path / "rows")
    yield made
    made.close()
    assert not list((tmp_path / "rows").iterdir())


def rows(session: Session, sql: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in session.query(sql).to_pylist())


def numbers(session: Session, n: int) -> None:
    session.keep("numbers", f"SELECT i AS x, i % 7 AS g FROM range({n}) AS t(i)")


def test_a_table_may_replace_the_one_it_was_made_from(session: Session) -> None:
    numbers(session, 5)
    session.keep("numbers", "SELECT x + 1 AS x FROM numbers WHERE x > 2")
    assert rows(session, "SELECT x FROM numbers") == [(4,), (5,)]
    session.drop("numbers")
    session.drop("numbers")
    numbers(session, 1)


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_every_row_passes_through_the_function_once(
    session: Session, monkeypatch: pytest.MonkeyPatch, n: int
) -> None:
    monkeypatch.setattr(duck, "BATCH", 64)
    numbers(session, n)
    schema = pa.schema([("x", pa.int64()), ("y", pa.int32())])

    def doubled(batch: pa.RecordBatch) -> pa.RecordBatch:
        double = pc.multiply(batch.column("x"), 2).cast(pa.int32())
        return pa.RecordBatch.from_arrays([double, batch.column("x")], ["y", "x"])

    session.map("numbers", "SELECT x FROM numbers", doubled, schema)
    assert rows(session, "SELECT x, y FROM numbers") == [(i, 2 * i) for i in range(n)]


@pytest.mark.parametrize("n", [0, 1, 5, 3000])
def test_groups_come_whole_and_once(
    session: Session, monkeypatch: pytest.MonkeyPatch, n: int
) -> None:
    monkeypatch.setattr(duck, "BATCH", 100)
    numbers(session, n)
    schema = pa.schema([("g", pa.int64()), ("n", pa.int64())])
    met = []

    def counted(table: pa.Table) -> pa.Table:
        keys = set(table["g"].to_pylist())
        assert len(keys) == 1
        met.append(keys.pop())
        return pa.table([[met[-1]], [len(table)]], ["g", "n"])

    session.map_groups("counts", "SELECT * FROM numbers", "g", counted, schema, [1] * 7)
    assert len(met) == len(set(met)) == min(n, 7)
    expected = "SELECT g, count(*) AS n FROM numbers GROUP BY g"
    assert rows(session, "SELECT g, n FROM counts") == rows(session, expected)


def test_groups_come_whole_from_many_threads(session: Session) -> None:
    session.keep("many", "SELECT hash(i) % 100 AS g, i AS x FROM range(1000000) AS t(i)")
    schema = pa.schema([("g", pa.uint64()), ("x", pa.int64()), ("n", pa.int64())])

    def counted(table: pa.Table) -> pa.Table:
        assert len(set(table["g"].to_pylist())) == 1
        return table.append_column("n", pa.array([len(table)] * len(table)))

    session.map_groups("counts", "SELECT * FROM many", "g", counted, schema, [10_000] * 100)
    summed = "SELECT g, count(*) AS rows, count(*) AS n, sum(x) AS x FROM many GROUP BY g"
    found = "SELECT g, count(*) AS rows, max(n) AS n, sum(x) AS x FROM counts GROUP BY g"
    assert rows(session, found) == rows(session, summed)


def test_a_function_that_fails_leaves_the_old_table(session: Session) -> None:
    numbers(session, 3)

    def fails(_: pa.RecordBatch) -> pa.RecordBatch:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        session.map("numbers", "SELECT * FROM numbers", fails, pa.schema([("x", pa.int64())]))
    assert rows(session, "SELECT x FROM numbers") == [(0,), (1,), (2,)]


def test_csv_files_are_read_as_one_table_of_text(session: Session, tmp_path: Path) -> None:
    one, two = tmp_path / "1.csv", tmp_path / "2.csv"
    one.write_text('a,b,c\n1,x,"q,q"\n2,,""\n')
    two.write_text("b;a;c\ny;3;é\n", encoding="latin-1")
    schema = session.read("t", [one, two], ["c", "a"], OPTIONS)
    assert schema == pa.schema([("p0", pa.string()), ("p1", pa.string())])
    assert rows(session, "SELECT p0, p1 FROM t") == [("", "2"), ("q,q", "1"), ("é", "3")]


def test_a_broken_csv_is_refused_as_in_memory(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n3,4,5\n")
    with pytest.raises(InputError, match="3 fields"):
        session.read("t", [path], ["a"], OPTIONS)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="no column 'x'"):
        session.read("t", [path], ["x"], OPTIONS)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_typed_files_keep_their_types(session: Session, tmp_path: Path, kind: str) -> None:
    day = pa.array([dt.date(2020, 1, 1), None], pa.date32())
    word = pa.array(["b", "a"]).dictionary_encode()
    table = pa.table({"n": pa.array([1, 2], pa.int16()), "day": day, "word": word})
    path = tmp_path / f"t.{kind}"
    LocalFiles().write(table, path)
    schema = session.read("t", [path, path], ["word", "day", "n"], OPTIONS)
    assert schema.types == [pa.string(), pa.date32(), pa.int16()]
    found = session.query("SELECT p0, p1, p2 FROM t WHERE p2 = 1")
    assert found.to_pylist() == [{"p0": "b", "p1": dt.date(2020, 1, 1), "p2": 1}] * 2


def test_files_of_two_tables_are_refused(session: Session, tmp_path: Path) -> None:
    one, two = tmp_path / "1.parquet", tmp_path / "2.parquet"
    pq.write_table(pa.table({"a": [1]}), one)
    pq.write_table(pa.table({"a": ["x"]}), two)
    with pytest.raises(InputError, match=r"'a' \(int64 and string\)"):
        session.read("t", [one, two], ["a"], OPTIONS)


def test_an_unsupported_type_is_named(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    months = pa.array([(1, 2, 3)], pa.month_day_nano_interval())
    table = pa.table({"ok": [1], "odd": pa.array([1], pa.decimal256(70, 0)), "months": months})
    LocalFiles().write(table, path)
    with pytest.raises(InputError, match="'odd' has the type decimal256"):
        session.read("t", [path], ["ok", "odd"], OPTIONS)


def test_files_are_written_in_order(session: Session, tmp_path: Path) -> None:
    n = 150_000
    session.keep(
        "t", f"SELECT i AS q0, CAST(hash(i) % 1000 AS BIGINT) AS p0 FROM range({n}) AS r(i)"
    )
    ask = "SELECT q0, p0 FROM t"
    session.write(ask, tmp_path / "t.csv", ["Age", "age"], ["p0", "q0"], OPTIONS, n)
    session.write(ask, tmp_path / "u.csv", ["p0", "q0"], ["p0", "q0"], OPTIONS, n)
    session.write(ask, tmp_path / "t.parquet", ["p0", "q0"], ["p0", "q0"], OPTIONS, n)
    session.write(ask, tmp_path / "t.arrow", ["p0", "q0"], ["p0", "q0"], OPTIONS, n)
    expected = [(i, p) for p, i in sorted((p, i) for i, p in rows(session, ask))]
    for name, header in (("t.csv", ["Age", "age"]), ("u.csv", ["p0", "q0"])):
        with (tmp_path / name).open(newline="") as stream:
            found = list(csv.reader(stream))
        assert found[0] == header
        assert [(int(a), int(b)) for a, b in found[1:]] == expected
    found = pq.read_table(tmp_path / "t.parquet")
    assert list(zip(*found.to_pydict().values(), strict=True)) == expected
    with pa.ipc.open_file(tmp_path / "t.arrow") as file:
        assert file.read_all().equals(found)


def test_more_rows_than_memory(tmp_path: Path) -> None:
    session = DuckSession("40MB", tmp_path)
    try:
        session.keep("t", "SELECT hash(i) AS h, hash(i + 1) AS g FROM range(1000000) AS r(i)")
        session.keep(
            "u", "SELECT h, g, row_number() OVER (PARTITION BY g % 50 ORDER BY h) AS n FROM t"
        )
        assert session.query("SELECT sum(n) AS s FROM u")["s"][0].as_py() > 0
    finally:
        session.close()
    assert not list(tmp_path.iterdir())


def test_a_garbage_collected_session_leaves_nothing(tmp_path: Path) -> None:
    session = DuckSession(folder=tmp_path)
    session.keep("t", "SELECT 1 AS x")
    assert list(tmp_path.iterdir())
    del session
    assert not list(tmp_path.iterdir())


def test_times_in_utc_are_the_same_on_every_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        moments = [dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 7, 1, 12, 0, 0, 5000), None]
        table = pa.table({"t": pa.array(moments, pa.timestamp("us", "UTC"))})
        pq.write_table(table, tmp_path / "t.parquet")
        LocalFiles().write(table, tmp_path / "one.csv")
        session = DuckSession("100MB", tmp_path)
        comma = CsvOptions(",", '"', "utf-8")
        session.read("raw", [tmp_path / "t.parquet"], ["t"], comma)
        session.write("SELECT p0 FROM raw", tmp_path / "other.csv", ["t"], ["p0"], comma, 3)
        session.close()
    finally:
        monkeypatch.undo()
        time.tzset()
    lines = (tmp_path / "one.csv").read_text().splitlines()
    assert sorted(lines) == sorted((tmp_path / "other.csv").read_text().splitlines())
    assert lines[1:] == ["2020-01-01 12:00:00+00", "2020-07-01 12:00:00.005+00", ""]


def test_rows_in_the_place_of_others(session: Session) -> None:
    numbers(session, 20)
    session.keep("other", "SELECT x * 100 AS x, g FROM numbers WHERE g IN (1, 4) AND x < 10")
    session.substitute("numbers", "other", "g")
    plain = [(i, i % 7) for i in range(20) if i % 7 not in (1, 4)]
    assert rows(session, "SELECT x, g FROM numbers") == sorted(
        [*plain, (100, 1), (800, 1), (400, 4)]
    )


def test_functions_in_threads_keep_the_order_and_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(n: int) -> int:
        time.sleep(0.002 * (n % 3))  # later ones may be ready first
        if n == 77:
            raise InputError("odd")
        return n // 2

    for threads in ("1", "3"):
        monkeypatch.setenv("SHOAL_THREADS", threads)
        assert list(in_turn(half, range(50))) == [n // 2 for n in range(50)]
        assert list(in_turn(half, [])) == []
        found = in_turn(half, range(70, 90))
        assert [next(found) for _ in range(7)] == [35, 35, 36, 36, 37, 37, 38]
        with pytest.raises(InputError, match="odd"):
            next(found)


def test_items_are_taken_ahead_in_their_order_and_errors_arrive() -> None:
    taken: list[int] = []

    def items(fail: bool) -> Iterator[int]:
        for i in range(20):
            taken.append(i)
            yield i
        if fail:
            raise InputError("at the end")

    assert list(ahead(items(fail=False))) == list(range(20))
    with pytest.raises(InputError, match="at the end"):
        list(ahead(items(fail=True)))
    taken.clear()
    some = ahead(items(fail=False))
    assert next(some) == 0
    some.close()
    assert len(taken) <= 4
