"""A column that was counted elsewhere is numbered as one in memory."""

from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding.columns import ColumnSpec, check_no_star, quasi_domain, sensitive_domain
from shoal.encoding.values import is_numbered, tally_of, tally_of_counts
from shoal.errors import HierarchyError, InputError

TEXTS = st.sampled_from(["a", "b", "10", "9", "+9", "1964-03-07", "", None])
COLUMNS = st.one_of(
    st.lists(TEXTS, min_size=1).map(lambda v: pa.array(v, pa.string())),
    st.lists(st.sampled_from([0.0, -0.0, 2.5, float("nan"), None]), min_size=1).map(
        lambda v: pa.array(v, pa.float64())
    ),
    st.lists(st.sampled_from([Decimal("1.50"), Decimal("-2.00"), None]), min_size=1).map(
        lambda v: pa.array(v, pa.decimal128(9, 2))
    ),
    st.lists(st.sampled_from(["x", "y", None]), min_size=1).map(
        lambda v: pa.array(v, pa.string()).dictionary_encode()
    ),
)


def counted(column: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """Values and counts as a database might give them: last ones first, some in two pieces."""
    found: Counter[Any] = Counter(repr(v) for v in column.to_pylist())
    values = {repr(v): v for v in reversed(column.to_pylist())}
    keys = [*values, next(iter(values))]
    counts = [found[key] for key in values] + [0]
    return pa.array([values[key] for key in keys], plain_type(column.type)), np.array(counts)


def plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


@given(column=COLUMNS, kind=st.sampled_from([None, "unordered"]))
def test_counts_alone_give_the_same_numbers(column: pa.Array, kind: str | None) -> None:
    here, there = tally_of("c", column), tally_of_counts("c", *counted(column))
    assert there.missing == here.missing
    assert there.counts.sum() + there.missing == len(column)
    for number in (quasi_domain, sensitive_domain):
        if number is quasi_domain and not len(here.values):
            continue
        (one, mine), (two, theirs) = number(here, ColumnSpec(kind)), number(there, ColumnSpec(kind))
        assert (one.kind, one.missing, one.texts) == (two.kind, two.missing, two.texts)
        assert np.array_equal(one.positions, two.positions)
        codes = dict(zip(map(str, there.values.to_pylist()), theirs.tolist(), strict=True))
        assert codes == dict(zip(map(str, here.values.to_pylist()), mine.tolist(), strict=True))


def test_errors_name_no_rows_that_are_not_at_hand() -> None:
    tally = tally_of_counts("age", pa.array(["39", "old", "?"]), np.array([5, 12, 1]))
    with pytest.raises(HierarchyError) as error:
        quasi_domain(tally, ColumnSpec("ordered"))
    assert str(error.value).startswith(
        "Column 'age': 2 distinct values in 13 rows are neither numbers nor dates, but the column is "
        "to be ordered. Among them: 'old'."
    )
    with pytest.raises(InputError, match=r"reads '\*' in 3 rows\. In a release"):
        check_no_star(tally_of_counts("ill", pa.array(["*", "flu"]), np.array([3, 4])))


def test_a_star_counts_as_missing() -> None:
    tally = tally_of_counts("ill", pa.array(["flu", "*", "cold"]), np.array([3, 4, 1]))
    domain, codes = sensitive_domain(tally)
    assert domain.texts.to_pylist() == ["cold", "flu", None]
    assert codes.tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("column", "numbered"),
    [
        (pa.array(["a", None, "b", "a"]).dictionary_encode(), True),
        (pa.array([], pa.string()).dictionary_encode(), True),
        (pa.array(["a", "b"]), False),
        (pa.array([1, 2]).dictionary_encode(), False),
        # a text that does not occur, a text twice, a null among the texts
        (pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int32()), ["a", "b"]), False),
        (pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), ["a", "a"]), False),
        (
            pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["a", None])),
            False,
        ),
    ],
)
def test_texts_that_are_numbered_already(column: pa.Array, numbered: bool) -> None:
    assert is_numbered(column) == numbered
    found = tally_of("c", column)
    plain = column.to_pylist()
    known = [value for value in plain if value is not None]
    assert dict(zip(found.values.to_pylist(), found.counts.tolist(), strict=True)) == Counter(known)
    assert [None if i < 0 else found.values[i].as_py() for i in found.index] == plain
    assert found.missing == plain.count(None)
