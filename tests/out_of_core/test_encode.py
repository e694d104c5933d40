"""The encoded table of a session has the codes, hashes and order of the cells in memory."""

import datetime as dt
import pickle
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding.cells import Cells, encode
from shoal.engines import encode as encoding
from shoal.engines.column_types import check_types, restore_type
from shoal.engines.duckdb.session import DuckSession
from shoal.engines.encode import EncodedTable, columns_to_read, encode_table
from shoal.engines.files import LocalFiles
from shoal.engines.sessions import Session
from shoal.errors import HierarchyError, InputError
from shoal.hierarchy.text import text_of
from shoal.io.csv_dialect import CsvOptions
from shoal.policy import Policy
from tests.examples import examples

OPTIONS = CsvOptions()
NAN = float("nan")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = DuckSession("500MB", tmp_path_factory.mktemp("rows"))
    yield made
    made.close()


def written(table: pa.Table, path: Path, files: int = 1) -> list[Path]:
    """A table in some Parquet files."""
    edges = np.linspace(0, len(table), files + 1).astype(int)
    paths = [path.with_name(f"{path.name}{i}.parquet") for i in range(files)]
    for i, part in enumerate(paths):
        pq.write_table(table.slice(edges[i], edges[i + 1] - edges[i]), part)
    return paths


def encoded_by(session: Session, paths: list[Path], policy: Policy, **how: Any) -> EncodedTable:
    """The encoded table of some files."""
    schema = session.read("raw", paths, columns_to_read(policy), OPTIONS)
    return encode_table(session, policy, schema, policy.seed or 0, **how)


def cells_of(table: pa.Table, policy: Policy) -> Cells:
    def column(name: str) -> pa.Array:
        return table.column(name).combine_chunks()

    quasi = {name: policy.column_spec(name) for name in policy.quasi}
    sensitive = {name: policy.column_spec(name) for name in sorted(policy.sensitive)}
    return encode(column, quasi, sensitive, sorted(policy.plain), policy.seed or 0, policy.folder)


def texts(column: pa.ChunkedArray) -> list[str | None]:
    """Values as texts; 0 and -0, missing and not a number stay apart."""
    if pa.types.is_floating(column.type):
        return [None if v is None else repr(v) for v in column.to_pylist()]
    return text_of(column.combine_chunks()).to_pylist()


def expected(cells: Cells, table: pa.Table, policy: Policy) -> list[tuple[Any, ...]]:
    """Every row in canonical order."""
    codes = np.repeat(cells.codes, cells.counts, axis=0).tolist()
    hashes = (cells.hashes ^ np.uint64(1 << 63)).view(np.int64).tolist()
    secret = [cells.sensitive[name].tolist() for name in sorted(policy.sensitive)]
    names = [*sorted(policy.plain), *sorted(policy.sensitive)]
    others = [texts(table.column(name).take(pa.array(cells.rows))) for name in names]
    return [
        (*row, *(column[i] for column in (*secret, hashes, *others))) for i, row in enumerate(codes)
    ]


LEFT_OUT = ("node", "key", "k", "t", "found", "word")


def found(session: Session, encoded: EncodedTable) -> list[tuple[Any, ...]]:
    order = ", ".join([*(f"c{i}" for i in range(len(encoded.quasi))), "key", "h"])
    table = session.query(f"SELECT * FROM encoded ORDER BY {order}")
    shown = [n for n in table.column_names if n not in LEFT_OUT and n[0] != "v"]
    kinds = {field.name: field.type for field in encoded.schema}
    columns = [
        texts(pa.chunked_array([restore_type(table[n].combine_chunks(), kinds[n])]))
        if n in kinds
        else table[n].to_pylist()
        for n in shown
    ]
    at = table.select(order.split(", ")).to_pylist()
    rows = sorted(range(len(at)), key=lambda i: tuple(at[i].values()))
    return [tuple(column[i] for column in columns) for i in rows]


POLICY = Policy.load(
    {
        "columns": {
            "age": "quasi",
            "town": {"role": "quasi", "kind": "unordered"},
            "height": {"role": "quasi", "kind": "ordered"},
            "born": {"role": "quasi", "hierarchy": {"date": ["month", "year"]}},
            "ill": "sensitive",
            "ward": "plain",
            "cost": "plain",
        },
        "constraints": [{"k": 2}],
        "seed": 7,
    }
)
ROWS = st.fixed_dictionaries(
    {
        "age": st.sampled_from([1, 2, 10, 250, None]),
        "town": st.sampled_from(["Å", "b", "b ", "", "long name of a town", None]),
        "height": st.sampled_from([0.0, -0.0, 1.5, NAN, None]),
        "born": st.sampled_from([dt.date(1964, 3, 7), dt.date(1964, 3, 8), dt.date(2001, 1, 1)]),
        "ill": st.sampled_from([Decimal("1.50"), Decimal("2.00"), None]),
        "ward": st.sampled_from([0.0, -0.0, 2.5, NAN, None]),
        "cost": st.sampled_from([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 3), None]),
    }
)
TYPES: dict[str, list[pa.DataType]] = {
    "age": [pa.int16(), pa.uint8(), pa.uint64(), pa.int64()],
    "town": [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())],
    "height": [pa.float64(), pa.float32()],
    "born": [pa.date32(), pa.timestamp("ms"), pa.timestamp("us")],
    "ill": [pa.decimal128(9, 2), pa.decimal128(38, 2)],
    "ward": [pa.float64(), pa.float32()],
    "cost": [pa.timestamp("s"), pa.timestamp("us", "UTC"), pa.timestamp("ms")],
}
SCHEMAS = st.fixed_dictionaries({name: st.sampled_from(kinds) for name, kinds in TYPES.items()})


@examples(20)
@given(rows=st.lists(ROWS, min_size=1, max_size=40), types=SCHEMAS, files=st.integers(1, 3))
def test_rows_are_encoded_as_in_memory(
    session: Session,
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, Any]],
    types: dict[str, pa.DataType],
    files: int,
) -> None:
    columns = {name: typed([row[name] for row in rows], kind) for name, kind in types.items()}
    paths = written(pa.table(columns), tmp_path_factory.getbasetemp() / "in", files)
    table = pa.concat_tables([LocalFiles().read(path) for path in paths])
    table = table.unify_dictionaries()
    gone = [name for name in POLICY.quasi if all(v in (None, "nan") for v in texts(table[name]))]
    if gone:
        with pytest.raises(
            InputError, match=f"'{gone[0]}' is a quasi-identifier but all of its values"
        ):
            encoded_by(session, paths, POLICY)
        return
    cells, encoded = cells_of(table, POLICY), encoded_by(session, paths, POLICY)
    assert found(session, encoded) == expected(cells, table, POLICY)
    packed = session.query("SELECT c0, c1, c2, c3, word FROM encoded").to_pylist()
    by_codes = sorted(packed, key=lambda row: tuple(row.values()))
    assert [row["word"] for row in by_codes] == sorted(row["word"] for row in packed)
    assert len({row["word"] for row in packed}) == cells.n_cells
    for j, name in enumerate(POLICY.quasi):
        values = encoded.behind[j]
        assert (values is not None) == (name in ("age", "town"))
        if values is not None:
            own = values.take(session.query(f"SELECT v{j} FROM encoded")[f"v{j}"].combine_chunks())
            raw = table[name].combine_chunks()
            assert Counter(texts(pa.chunked_array([own]))) == Counter(text_of(raw).to_pylist())
    assert [d.texts for d in encoded.domains] == [d.texts for d in cells.domains]
    assert [d.missing for d in encoded.domains] == [d.missing for d in cells.domains]
    assert encoded.n_rows == cells.n_rows
    for mine, theirs in zip(encoded.rows_of_values, cells.rows_of_values, strict=True):
        assert mine.tolist() == theirs.tolist()
    assert encoded.totals["ill"].counts.tolist() == cells.totals["ill"].counts.tolist()


def typed(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode()
    return pa.array(values).cast(kind)


SMALL = Policy.load(
    {
        "columns": {"zip": "quasi", "ill": "sensitive", "ward": "plain"},
        "constraints": [{"k": 2}],
        "target": "ward",
    }
)


def small(n: int = 30, **columns: Any) -> pa.Table:
    made = {
        "zip": [f"0{i % 7}" for i in range(n)],
        "ill": [["flu", "cold", None][i % 3] for i in range(n)],
        "ward": [["A", "B"][i % 2] for i in range(n)],
    }
    return pa.table(made | columns)


def test_batches_of_any_size_and_equal_hashes(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values that share a word are told apart by themselves, and functions travel."""
    table = small()
    whole = found(session, encoded_by(session, written(table, tmp_path / "in"), SMALL))
    assert whole == expected(cells_of(table, SMALL), table, SMALL)

    real, words_of = encoding.code_lookup, encoding.words_of

    def code_lookup(*args: Any) -> encoding.CodeLookup:
        monkeypatch.setattr(encoding, "words_of", lambda values: np.zeros(len(values), np.uint64))
        made = real(*args)
        monkeypatch.setattr(encoding, "words_of", words_of)
        assert made.hashes is None
        return pickle.loads(pickle.dumps(made))

    with monkeypatch.context() as patched:
        patched.setattr(encoding, "code_lookup", code_lookup)
        encoded = encoded_by(session, written(table, tmp_path / "in", files=4), SMALL)
    assert found(session, encoded) == whole


def test_the_target_has_a_code_per_value(session: Session, tmp_path: Path) -> None:
    assert encoded_by(session, written(small(), tmp_path / "in"), SMALL).has_target
    pairs = session.query("SELECT DISTINCT t, p0 FROM encoded").to_pylist()
    assert sorted((row["t"], row["p0"]) for row in pairs) == [(0, "A"), (1, "B")]


def test_too_many_values_are_refused(session: Session, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        encoded_by(session, written(small(), tmp_path / "in"), SMALL, max_values=6)
    assert "Column 'zip' has 7 distinct values" in str(error.value)
    assert "at most 6" in str(error.value)
    encoded_by(session, written(small(), tmp_path / "in"), SMALL, max_values=7)


@pytest.mark.parametrize("order", ["ASC", "DESC"])
@pytest.mark.parametrize("many", ["zip", "ill", "ward"])
def test_the_column_with_too_many_values_is_named(
    session: Session, tmp_path: Path, many: str, order: str
) -> None:
    """Which values a limit leaves out is up to the database; the crowded column is named still."""

    class Ordered:
        def __getattr__(self, name: str) -> Any:
            return getattr(session, name)

        def query(self, sql: str) -> pa.Table:
            return session.query(
                sql.replace("AS found LIMIT", f"AS found ORDER BY i {order} LIMIT")
            )

    table = small(300, **{many: [str(i) for i in range(300)]})
    with pytest.raises(InputError, match=f"Column '{many}' has 300 distinct values"):
        encoded_by(Ordered(), written(table, tmp_path / "in"), SMALL, max_values=7)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (pa.list_(pa.int64()), "list<item: int64>.*Split it"),
        (pa.timestamp("ns"), "timestamp.ns.*Round it to microseconds"),
        (pa.timestamp("us", "Europe/Oslo"), "timestamp.us.*to UTC, or"),
        (pa.decimal256(50, 0), "decimal256.*38 digits"),
        (pa.dictionary(pa.int8(), pa.time64("us")), "dictionary.*Convert it to text"),
    ],
)
def test_types_that_do_not_fit_are_refused(kind: pa.DataType, words: str) -> None:
    schema = pa.schema([("p0", pa.string()), ("p1", kind)])
    with pytest.raises(InputError, match=f"Column 'ward' has the type {words}"):
        check_types(["ill", "ward"], schema)


def test_errors_are_those_of_a_table_in_memory(session: Session, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no rows"):
        encoded_by(session, written(small(30).slice(0, 0), tmp_path / "in"), SMALL)
    with pytest.raises(InputError, match="all of its values are missing"):
        encoded_by(session, written(small(zip=pa.nulls(30, pa.string())), tmp_path / "in"), SMALL)
    with pytest.raises(InputError, match=r"'ill' is sensitive and reads '\*' in 30 rows\."):
        encoded_by(session, written(small(ill=["*"] * 30), tmp_path / "in"), SMALL)
    ordered = Policy.load(
        {"columns": {"zip": {"role": "quasi", "order": ["00"]}}, "constraints": [{"k": 2}]}
    )
    with pytest.raises(
        HierarchyError, match=r"6 distinct values in 25 rows are not in its 'order'"
    ):
        encoded_by(session, written(small(), tmp_path / "in"), ordered)


def test_a_table_that_changes_during_a_run_is_refused(session: Session, tmp_path: Path) -> None:
    class Changing:
        def __getattr__(self, name: str) -> Any:
            return getattr(session, name)

        def map(self, *args: Any, **more: Any) -> None:
            session.keep("raw", "SELECT p0, p1, CAST('99' AS VARCHAR) AS p2 FROM raw")
            session.map(*args, **more)

    path = tmp_path / "in.parquet"
    pq.write_table(small(), path)
    schema = session.read("raw", [path], columns_to_read(SMALL), OPTIONS)
    with pytest.raises(InputError, match="'zip' has other values than when it was first read"):
        encode_table(Changing(), SMALL, schema, 0)
