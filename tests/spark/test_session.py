"""Calls of a session on a real cluster against plain Python, where whole releases do not show them."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.engines.files import LocalFiles
from shoal.engines.queries import (
    count_alone,
    count_known,
    count_rows,
    count_squares,
    number_duplicates,
    repeated_values,
    select,
)
from shoal.engines.sessions import Transfer, no_listener
from shoal.engines.spark import session as spark_session
from shoal.engines.spark.arrow import schema_in_spark
from shoal.engines.spark.connection import open_frame, open_spark
from shoal.engines.spark.session import SHUFFLE_PARTITIONS, SparkTables
from shoal.errors import Infeasible, InputError
from shoal.io.commit import replacing_folder
from shoal.io.csv_dialect import CsvOptions
from shoal.pipeline.verify import examine, open_release
from shoal.policy import Policy
from shoal.progress import Clock
from shoal.risk.inspection import inspect, inspection_of
from shoal.risk.table import TableInSession
from tests.out_of_core.patients import COLUMNS, patients
from tests.spark.cases import LAYOUTS
from tests.spark.conftest import Configure

ENGINE = LocalFiles()
COMMA = CsvOptions(",", '"', "utf-8")
Rows = Counter[tuple[Any, ...]]
NASTY = (
    'a,b\n1,""\n2,\n,NULL\n',
    'a,b\r\n" x ","two\r\nlines, and ""quotes"""\r\n',
    '\ufeffa,b\n é ,#1\n\n\\N,x"y\n',
    "a,b\n",
    "a,b\n'1',\\\n5,5",
)


def rows_of(table: pa.Table) -> Rows:
    return Counter(tuple(row.values()) for row in table.to_pylist())


def rows_in(session: SparkTables, name: str) -> Rows:
    return rows_of(session.query(f"SELECT * FROM {name}"))


def three_columns(n: int) -> pa.Table:
    return pa.table(
        {
            "name": [f"n{i * 7919 % 1000}" for i in range(n)],
            "Age": pa.array([None if i % 11 == 0 else i % 50 for i in range(n)], pa.int32()),
            "age": [float(i) / 4 for i in range(n)],
        }
    )


def in_files(folder: Path, table: pa.Table, files: int, ending: str) -> Path:
    folder.mkdir()
    size = -(-table.num_rows // files)
    for i in range(files):
        ENGINE.write(table.slice(i * size, size), folder / f"part-{i}{ending}", options=COMMA)
    (folder / "_SUCCESS").touch()
    return folder


def test_csv_means_the_same_as_on_one_machine(session: SparkTables, tmp_path: Path) -> None:
    files = []
    for i, text in enumerate(NASTY):
        files.append(tmp_path / f"{i} [*]{{é}}.csv")
        files[-1].write_bytes(text.encode())
    session.read("nasty", files, ["b", "a"], COMMA)
    alone = pa.concat_tables([ENGINE.read(file, COMMA, ["b", "a"]) for file in files])
    assert alone.num_rows == 8
    assert rows_in(session, "nasty") == rows_of(alone)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (
            ["a,b\n1,2\n", "a,b\n1,2\n3\n"],
            "1.csv, line 3: 1 field, but the first line names 2 columns",
        ),
        (["a,b\n1,2\n", "b,a\n1,2\n"], "name different columns"),
        (["a,b\n", "a,b\n"], "the table has no rows"),
        (["a,c\n1,2\n"], "has no column 'b'"),
    ],
)
def test_bad_csv(session: SparkTables, tmp_path: Path, texts: list[str], message: str) -> None:
    for i, text in enumerate(texts):
        (tmp_path / f"{i}.csv").write_text(text)
    with pytest.raises(InputError, match=message) as raised:
        session.read("bad", [tmp_path], ["a", "b"], COMMA)
    assert "Traceback" not in str(raised.value)


def test_types_that_do_not_map_are_named(session: SparkTables, tmp_path: Path) -> None:
    kinds = pa.table({"a": [1], "b": pa.array([1], pa.duration("s"))})
    pq.write_table(kinds, tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"column 'b' has the type duration\[s\]"):
        session.read("bad", [tmp_path / "t.parquet"], ["a", "b"], COMMA)
    pq.write_table(kinds.slice(0, 0), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="the table has no rows"):
        session.read("bad", [tmp_path / "t.parquet"], ["a"], COMMA)


def test_values_of_every_type_come_back(session: SparkTables, tmp_path: Path) -> None:
    import datetime as dt
    from decimal import Decimal

    moment = dt.datetime(1964, 3, 7, 12, 30, 0, 123000)
    table = pa.table(
        {
            "u8": pa.array([200, None], pa.uint8()),
            "u64": pa.array([2**64 - 1, 0], pa.uint64()),
            "d": pa.array([Decimal("1.50"), None], pa.decimal128(38, 2)),
            "t": pa.array([moment, None], pa.timestamp("ms")),
            "z": pa.array([moment, None], pa.timestamp("us", "UTC")),
            "day": pa.array([moment.date(), None], pa.date32()),
            "cat": pa.array(["x", None]).dictionary_encode(),
            "yes": [True, None],
            "bytes": [b"\x00\xff", None],
            "f": pa.array([0.1, float("inf")], pa.float32()),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    schema = session.read("typed", [tmp_path / "t.parquet"], table.column_names, COMMA)
    back = session.query("SELECT * FROM typed")
    assert schema.types == table.schema.types
    assert back.schema.types == schema_in_spark(schema).types
    assert rows_of(back) == rows_of(table)
    session.map("same", "SELECT * FROM typed", lambda batch: batch, schema)
    assert rows_in(session, "same") == rows_of(table)


def numbers(session: SparkTables, tmp_path: Path, n: int) -> None:
    """A table `numbers` with p0 = 0..n-1, in so many files that both executors read some."""
    folder = in_files(tmp_path / "n", pa.table({"i": range(n)}), 4, ".parquet")
    session.read("numbers", [folder], ["i"], COMMA)


def test_map_keep_and_drop(session: SparkTables, tmp_path: Path) -> None:
    numbers(session, tmp_path, 1000)

    def squares(batch: pa.RecordBatch) -> pa.RecordBatch:
        wide = [str(v * v) for v in batch.column("p0").to_pylist() if v % 3]
        kept = pa.array([v % 5 for v in batch.column("p0").to_pylist() if v % 3], pa.int64())
        # other types and another order than was lengths
        return pa.record_batch({"text": pa.array(wide, pa.large_string()), "node": kept})

    schema = pa.schema([("node", pa.int32()), ("text", pa.string())])
    session.map("coded", "SELECT p0 FROM numbers", squares, schema)
    expected = Counter((i % 5, str(i * i)) for i in range(1000) if i % 3)
    assert rows_in(session, "coded") == expected
    for _ in range(3):
        session.keep(
            "coded",
            "SELECT CASE WHEN node < 3 THEN node + 1 ELSE node END AS node, text FROM coded",
        )
    assert rows_in(session, "coded") == Counter(
        {(max(3, node), text): n for (node, text), n in expected.items()}
    )
    session.keep(
        "few", "WITH c AS (SELECT node FROM coded) SELECT node, count(*) AS n FROM c GROUP BY node"
    )
    session.drop("coded")
    session.drop("numbers")
    nodes = Counter(max(3, i % 5) for i in range(1000) if i % 3)
    assert rows_in(session, "few") == Counter(nodes.items())
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException):
        session.query("SELECT * FROM coded")


def test_the_text_of_a_plan_does_not_double(session: SparkTables, configure: Configure) -> None:
    """Spark writes out the plan of every query with all tables below it: twelve rounds filled memory."""
    usual = next(layout for layout in LAYOUTS if layout.usual)
    configure(usual)
    mode = session._spark._jvm.org.apache.spark.sql.execution.ExplainMode.fromString("formatted")
    before = session._spark.conf.get("spark.sql.adaptive.enabled")
    lengths = []
    session.keep("rounds", "SELECT id % 3 AS node, id AS c0 FROM range(30)")
    for _ in range(5):
        cuts = "(VALUES (0, 1), (1, 2), (2, 0)) AS wanted(kn, ka)"
        session.keep("rounds", f"SELECT ka AS node, c0 FROM rounds JOIN {cuts} ON node = kn")
        frame = session._tables.query("SELECT node, count(*) AS n FROM rounds GROUP BY node")
        assert rows_of(frame.toArrow()) == Counter({(0, 10): 1, (1, 10): 1, (2, 10): 1})
        lengths.append(len(frame._jdf.queryExecution().explainString(mode)))
    assert lengths[4] - lengths[3] < 2 * (lengths[1] - lengths[0])
    assert session._spark.conf.get("spark.sql.adaptive.enabled") == before == "true"
    session.drop("rounds")


def test_a_longer_table_is_shuffled_in_more_parts(
    session: SparkTables, tmp_path: Path, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(LAYOUTS[0])
    monkeypatch.setattr("shoal.engines.spark.session.PART_ROWS", 10)
    conf = session._spark.conf
    nothing = SimpleNamespace(contains=lambda _: False)
    for ending in (".csv", ".parquet"):
        folder = in_files(tmp_path / f"f{ending}", three_columns(95), 2, ending)
        session.read("long", [folder], ["age"], COMMA)
        # the tests configure the number, so it is left alone
        assert conf.get(SHUFFLE_PARTITIONS) == "1"
        with monkeypatch.context() as unconfigured:
            unconfigured.setattr(session._spark.sparkContext, "getConf", lambda: nothing)
            session.read("long", [folder], ["age"], COMMA)
        assert conf.get(SHUFFLE_PARTITIONS) == "10"
        sent = "SELECT spark_partition_id() AS part FROM (SELECT p0 FROM long DISTRIBUTE BY p0)"
        assert len(set(session.query(sent)["part"].to_pylist())) > 5
        conf.set(SHUFFLE_PARTITIONS, "1")


def test_groups_come_whole_and_once(session: SparkTables, tmp_path: Path) -> None:
    numbers(session, tmp_path, 999)
    schema = pa.schema([("node", pa.int64()), ("n", pa.int64()), ("total", pa.int64())])

    def summed(group: pa.Table) -> pa.Table:
        assert group.column_names == ["node", "p0"]
        values = group["p0"].to_pylist()
        return pa.table({"node": [group["node"][0]], "n": [len(values)], "total": [sum(values)]})

    sql = "SELECT p0 % 10 * (p0 % 10) AS node, p0 FROM numbers"
    session.map_groups("sums", sql, "node", summed, schema, [100] * 82)
    plain: dict[int, list[int]] = {}
    for i in range(999):
        plain.setdefault((i % 10) ** 2, []).append(i)
    assert rows_in(session, "sums") == Counter((k, len(v), sum(v)) for k, v in plain.items())


def test_errors_in_executors_are_raised_unchanged(session: SparkTables, tmp_path: Path) -> None:
    numbers(session, tmp_path, 10)

    def refuse(batch: pa.RecordBatch) -> pa.RecordBatch:
        raise Infeasible(f'No "release": {batch.num_columns}\ncolumn.')

    with pytest.raises(Infeasible, match=r'^No "release": 1\ncolumn\.$'):
        session.map("never", "SELECT p0 FROM numbers", refuse, pa.schema([("p0", pa.int64())]))


@pytest.mark.parametrize("way", ["map", "group", "map once", "group once", "before"])
def test_a_function_that_fails_is_not_tried_again(
    session: SparkTables, tmp_path: Path, way: str
) -> None:
    """Spark tries a task several times that fails; an error of ours would only be the same again."""
    calls = str(tmp_path / "calls")

    def fails(*_: Any) -> Any:
        with Path(calls).open("a") as file:
            file.write("x")
        raise Infeasible("no group holds")

    schema = pa.schema([("id", pa.int64())])
    rows = "SELECT id, 0 AS b FROM range(0, 8, 1, 1)"

    def run() -> None:
        once = way.endswith("once")
        if way == "before":
            before: Any = fails
            before.schema = pa.schema([("id", pa.int64()), ("b", pa.int64())])
            session.map_groups("failing", rows, "b", lambda t: t, schema, [8], before=before)
        elif way.startswith("group"):
            session.map_groups("failing", rows, "b", fails, schema, [8], once=once)
        else:
            session.map("failing", rows, fails, schema, once=once)
        if once:
            session.query("SELECT count(*) AS n FROM failing")

    with pytest.raises(Infeasible, match="no group holds"):
        run()
    assert Path(calls).read_text() == "x"
    session.map("works", "SELECT id FROM range(0, 8, 1, 1)", lambda rows: rows, schema)
    assert session.query("SELECT * FROM works").column_names == ["id"]
    session.drop("works")


def test_a_part_that_cannot_be_written_is_not_tried_again(
    session: SparkTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = str(tmp_path / "calls")

    def fails(batches: Any, *_: Any) -> Any:
        for _ in batches:
            with Path(calls).open("a") as file:
                file.write("x")
            raise InputError("the disk is full")
        yield

    monkeypatch.setattr("shoal.engines.spark.folders.write_parts", fails)
    with pytest.raises(InputError, match="the disk is full"):
        session.write(
            "SELECT id FROM range(0, 8, 1, 1)", tmp_path / "out.csv", ["id"], ["id"], COMMA, 8
        )
    assert Path(calls).read_text() == "x"


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_folder_is_written_alike_from_any_parts(
    session: SparkTables, tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.engines.spark.folders.PART_ROWS", 150)
    table = pa.concat_tables([three_columns(400), three_columns(30)]).sort_by("age")
    target = tmp_path / f"out{ending}"
    seen = []
    for files in (1, 5):
        source = in_files(tmp_path / f"in{files}", table, files, ".parquet")
        session.read("rows", [source], table.column_names, COMMA)
        with replacing_folder(target, files > 1, [source]) as folder:
            session.write(
                "SELECT p0, p1, p2 FROM rows",
                folder.path,
                ["Wer", "alt; wie", "x"],
                ["p1"],
                COMMA,
                table.num_rows,
            )
            assert not target.exists() or files > 1
            folder.commit()
        seen.append({part.name: part.read_bytes() for part in target.iterdir()})
    assert seen[0] == seen[1]
    assert len(seen[0]) == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in1", "in5", target.name]
    parts = [ENGINE.read(part, COMMA) for part in sorted(target.iterdir())]
    whole = pa.concat_tables(parts)
    assert whole.column_names == ["Wer", "alt; wie", "x"]
    as_text = rows_of(table)
    if ending == ".csv":
        as_text = Counter()
        for name, age, x in (tuple(row.values()) for row in table.to_pylist()):
            as_text[(name, None if age is None else str(age), str(x))] += 1
    assert rows_of(whole) == as_text
    for part in parts:
        ages = [int(v) for v in part["alt; wie"].drop_null().to_pylist()]
        assert ages == sorted(ages)


def test_a_frame_of_the_users(session: SparkTables, tmp_path: Path) -> None:
    numbers(session, tmp_path, 50)
    session.keep("theirs", "SELECT p0, CAST(p0 % 3 AS string) AS p1 FROM numbers")
    theirs = session.frame("theirs", ["Age", "age"])
    ours = open_frame(theirs)
    schema = ours.adopt("raw", theirs, ["age", "Age"])
    assert schema.types == [pa.string(), pa.int64()]
    assert rows_in(ours, "raw") == Counter((str(i % 3), i) for i in range(50))
    ours.keep("back", "SELECT p1 FROM raw WHERE p0 = '0'")
    back = ours.frame("back", ["kept"])
    ours.close()
    assert rows_of(back.toArrow()) == Counter((i,) for i in range(0, 50, 3))
    nested = theirs.selectExpr("array(1) AS a")
    with pytest.raises(InputError, match="column 'a' has the type array<int>"):
        ours.adopt("raw", nested, ["a"])
    with pytest.raises(InputError, match="no rows"):
        ours.adopt("raw", theirs.limit(0), ["Age"])
    with pytest.raises(InputError, match="more than one column named Age"):
        ours.adopt("raw", theirs.selectExpr("Age", "age", "1 AS Age"), ["age"])
    with pytest.raises(InputError, match="is open in this Python already"):
        open_spark()


def test_inspect_and_verify_agree_with_one_machine(session: SparkTables, tmp_path: Path) -> None:
    table = patients(300)
    pq.write_table(table, tmp_path / "raw.parquet")
    policy = Policy.load({"columns": COLUMNS, "constraints": [{"k": 3}, {"l": 2, "of": "illness"}]})
    alone = tmp_path / "alone.parquet"
    shoal.run(tmp_path / "raw.parquet", policy, alone)
    released = pq.read_table(alone)
    folder = in_files(tmp_path / "parts", released, 3, ".parquet")
    names = released.column_names
    session.read("release", [folder], names, COMMA)
    session.keep("handed", "SELECT * FROM release")
    theirs = session.frame("handed", names)
    with open_release(theirs, policy, Clock()) as release:
        found = examine(release, policy, Clock())
    assert found.findings == shoal.verify(alone, policy).findings
    assert found.strengths == shoal.verify(alone, policy).strengths
    quasi = list(policy.quasi)
    assert shoal.assess(theirs, quasi).to_dict() == approximately(
        shoal.assess(released, quasi).to_dict()
    )
    theirs.unpersist()

    few = table.select(["age", "sex"])
    schema = session.read("raw", [tmp_path / "raw.parquet"], few.column_names, COMMA)
    inspected = inspection_of(TableInSession(session, "raw", few.column_names, schema)).to_dict()
    expected = inspect(few).to_dict()
    for found in (inspected, expected):
        found.pop("search")
    assert inspected == approximately(expected)


def approximately(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: approximately(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return type(found)(approximately(value) for value in found)
    return pytest.approx(found) if isinstance(found, float) else found


def test_tasks_are_reported_while_they_run(session: SparkTables, tmp_path: Path) -> None:
    numbers(session, tmp_path, 100)

    def slow(batch: pa.RecordBatch) -> pa.RecordBatch:
        import time

        time.sleep(3)
        return batch

    seen: list[Transfer] = []
    session.listener = seen.append
    session.map("slow", "SELECT p0 FROM numbers", slow, pa.schema([("p0", pa.int64())]))
    session.listener = no_listener
    found = [transfer for transfer in seen if transfer.of_tasks]
    assert found
    assert all(0 <= (transfer.tasks or 0) <= (transfer.of_tasks or 0) for transfer in found)
    session.drop("slow")


@pytest.mark.parametrize("few", [0, 10])
def test_rows_in_the_place_of_others(
    session: SparkTables, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_session, "FEW_ROWS", few)
    session.keep("many", "SELECT id AS x, id % 7 AS g FROM range(20)")
    session.keep("other", "SELECT x * 100 AS x, g FROM many WHERE g IN (1, 4) AND x < 10")
    session.substitute("many", "other", "g")
    plain = [(i, i % 7) for i in range(20) if i % 7 not in (1, 4)]
    for _ in range(2):
        assert rows_in(session, "many") == Counter([*plain, (100, 1), (800, 1), (400, 4)])
    session.drop("many")
    with pytest.raises(Exception, match="many"):
        session.query("SELECT * FROM many")


def test_counts_of_hashes_are_those_of_sql(session: SparkTables) -> None:
    session.keep("numbers", "SELECT id AS w, (id * id) % 17 AS w0, id DIV 3 AS w1 FROM range(600)")
    schema = pa.schema([(name, pa.int64()) for name in ("w", "w0", "w1")])
    session.map("hashes", "SELECT * FROM numbers", lambda batch: batch, schema)
    for missing in (None, 4):
        query = count_alone("hashes", [["w"], ["w0"], ["w1", "w0"], ["w0", "w1"]], "", missing)
        answer = session.query(query)
        assert Counter((one["i"], one["n"]) for one in answer.to_pylist()) == rows_of(
            session.query(str(query))
        )
    for query in (count_squares("hashes", "w0"), count_known("hashes", ["w0", "w1"], "", 4)):
        answer, expected = session.query(query), session.query(str(query))
        assert answer.select(expected.column_names).to_pylist() == expected.to_pylist()
    for name in ("numbers", "hashes"):
        session.drop(name)


@pytest.mark.parametrize("few", [0, 100])
def test_equal_rows_are_numbered_in_their_place(
    session: SparkTables, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def number_of_row(batch: pa.RecordBatch) -> pa.RecordBatch:
        nth = batch.column("nth").cast(pa.int64()).to_numpy()
        return pa.RecordBatch.from_pydict({"k": batch.column("k"), "x": nth + 100})

    def sum_up(batch: pa.RecordBatch, totals: Any) -> None:
        totals[0] += batch.column("x").to_numpy().sum()

    monkeypatch.setattr(spark_session, "FEW_ROWS", few)
    session.keep("numbers", "SELECT id % 40 AS k, id DIV 40 AS x FROM range(70)")
    schema = pa.schema([("k", pa.int64()), ("x", pa.int64())])
    session.map("all_rows", "SELECT * FROM numbers", lambda batch: batch, schema)
    session.keep("doubled", repeated_values("all_rows", "k"))
    rows = number_duplicates("all_rows", ["k", "x"], "k", "doubled", ["k"], ["x"])
    session.map("again", rows, number_of_row, schema)
    assert rows_in(session, "again") == Counter((k, 100 + n) for k in range(30) for n in (1, 2))
    session.substitute("all_rows", "again", "k")
    expected = Counter([*((k, 0) for k in range(30, 40))])
    expected += Counter((k, 100 + n) for k in range(30) for n in (1, 2))
    for query in (select("all_rows", ["k", "x"]), "SELECT k, x FROM all_rows"):
        for _ in range(2):
            assert rows_of(session.query(query)) == expected
    assert session.query(count_rows("all_rows")).to_pylist() == [{"n": 70}]
    found = session.tally(select("all_rows", ["x"]), sum_up, 1)
    assert found.tolist() == [sum(x * n for (_, x), n in expected.items())]
    for name in ("numbers", "all_rows", "doubled"):
        session.drop(name)
