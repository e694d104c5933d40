"""The census-like table: what the benchmark measures on."""

from collections import Counter

import pyarrow as pa
import pytest

from shoal.sample.census import census

QUASI = (
    "age",
    "sex",
    "race",
    "marital_status",
    "education",
    "workclass",
    "nationality",
    "zip",
)
ROWS = 50_000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return census(ROWS, 7)


def test_shape(table: pa.Table) -> None:
    assert table.column_names == [*QUASI, "hours", "salary", "disease", "weight"]
    assert table.num_rows == ROWS
    assert table["weight"].type == pa.float64()
    assert all(table[name].null_count == 0 for name in table.column_names)


def test_same_seed_same_table(table: pa.Table) -> None:
    assert census(ROWS, 7).equals(table)
    assert not census(ROWS, 8).equals(table)
    assert census(0, 7).schema.equals(table.schema)


def test_most_rows_are_distinct_but_not_all(table: pa.Table) -> None:
    classes = Counter(zip(*(table[name].to_pylist() for name in QUASI), strict=True))
    assert 0.9 < len(classes) / ROWS < 0.99
    assert max(classes.values()) > 3


def test_values_are_skewed(table: pa.Table) -> None:
    for name in QUASI[2:]:
        counts = sorted(Counter(table[name].to_pylist()).values())
        assert counts[-1] > 2 * counts[len(counts) // 2], name


def test_no_two_columns_contradict(table: pa.Table) -> None:
    for row in table.to_pylist():
        assert 16 <= row["age"] <= 99
        assert (row["hours"] > 0) == (row["salary"] > 0)
        if row["workclass"] in ("never worked", "without pay"):
            assert row["salary"] == 0
        assert row["weight"] > 0
        assert len(row["zip"]) == 5
