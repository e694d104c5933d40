"""Exact counts of unique rows, against a Counter over tuples."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.risk import uniqueness
from shoal.risk.uniqueness import RowKeys, unique_rows, unique_without_each
from tests.risk import naive


@dataclass
class Column:
    codes: np.ndarray
    size: int


@pytest.fixture(params=[uniqueness.LARGEST, 2_000], ids=["wide numbers", "narrow numbers"])
def numbers(request, monkeypatch):
    """With narrow numbers a few columns fill them up, as many large columns fill 64 bits."""
    monkeypatch.setattr(uniqueness, "LARGEST", request.param)


@st.composite
def coded(draw):
    n = draw(st.integers(0, 30))
    columns = []
    for _ in range(draw(st.integers(0, 6))):
        size = draw(st.integers(1, max(1, n)))
        codes = draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n))
        columns.append(Column(np.array(codes, np.int64), size))
    return n, columns


def rows_of(n, columns):
    return [tuple(int(column.codes[i]) for column in columns) for i in range(n)]


@pytest.mark.usefixtures("numbers")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(coded())
def test_unique_rows_as_counted_plainly(table):
    n, columns = table
    assert unique_rows(n, columns) == naive.unique(rows_of(n, columns))


@pytest.mark.usefixtures("numbers")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(coded())
def test_leaving_out_each_column_as_counted_plainly(table):
    n, columns = table
    plain = [naive.unique(rows_of(n, columns[:i] + columns[i + 1 :])) for i in range(len(columns))]
    assert unique_without_each(n, columns) == plain


def test_many_large_columns_do_not_fit_64_bits_and_are_renumbered():
    n = 1000
    columns = [Column((np.arange(n) * step) % n, n) for step in (1, 3, 7, 9, 11, 13, 17, 19)]
    keys = RowKeys.of(n, columns)
    assert keys.size <= uniqueness.LARGEST
    assert keys.unique_rows() == n


def test_no_columns_make_all_rows_equal():
    assert unique_rows(5, []) == 0
    assert unique_rows(1, []) == 1
    assert unique_rows(0, []) == 0
