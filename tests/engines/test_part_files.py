"""Tables of a session in files: parts, rows by key, and Parquet files that are read where they are."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.engines.duckdb import parts
from shoal.engines.duckdb.parts import PartFiles, RowsByKey, SortByKey
from shoal.engines.duckdb.session import DuckSession
from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions

SCHEMA = pa.schema([("k", pa.int64()), ("x", pa.int32()), ("t", pa.string()), ("f", pa.float32())])


def batch(seed: int, rows: int, keys: int = 7) -> pa.RecordBatch:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 9, rows).astype(np.int32)
    texts = pa.array([None if i == 0 else f"t{i}" for i in x.tolist()], pa.string())
    zeros = np.where(x % 2 == 0, np.float32(0.0), np.float32(-0.0))
    return pa.record_batch([rng.integers(0, keys, rows), x, texts, zeros], schema=SCHEMA)


def pieces(items: list[pa.Table | pa.RecordBatch]) -> list[Callable[[], list[pa.Table]]]:
    return [partial(list, [one]) for one in items]


def counted(tables: list[pa.Table | pa.RecordBatch]) -> Counter[tuple[object, ...]]:
    """Every row and how often it occurs; 0 and -0 are different."""
    return Counter(tuple(map(repr, row.values())) for table in tables for row in table.to_pylist())


@pytest.mark.parametrize("limit", [1, 2_000, 10**9])
def test_rows_come_whole_key_by_key_from_memory_and_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(parts, "RUN_BYTES", limit)
    batches = [batch(i, 50) for i in range(12)]
    rows, sort = RowsByKey(tmp_path / "rows"), SortByKey("k")
    for one in batches:
        rows.add(*sort(one))
    assert (tmp_path / "rows").exists() == (limit < 10**9)
    found = [table for read in rows for table in read()]
    keys = [set(table["k"].to_pylist()) for table in found]
    assert keys == [{key} for key in range(7)]
    assert counted(found) == counted(batches)
    rows.remove()
    assert not (tmp_path / "rows").exists()


def test_rows_of_one_key_are_replaced_in_every_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "FEW_ROWS", 10)
    batches = [batch(i, 40, keys=1000) for i in range(5)]
    table = PartFiles(tmp_path / "table", SCHEMA)
    table.fill(lambda one: one, pieces(batches))
    assert len(table.files) == 5
    gone = {batches[1].column("k")[3].as_py(), batches[4].column("k")[0].as_py()}
    news = pa.record_batch([sorted(gone), [100, 101], ["n", None], [1.0, -0.0]], schema=SCHEMA)
    other = PartFiles(tmp_path / "other", SCHEMA)
    other.fill(lambda one: one, pieces([news]))
    table.replace("k", other)
    kept = [row for one in batches for row in one.to_pylist() if row["k"] not in gone]
    expected = Counter(tuple(map(repr, row.values())) for row in [*kept, *news.to_pylist()])
    assert counted([pq.read_table(file) for file in table.files]) == expected


def test_parquet_files_are_read_where_they_are_and_damage_is_named(tmp_path: Path) -> None:
    place = tmp_path / "a[1]*.parquet"
    pq.write_table(pa.table({"Age": [1, 2], "age": ["x", None]}), place)
    session = DuckSession("200MB", tmp_path)
    try:
        schema = session.read("raw", [place], ["age", "Age"], CsvOptions())
        assert schema == pa.schema([("p0", pa.string()), ("p1", pa.int64())])
        assert session.query("SELECT p0, p1 FROM raw ORDER BY p1").to_pylist() == [
            {"p0": "x", "p1": 1},
            {"p0": None, "p1": 2},
        ]
        place.write_bytes(place.read_bytes()[:-20])
        with pytest.raises(InputError, match="damaged"):
            session.query("SELECT p0 FROM raw")
    finally:
        session.close()


def test_types_that_duckdb_reads_in_its_own_way_are_read_by_arrow(tmp_path: Path) -> None:
    import datetime as dt

    moments = pa.array([dt.datetime(2020, 1, 1), None], pa.timestamp("ms"))
    pq.write_table(pa.table({"t": moments}), tmp_path / "t.parquet")
    session = DuckSession("200MB", tmp_path)
    try:
        assert session.read("raw", [tmp_path / "t.parquet"], ["t"], CsvOptions()).types == [
            pa.timestamp("ms")
        ]
        assert session.query("SELECT p0 FROM raw").num_rows == 2
    finally:
        session.close()


def test_a_dictionary_with_the_missing_value_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "FEW_ROWS", 1)
    texts = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None], pa.int32()), ["a", None, "b"])
    files = PartFiles(tmp_path / "rows", pa.schema([("t", pa.string())]))
    files.fill(lambda one: one, pieces([pa.table({"t": texts})]))
    found = [value for file in files.files for value in pq.read_table(file)["t"].to_pylist()]
    assert found == ["a", None, "b", None]
