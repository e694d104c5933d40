"""Counting a column, and its type in words."""

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from shoal.risk.columns import Type, codes_of, contents_of

DAY = datetime.date(1964, 3, 7)
NOON = datetime.datetime(1964, 3, 7, 12, 30)


@pytest.mark.parametrize(
    ("values", "kind", "ordered"),
    [
        (pa.array(["a", "b", None]), Type.TEXT, False),
        (pa.array(["1", "20", None]), Type.WHOLE, True),
        (pa.array(["1", "x"]), Type.TEXT, False),
        (pa.array(["1.5", "-2e3"]), Type.DECIMAL, True),
        (pa.array(["1e999", "2.5"]), Type.DECIMAL, False),
        (pa.array(["02138", "01000"]), Type.CODE, False),
        (pa.array(["0", "7"]), Type.WHOLE, True),
        (pa.array(["1964-03-07", "1970-01-01"]), Type.DATE, True),
        (pa.array(["1964-03-07 12:30", "1970-01-01 00:00"]), Type.DATE, True),
        (pa.array(["07.03.1964", "31.12.1970"]), Type.DATE, True),
        (pa.array(["1964-03-07", "soon"]), Type.TEXT, False),
        (pa.array([1, 2], pa.int8()), Type.WHOLE, True),
        (pa.array([1.0, 2.0, None]), Type.WHOLE, True),
        (pa.array([1.5, 2.0]), Type.DECIMAL, True),
        (pa.array([1.5, float("inf")]), Type.DECIMAL, False),
        (pa.array([Decimal("1.50")]), Type.DECIMAL, True),
        (pa.array([2**63, 2**64 - 1], pa.uint64()), Type.WHOLE, True),
        (pa.array([True, False]), Type.BOOLEAN, False),
        (pa.array([DAY]), Type.DATE, True),
        (pa.array([NOON]), Type.DATE, True),
        (pa.array([NOON], pa.timestamp("us", "UTC")), Type.DATE, True),
        (pa.array([datetime.time(12, 30)]), Type.TIME, True),
        (pa.array(["a", "b"]).dictionary_encode(), Type.TEXT, False),
        (pa.array(["a"], pa.large_string()), Type.TEXT, False),
        (pa.array(["7"], pa.string_view()), Type.WHOLE, True),
        (pa.array([b"\xff"]), Type.OTHER, False),
        (pa.array([[1], [2]]), Type.OTHER, False),
        (pa.array([{"a": 1}]), Type.OTHER, False),
        (pa.array([None, None], pa.string()), Type.EMPTY, False),
        (pa.nulls(2), Type.EMPTY, False),
        (pa.array([], pa.string()), Type.EMPTY, False),
        (pa.array([float("nan")]), Type.EMPTY, False),
    ],
)
def test_types_in_words(values, kind, ordered):
    found = contents_of("x", pa.chunked_array([values]))
    assert (found.type, found.can_be_ordered) == (kind, ordered)


def test_missing_is_a_value_of_its_own_but_not_a_distinct_one():
    found = contents_of("x", pa.chunked_array([["a", None], ["b", None, "a"]]))
    assert (found.distinct, found.missing, found.size) == (2, 2, 3)
    assert found.codes[1] == found.codes[3] == 2
    assert sorted(found.counts) == [1, 2, 2]
    assert found.unique_rows == 1


def test_not_a_number_counts_as_missing():
    found = contents_of("x", pa.array([1.0, float("nan"), None]))
    assert (found.distinct, found.missing) == (1, 2)


def test_values_that_arrow_cannot_compare_are_still_counted():
    found = contents_of("x", pa.array([[1, 2], [1, 2], None, [3]]))
    assert (found.distinct, found.missing, found.unique_rows) == (2, 1, 2)


def test_a_late_text_makes_a_long_column_text():
    numbers = [str(i) for i in range(5000)]
    assert contents_of("x", pa.array(numbers)).type == Type.WHOLE
    assert contents_of("x", pa.array([*numbers, "many"])).type == Type.TEXT


def test_entropy_is_in_bits():
    assert contents_of("x", pa.array(["a", "b"] * 8)).entropy == pytest.approx(1.0)
    assert contents_of("x", pa.array(np.arange(16))).entropy == pytest.approx(4.0)
    assert contents_of("x", pa.array([], pa.int64())).entropy == 0


@pytest.mark.parametrize(
    "column",
    [
        pa.chunked_array([["a", None, "b"], ["b", "a"]]),
        pa.array([1.0, float("nan"), -0.0, 0.0]),
        pa.array([None, None], pa.null()),
        pa.array([[1], [2], [1]]),
        pa.array([], pa.string()),
    ],
    ids=["text", "numbers", "nothing", "lists", "empty"],
)
def test_codes_without_looking_at_values_are_the_same(column: pa.Array) -> None:
    full, bare = contents_of("x", column), codes_of(column)
    assert (bare.codes.tolist(), bare.size) == (full.codes.tolist(), full.size)
