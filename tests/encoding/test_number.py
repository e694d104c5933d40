"""Codes of a column: ascending, by frequency or depth first, and never by the order of the rows."""

import datetime as dt
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.arrays import Codes
from shoal.encoding.columns import ColumnSpec, encode_quasi, encode_sensitive
from shoal.encoding.domain import UNIT, Domain, Kind
from shoal.errors import InputError
from shoal.hierarchy import parse_hierarchy
from tests.examples import examples


def decoded(domain: Domain, codes: Codes) -> list[str | None]:
    """The text behind each row's code."""
    texts = domain.texts.to_pylist()
    return [texts[code] for code in codes]


def check(domain: Domain, codes: Codes, n: int) -> None:
    """What every numbering keeps to."""
    texts = domain.texts.to_pylist()
    assert len(set(texts)) == len(texts), "each text has one code"
    assert codes.dtype == np.int32
    assert len(codes) == n
    assert 0 <= codes.min() <= codes.max() < domain.size
    assert texts.count(None) == (domain.missing >= 0)
    assert domain.missing in (-1, domain.size - 1), "the missing value comes last"
    if domain.positions is not None:
        present = domain.positions[: domain.size - (domain.missing >= 0)]
        assert present[0] == 0
        assert present[-1] in (0, UNIT)
        assert (np.diff(present) >= 0).all()
        assert domain.missing < 0 or domain.positions[-1] == 2 * UNIT


ASCENDING: list[tuple[pa.Array, list[str | None]]] = [
    (pa.array([3, 1, None, 2, 1]), ["1", "2", "3", None]),
    (pa.array([10, 9, 100], pa.int8()), ["9", "10", "100"]),
    (pa.array([2**64 - 1, 0], pa.uint64()), ["0", "18446744073709551615"]),
    (pa.array([-(2**63), 2**63 - 1]), [str(-(2**63)), str(2**63 - 1)]),
    (pa.array([1.5, -2.0, float("nan"), 1e300]), ["-2", "1.5", "1e+300", None]),
    (pa.array([0.0, -0.0, 1.0]), ["0", "1"]),
    (pa.array(np.array([1.5, 0.5], np.float16)), ["0.5", "1.5"]),
    (pa.array([Decimal("2.20"), Decimal("10.00"), None]), ["2.20", "10.00", None]),
    (pa.array([Decimal("2.2"), Decimal("-3.0")], pa.decimal32(4, 1)), ["-3.0", "2.2"]),
    (pa.array([Decimal(10) ** 60, Decimal(5)], pa.decimal256(70, 0)), ["5", "1" + "0" * 60]),
    (pa.array([dt.date(2020, 2, 1), dt.date(1, 1, 1)]), ["0001-01-01", "2020-02-01"]),
    (
        pa.array([dt.datetime(2020, 2, 1, 3), dt.datetime(2020, 2, 1)]),
        ["2020-02-01", "2020-02-01T03:00:00"],
    ),
    (pa.array([dt.time(10, 0), dt.time(9, 30)], pa.time32("s")), ["09:30:00", "10:00:00"]),
    (pa.array([11, 9, None]).dictionary_encode(), ["9", "11", None]),
    (pa.array(["10", "9", "+8"]), ["8", "9", "10"]),
    (pa.array(["10", "9", None, "-1"], pa.large_string()), ["-1", "9", "10", None]),
    (pa.array(["10", "9"], pa.string_view()), ["9", "10"]),
    (
        pa.array(["1.5", "1", ".25", "2.", "1e3", "-0.0", "0"]),
        ["0", "0.25", "1", "1.5", "2", "1000"],
    ),
    (pa.array([str(10**40), str(10**40 + 1), "5"]), ["5", str(10**40), str(10**40 + 1)]),
    (pa.array([str(2**127), "-1"]), ["-1", str(2**127)]),
    (pa.array(["2021-03-01", "2020-12-31"]), ["2020-12-31", "2021-03-01"]),
    (pa.array(["01.03.2021", "31.12.2020"]), ["2020-12-31", "2021-03-01"]),
    (
        pa.array(["2021-03-01 10:00", "2021-03-01T09:00:30"]),
        ["2021-03-01T09:00:30", "2021-03-01T10:00:00"],
    ),
]


@pytest.mark.parametrize(("column", "texts"), ASCENDING, ids=lambda v: str(getattr(v, "type", "")))
def test_numbers_and_dates_ascend(column: pa.Array, texts: list[str | None]) -> None:
    for kind in (None, "ordered"):
        domain, codes = encode_quasi("c", column, ColumnSpec(kind))
        assert domain.kind == Kind.RANGE
        assert domain.texts.to_pylist() == texts
        check(domain, codes, len(column))


def test_positions_measure_values_not_ranks() -> None:
    domain, _ = encode_quasi("c", pa.array([0, 10, 100, None]))
    assert domain.positions is not None
    assert domain.positions.tolist() == [0, round(UNIT / 10), UNIT, 2 * UNIT]
    days = pa.array([dt.date(2020, 1, 1), dt.date(2020, 1, 11), dt.date(2020, 4, 10)])
    assert encode_quasi("c", days)[0].positions.tolist() == [0, round(UNIT / 10), UNIT]  # type: ignore[union-attr]


def test_positions_of_numbers_that_a_float_cannot_tell_apart() -> None:
    big = 2**62
    domain, _ = encode_quasi("c", pa.array([big, big + 1, big + 4]))
    assert domain.positions is not None
    assert domain.positions.tolist() == [0, UNIT // 4, UNIT]


def test_positions_of_the_widest_column_there_is() -> None:
    domain, _ = encode_quasi("c", pa.array([-1.7e308, 0.0, 1.7e308]))
    assert domain.positions is not None
    assert domain.positions.tolist() == [0, UNIT // 2, UNIT]


@pytest.mark.parametrize(
    "texts",
    [
        ["02138", "99999"],
        ["007", "8"],
        ["-01", "5"],
        ["1", "two"],
        ["1.2.3", "4"],
        ["2021-02-30", "2021-01-01"],
        ["2021-01-01", "2021/01/01"],
        ["", "one"],
        ["٣", "4"],
        ["0x10", "1"],
        ["NaN", "1.5"],
        ["inf", "1"],
        ["1" * 80, "2"],
    ],
    ids=lambda v: "-".join(v)[:20],
)
def test_what_is_not_all_numbers_stays_text(texts: list[str]) -> None:
    domain, codes = encode_quasi("c", pa.array(texts))
    assert domain.kind == Kind.SET
    assert decoded(domain, codes) == texts


def test_more_digits_than_a_float_has_are_not_lost() -> None:
    texts = ["9007199254740993", "0.5"]
    domain, codes = encode_quasi("c", pa.array(texts))
    assert [Fraction(str(text)) for text in decoded(domain, codes)] == [Fraction(t) for t in texts]


def test_padded_digits_are_numbers_when_asked_for() -> None:
    domain, codes = encode_quasi("c", pa.array(["007", "8"]), ColumnSpec("ordered"))
    assert domain.kind == Kind.RANGE
    assert decoded(domain, codes) == ["7", "8"]


def test_words_in_the_policys_order() -> None:
    column = pa.array(["high", "low", None, "low"])
    domain, codes = encode_quasi("c", column, ColumnSpec(order=("low", "middle", "high")))
    assert domain.texts.to_pylist() == ["low", "middle", "high", None]
    assert codes.tolist() == [2, 0, 3, 0]
    assert domain.positions is not None
    assert domain.positions.tolist() == [0, UNIT // 2, UNIT, 2 * UNIT]
    check(domain, codes, 4)


def test_booleans_are_unordered_unless_told() -> None:
    column = pa.array([True, False, True, None])
    assert encode_quasi("c", column)[0].kind == Kind.SET
    domain, codes = encode_quasi("c", column, ColumnSpec("ordered"))
    assert domain.texts.to_pylist() == ["false", "true", None]
    assert codes.tolist() == [1, 0, 1, 2]


def test_values_without_order_go_from_rare_to_common() -> None:
    column = pa.array(["b"] * 3 + ["a"] * 2 + ["d", "c", None, None, None, None])
    domain, codes = encode_quasi("c", column)
    assert domain.kind == Kind.SET
    assert domain.texts.to_pylist() == ["c", "d", "a", "b", None]
    check(domain, codes, len(column))


def test_leaves_go_depth_first() -> None:
    tree = parse_hierarchy({"tree": {"any": {"z": ["c", "a"], "b": ["d"]}}})
    domain, codes = encode_quasi("c", pa.array(["a", "d", None, "c"]), ColumnSpec(hierarchy=tree))
    assert domain.kind == Kind.TREE
    assert domain.texts.to_pylist() == ["c", "a", "d", None]
    assert codes.tolist() == [1, 2, 3, 0]
    check(domain, codes, 4)


def test_sensitive_values_go_by_text() -> None:
    domain, codes = encode_sensitive("c", pa.array([10, 9, None, 9, 2]))
    assert domain.texts.to_pylist() == ["10", "2", "9", None]
    assert codes.tolist() == [0, 2, 3, 2, 1]
    domain, codes = encode_sensitive("c", pa.array([float("nan"), 1.0, None]))
    assert domain.texts.to_pylist() == ["1", None]
    assert codes.tolist() == [1, 0, 1]


values = (
    st.lists(st.none() | st.integers(-20, 20), min_size=1, max_size=30)
    | st.lists(st.none() | st.text(max_size=3), min_size=1, max_size=30)
    | st.lists(st.none() | st.floats(allow_infinity=False), min_size=1, max_size=30)
    | st.lists(st.none() | st.dates(), min_size=1, max_size=30)
)


@examples(75)
@given(values, st.integers(0, 9), st.sampled_from([None, "unordered"]))
def test_codes_do_not_depend_on_the_order_of_rows(
    raw: list[Any], seed: int, kind: str | None
) -> None:
    column = pa.array(raw, pa.string() if all(v is None for v in raw) else None)
    moved = random.Random(seed).sample(range(len(raw)), len(raw))
    turned = column.take(pa.array(moved))
    encode_sensitive("c", column)
    try:
        domain, codes = encode_quasi("c", column, ColumnSpec(kind))
    except InputError:
        assert all(v is None or v != v for v in raw)
        return
    check(domain, codes, len(raw))
    other, others = encode_quasi("c", turned, ColumnSpec(kind))
    assert other.texts.equals(domain.texts)
    assert others.tolist() == codes[moved].tolist()
    assert encode_sensitive("c", turned)[0].texts.equals(encode_sensitive("c", column)[0].texts)
