"""A DuckDB relation comes back as one, on its own connection, with its SQL types."""

from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from shoal.engines.files import wrap
from shoal.errors import InputError

TYPES = {
    "hugeint": "170141183460469231731687303715884105727::HUGEINT",
    "uhugeint": "340282366920938463463374607431768211455::UHUGEINT",
    "bignum": "123456789012345678901234567890123456789012345678901234567890::BIGNUM",
    "ubigint": "18446744073709551615::UBIGINT",
    "tinyint": "(-128)::TINYINT",
    "small_decimal": "1.10::DECIMAL(4, 2)",
    "big_decimal": "99999999999999999999999999999999999.99::DECIMAL(38, 2)",
    "nan": "'NaN'::DOUBLE",
    "infinite": "'-Infinity'::FLOAT",
    "bool": "true",
    "text": "'ä ''x'' \"y\"'",
    "empty": "''",
    "json": "'{\"a\": 1}'::JSON",
    "blob": "'\\x00\\xFF'::BLOB",
    "bit": "'0101'::BIT",
    "uuid": "'01234567-89ab-cdef-0123-456789abcdef'::UUID",
    "date": "'1964-03-07'::DATE",
    "endless": "'infinity'::DATE",
    "time": "'23:59:59.999999'::TIME",
    "time_zoned": "'12:00:00+02'::TIMETZ",
    "stamp": "'2020-01-01 01:02:03.000004'::TIMESTAMP",
    "seconds": "'2020-01-01'::TIMESTAMP_S",
    "millis": "'2020-01-01'::TIMESTAMP_MS",
    "nanos": "'2020-01-01 00:00:00.123456789'::TIMESTAMP_NS",
    "zoned": "'2020-07-01 00:00:00+00'::TIMESTAMPTZ",
    "interval": "INTERVAL '1 month 2 days 3 microseconds'",
    "enum": "'it''s, ok'::ENUM('never used', 'it''s, ok', 'b')",
    "list": "[1, NULL, 3]",
    "array": "[1, 2, 3]::INTEGER[3]",
    "struct": "{'a b': 1, 'c': 'x'}",
    "map": "MAP {'k': 1.5::DECIMAL(3, 1)}",
    "uuids": "['01234567-89ab-cdef-0123-456789abcdef'::UUID, NULL]",
    "nested": "{'n': [170141183460469231731687303715884105727::HUGEINT], 't': 'a, ''b'''}",
    "null": "NULL",
}


@pytest.fixture
def con() -> Any:
    with duckdb.connect() as connection:
        yield connection


@pytest.mark.parametrize("kind", TYPES)
def test_sql_types_come_back(con: Any, kind: str) -> None:
    con.execute(
        f"CREATE TABLE t AS SELECT 0 AS i, {TYPES[kind]} AS v UNION ALL SELECT 1, NULL "
        f"UNION ALL SELECT 2, {TYPES[kind]}"
    )
    relation = con.sql("SELECT * FROM t ORDER BY i")
    table = wrap(relation)
    assert len(table.column("v")) == 3
    out = table.release(["i", "v"], {}, np.array([2, 0, 1]), False)
    assert isinstance(out, duckdb.DuckDBPyRelation)
    assert out.types == relation.types
    expected = con.sql("SELECT i, v::VARCHAR FROM t ORDER BY (i + 1) % 3").fetchall()
    assert out.project("i, v::VARCHAR").fetchall() == expected


def test_labels_and_order(con: Any) -> None:
    relation = con.sql("SELECT 1::HUGEINT AS \"a b\", 'x' AS c UNION ALL SELECT 2, 'y' ORDER BY 1")
    out = wrap(relation).release(
        ["c", "a b"], {"c": pa.array(["*", None])}, np.array([1, 0]), False
    )
    assert out.columns == ["c", "a b"]
    assert out.fetchall() == [("*", 2), (None, 1)]


def test_the_release_is_on_the_users_connection_and_creates_nothing(con: Any) -> None:
    con.execute("CREATE TABLE people AS SELECT range AS id, 'x' || range AS name FROM range(5)")
    views = con.sql("SELECT count(*) FROM duckdb_views()").fetchall()
    tables = con.sql("SELECT count(*) FROM duckdb_tables()").fetchall()
    table = wrap(con.table("people"))
    out = table.release(["id"], {}, np.array([4, 0]), False)
    joined = out.set_alias("o").join(con.table("people").set_alias("p"), "o.id = p.id")
    assert sorted(row[1] for row in joined.project("o.id, name").fetchall()) == ["x0", "x4"]
    out.create("kept")
    assert con.sql("SELECT id FROM kept").fetchall() == [(4,), (0,)]
    con.execute("DROP TABLE kept")
    assert con.sql("SELECT count(*) FROM duckdb_views()").fetchall() == views
    assert con.sql("SELECT count(*) FROM duckdb_tables()").fetchall() == tables


def test_the_relation_is_evaluated_once(con: Any) -> None:
    table = wrap(con.sql("SELECT random() AS r FROM range(100)"))
    values = table.column("r").to_pylist()
    out = table.release(["r"], {}, np.arange(100), False)
    assert [row[0] for row in out.fetchall()] == values


def test_other_connections(con: Any, tmp_path: Any) -> None:
    con.begin()
    con.execute("CREATE TABLE t AS SELECT 1::HUGEINT AS a")
    assert wrap(con.table("t")).release(["a"], {}, np.array([0]), False).fetchall() == [(1,)]
    con.rollback()
    with duckdb.connect(str(tmp_path / "x.db")) as made:
        made.execute("CREATE TABLE t AS SELECT 1::HUGEINT AS a")
    with duckdb.connect(str(tmp_path / "x.db"), read_only=True) as stored:
        assert wrap(stored.table("t")).release(["a"], {}, np.array([0]), False).fetchall() == [(1,)]
    out = wrap(duckdb.sql("SELECT 3 AS a")).release(["a"], {}, np.array([0]), False)
    assert out.fetchall() == [(3,)]


def test_wide_integers_are_numbers(con: Any) -> None:
    table = wrap(
        con.sql(f"SELECT {TYPES['uhugeint']} AS u, 5::HUGEINT AS h, {TYPES['bignum']} AS b")
    )
    assert table.column("u").to_pylist() == [Decimal(2**128 - 1)]
    assert table.column("h").equals(pa.array([5], pa.int64()))
    assert pa.types.is_decimal(table.column("b").type)


def test_a_type_without_exact_exchange_is_refused_only_where_it_is_used(con: Any) -> None:
    table = wrap(con.sql("SELECT 1 AS a, 'Jonathan'::UNION(n INTEGER, s VARCHAR) AS u"))
    assert table.release(["a"], {}, np.array([0]), False).fetchall() == [(1,)]
    with pytest.raises(InputError, match=r"'u' is of the SQL type UNION.*Cast it first"):
        table.column("u")
    with pytest.raises(InputError, match=r"'u' is of the SQL type UNION"):
        table.release(["u"], {}, np.array([0]), False)


@pytest.mark.parametrize(
    "config", [{"enable_external_access": False}, {"python_enable_replacements": False}]
)
def test_a_connection_that_does_not_accept_python_tables(config: dict[str, Any]) -> None:
    with (
        duckdb.connect(config=config) as closed,
        pytest.raises(InputError, match=r"does not accept tables from Python.*to_arrow_table"),
    ):
        wrap(closed.sql("SELECT 'Jonathan' AS a"))


def test_names_that_are_one_in_sql(con: Any) -> None:
    with pytest.raises(InputError, match="more than one column named a"):
        wrap(con.sql("SELECT 1 AS a, 2 AS A"))


def test_other_frames_pass_through() -> None:
    assert wrap(pa.table({"a": [1]})).names == ["a"]
