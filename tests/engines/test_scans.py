"""Parquet files read row group by row group, beside the same rows as DuckDB reads them."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.encoding.values import tally_of
from shoal.engines.duckdb import scans
from shoal.engines.duckdb.scans import FileScan
from shoal.engines.duckdb.session import DuckSession
from shoal.engines.encode import code_lookup
from shoal.engines.queries import Selection, select
from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions


def table(seed: int, rows: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    some = rng.integers(0, 9, rows)
    texts = [None if i == 0 else f"t{i}" for i in some.tolist()]
    floats = np.where(some % 2 == 0, -0.0, some / 7)
    return pa.table(
        {
            "a b": pa.array(texts, pa.string()),
            "n": pa.array(some, pa.int64()),
            "f": pa.array(floats, mask=some == 3),
            "yes": pa.array(some > 4),
            "day": pa.array([dt.date(2020, 1, 1 + i) for i in some.tolist()]),
        }
    )


def counted(batches: Iterable[pa.RecordBatch | pa.Table]) -> Counter[tuple[object, ...]]:
    return Counter(tuple(map(repr, row.values())) for one in batches for row in one.to_pylist())


@pytest.mark.parametrize("coded", [False, True])
def test_row_groups_hold_the_rows_that_duckdb_reads(tmp_path: Path, coded: bool) -> None:
    files = [tmp_path / f"{i}.parquet" for i in range(3)]
    for i, path in enumerate(files):
        pq.write_table(table(i, 100 + i), path, row_group_size=40, use_dictionary=i > 0)
    session = DuckSession("200MB", tmp_path)
    try:
        session.read("raw", files, ["n", "a b", "f", "yes", "day"], CsvOptions())
        expected = session.query("SELECT p1, p0, p2, p3, p4 FROM raw")
        scan = FileScan(files, {"p0": "n", "p1": "a b", "p2": "f", "p3": "yes", "p4": "day"})
        groups = scan.row_groups(["p1", "p0", "p2", "p3", "p4"], 16, coded)
        assert groups is not None
        batches = [batch for group in groups for batch in group()]
        assert max(map(len, batches)) <= 16
        assert counted(batches) == counted([expected])
        # texts are codes where they are in the file
        kinds = {pa.types.is_dictionary(batch.column("p1").type) for batch in batches}
        assert kinds == ({False, True} if coded else {False})
    finally:
        session.close()


def test_other_types_and_large_row_groups_are_left_to_duckdb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.parquet"
    moments = pa.array([dt.datetime(2020, 1, 1)] * 50, pa.timestamp("us"))
    pq.write_table(table(0, 50).append_column("t", moments), path)
    scan = FileScan([path])
    assert scan.row_groups(["n"], 100) is not None
    assert scan.row_groups(["n", "t"], 100) is None
    assert scan.row_groups(["other"], 100) is None
    monkeypatch.setattr(scans, "MOST_BYTES", 10)
    assert scan.row_groups(["n"], 100) is None


def test_a_file_that_changes_is_read_again_or_named(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(table(0, 500), path, row_group_size=100)
    scan = FileScan([path])
    groups = scan.row_groups(["n"], 100)
    assert groups is not None
    pq.write_table(table(0, 3), path)
    with pytest.raises(InputError, match="changed while it was being read"):
        [*groups[-1]()]
    (only,) = scan.row_groups(["n"], 100) or ()
    assert sum(map(len, only())) == 3


def test_a_selection_is_the_text_of_its_query() -> None:
    found = select("raw", ["p0", "p1"])
    assert found == "SELECT p0, p1 FROM raw"
    assert (found.table, found.columns) == ("raw", ("p0", "p1"))
    assert not isinstance(f"{found} WHERE p0 > 1", Selection)


def test_values_of_a_dictionary_that_no_row_has_are_no_values() -> None:
    column = pa.array(["a", "b", None, "a"])
    lookup = code_lookup(
        tally_of("x", column), "p0", pa.string(), np.array([0, 1], np.int32), missing=2
    )
    codes = pa.array([1, 2, None, 1], pa.int32())
    with_more = pa.DictionaryArray.from_arrays(codes, pa.array(["other", "a", "b"]))
    assert lookup(with_more).tolist() == lookup(column).tolist() == [0, 1, 2, 0]
    used = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["other", "a"]))
    with pytest.raises(InputError, match="other values than when it was first read"):
        lookup(used)
