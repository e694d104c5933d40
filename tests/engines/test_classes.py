"""Classes are counted by the text a reader sees, as a plain count in Python does."""

import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding.counts import Counts
from shoal.engines.duckdb import classes
from shoal.engines.files import LocalFiles
from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions

ENGINE = LocalFiles()
UTF8 = CsvOptions(",", '"', "utf-8")
CELLS = st.none() | st.sampled_from(["*", "", "a", "b", "[1~2]", "{a, b}", "日本", "é", "e\u0301"])
NAMES = ("q", "r", "s", "t")

Row = tuple[str | None, ...]
Classes = list[tuple[int, tuple[tuple[tuple[int, int], ...], ...]]]


def naive(rows: Sequence[Row], starred: bool) -> Classes:
    """Per class of (q, r): its size and, for s and t, the sorted (value code, count) pairs.

    With `starred` a class is left out if every row of it is stars in all columns.
    """
    alone = {row[:2] for row in rows} - {row[:2] for row in rows if any(c != "*" for c in row)}
    kept = [row for row in rows if not (starred and row[:2] in alone)]
    codes = []
    for i in (2, 3):
        values = sorted({row[i] for row in kept} - {None, "*"}, key=lambda v: str(v).encode())
        codes.append({value: code for code, value in enumerate(values)})
    classes: dict[Row, list[Row]] = {}
    for row in kept:
        classes.setdefault(row[:2], []).append(row)
    found = []
    for members in classes.values():
        histograms = []
        for i, code in enumerate(codes):
            counted = Counter(code[row[2 + i]] for row in members if row[2 + i] in code)
            histograms.append(tuple(sorted(counted.items())))
        found.append((len(members), tuple(histograms)))
    return sorted(found)


def unfolded(counted: dict[str, Counts]) -> Classes:
    """The same from what the engine says."""
    sizes = counted[""].sizes
    assert counted[""].n_groups == len(sizes)
    assert not counted[""].starts.any()
    found = []
    for i, size in enumerate(sizes):
        histograms = []
        for column in ("s", "t"):
            counts = counted[column]
            assert np.array_equal(counts.sizes, sizes)
            part = slice(counts.starts[i], counts.starts[i + 1])
            assert np.all(np.diff(counts.values[part]) > 0)
            pairs = zip(counts.values[part].tolist(), counts.counts[part].tolist(), strict=True)
            histograms.append(tuple(pairs))
        found.append((int(size), tuple(histograms)))
    return sorted(found)


@pytest.fixture(params=[0, classes.FEW], ids=["by a query", "without one"])
def _either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classes, "FEW", request.param)


def table_of(rows: Sequence[Row]) -> pa.Table:
    columns = [pa.array([row[i] for row in rows], pa.string()) for i in range(4)]
    return pa.table(columns, names=NAMES)


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), max_size=30),
    starred=st.booleans(),
    ending=st.sampled_from([".csv", ".parquet", ".arrow"]),
)
def test_against_a_plain_count(rows: list[Row], starred: bool, ending: str) -> None:
    table = table_of(rows)
    expected = naive(rows, starred)
    for few in (0, len(rows)):  # counted by a query, and without one
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(classes, "FEW", few)
            given = NAMES if starred else ()
            found = ENGINE.count_classes(table, NAMES[:2], NAMES[2:], starred=given)
        assert unfolded(found) == expected
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t" + ending)
        ENGINE.write(table, path, options=UTF8)
        read = ENGINE.count_classes(path, NAMES[:2], NAMES[2:], UTF8, NAMES if starred else ())
        assert unfolded(read) == expected


@given(
    runs=st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS, st.integers(1, 6)), max_size=12),
    starred=st.booleans(),
    most=st.sampled_from([1, 40, classes.MOST_NUMBERS]),
)
def test_runs_of_equal_rows(
    runs: list[tuple[str | None, str | None, str | None, str | None, int]], starred: bool, most: int
) -> None:
    rows: list[Row] = [run[:4] for run in runs for _ in range(run[4])]
    for share in (0.0, 0.5, 1.0):  # runs of rows are counted never, if there are few, and always
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(classes, "FEW", 0)
            patched.setattr(classes, "RUNS", share)
            patched.setattr(classes, "MOST_NUMBERS", most)
            given = NAMES if starred else ()
            found = ENGINE.count_classes(table_of(rows), NAMES[:2], starred=given)
        assert sorted(found[""].sizes.tolist()) == [size for size, _ in naive(rows, starred)]


def test_a_large_table(tmp_path: Path) -> None:
    rng = random.Random(7)
    pool: list[list[str | None]] = [[None, "*", *(f"{c}{i}" for i in range(20))] for c in "qrst"]
    rows = [tuple(rng.choice(values) for values in pool) for _ in range(50_000)]
    rows += [("*", "*", "*", "*")] * 1000
    path = tmp_path / "t.csv"
    ENGINE.write(table_of(rows), path, options=UTF8)
    for starred in (False, True):
        counted = ENGINE.count_classes(path, NAMES[:2], NAMES[2:], UTF8, NAMES if starred else ())
        assert unfolded(counted) == naive(rows, starred)


@pytest.mark.usefixtures("_either_way")
def test_numbers_and_dates_are_distinguished_by_value() -> None:
    table = pa.table(
        {
            "n": pa.array([1, 1, 2, None, None], pa.int64()),
            "f": pa.array([0.5, 0.5, 0.5, float("nan"), float("nan")]),
            "c": pa.array([10, 9, 9, 9, None], pa.int32()).dictionary_encode(),
            "b": pa.array([b"\xff", b"\xff", b"a", None, b"\xff"]),
            "none": pa.nulls(5),
        }
    )
    counted = ENGINE.count_classes(table, ["n", "f", "none"], ["c", "b"])
    assert sorted(counted[""].sizes.tolist()) == [1, 2, 2]
    whole = ENGINE.count_classes(table, [], ["c"])["c"]
    # By text '10' comes before '9'.
    assert whole.sizes.tolist() == [5]
    assert (whole.values.tolist(), whole.counts.tolist()) == ([0, 1], [1, 3])
    assert ENGINE.count_classes(table, ["b"])[""].sizes.sum() == 5


@pytest.mark.usefixtures("_either_way")
def test_a_dictionary_with_duplicate_texts() -> None:
    codes = pa.array([0, 1, 2, None], pa.int32())
    twice = pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b", "a"]))
    counted = ENGINE.count_classes(pa.table({"c": twice}), ["c"], ["c"])
    assert sorted(counted[""].sizes.tolist()) == [1, 1, 2]
    assert sorted(counted["c"].counts.tolist()) == [1, 2]


@pytest.mark.usefixtures("_either_way")
def test_zeros_of_both_signs_read_differently() -> None:
    table = pa.table({"f": [0.0, -0.0, -0.0]})
    assert sorted(ENGINE.count_classes(table, ["f"])[""].sizes.tolist()) == [1, 2]


@pytest.mark.usefixtures("_either_way")
def test_a_table_with_numbers_has_no_starred_row() -> None:
    table = pa.table({"a": ["*", "*", "x"], "n": [1, 1, 1]})
    assert sorted(ENGINE.count_classes(table, ["a"], starred=["a", "n"])[""].sizes.tolist()) == [
        1,
        2,
    ]
    texts = pa.table({"a": pa.array(["*", "*", "x"]).dictionary_encode()})
    assert ENGINE.count_classes(texts, ["a"], starred=["a"])[""].sizes.tolist() == [1]


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("rows", [0, 3])
def test_no_columns_make_one_class(tmp_path: Path, rows: int) -> None:
    table = table_of([("a", "b", "c", "d")] * rows)
    expected = [rows] if rows else []
    assert ENGINE.count_classes(table, [])[""].sizes.tolist() == expected
    ENGINE.write(table, tmp_path / "t.csv")
    counted = ENGINE.count_classes(tmp_path / "t.csv", [], ["s"], UTF8)
    assert counted[""].sizes.tolist() == expected
    assert counted["s"].counts.tolist() == expected


def test_columns_that_cannot_be_counted(tmp_path: Path) -> None:
    table = pa.table({"age": ["1"], "list": [[1]]})
    ENGINE.write(table, tmp_path / "t.parquet")
    ENGINE.write(table.select(["age"]), tmp_path / "t.csv")
    for published in (table, tmp_path / "t.parquet", tmp_path / "t.csv"):
        with pytest.raises(InputError, match=r"no column 'agee'. Did you mean 'age'"):
            ENGINE.count_classes(published, ["agee"])
    with pytest.raises(InputError, match=r"'list' has the type list<.*only single values"):
        ENGINE.count_classes(table, ["list"])
