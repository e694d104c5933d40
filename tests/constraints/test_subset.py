"""The largest anonymous subset, against trying every subset there is."""

from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.methods.climbing import largest_subset
from shoal.methods.constraints import Constraint, without_implied
from tests import naive_constraints as naive
from tests.examples import examples

PLACES = st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True)
CONSTRAINTS = st.lists(
    st.builds(Constraint, PLACES.map(lambda places: tuple(sorted(places))), st.integers(1, 4)),
    min_size=1,
    max_size=4,
)


def tables(max_rows: int) -> st.SearchStrategy[list[naive.Row]]:
    row = st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 2))
    return st.lists(row, min_size=1, max_size=max_rows)


def meets(rows: list[naive.Row], constraints: list[Constraint]) -> bool:
    """By the definition: every combination in a constraint's columns occurs k times."""
    return all(
        n >= one.k
        for one in constraints
        for n in Counter(tuple(row[c] for c in one.columns) for row in rows).values()
    )


def found(
    rows: list[naive.Row], constraints: list[Constraint] | tuple[Constraint, ...], one_by_one: bool
) -> set[int]:
    """The subset as the package finds it, one cell for each row."""
    keys = []
    for one in constraints:
        number: dict[naive.Row, int] = {}
        key = [number.setdefault(tuple(row[c] for c in one.columns), len(number)) for row in rows]
        keys.append(np.array(key, np.int32))
    least = [one.k for one in constraints]
    weights = np.ones(len(rows), np.int64)
    return set(np.flatnonzero(largest_subset(keys, least, weights, one_by_one)).tolist())


@given(rows=tables(max_rows=9), constraints=CONSTRAINTS, one_by_one=st.booleans())
def test_no_other_subset_is_as_large(
    rows: list[naive.Row], constraints: list[Constraint], one_by_one: bool
) -> None:
    every = [
        set(chosen)
        for size in range(len(rows) + 1)
        for chosen in combinations(range(len(rows)), size)
        if meets([rows[i] for i in chosen], constraints)
    ]
    largest = max(every, key=len)
    # it is unique, and every other anonymous subset lies inside it
    assert all(chosen <= largest for chosen in every)
    assert found(rows, constraints, one_by_one) == largest


@examples(150)
@given(rows=tables(max_rows=60), constraints=CONSTRAINTS)
def test_one_by_one_is_all_at_once(rows: list[naive.Row], constraints: list[Constraint]) -> None:
    plain = [(one.columns, one.k) for one in constraints]
    expected = naive.anonymous_subset(rows, plain)
    assert naive.adding_constraints(rows, plain) == expected
    assert found(rows, constraints, one_by_one=False) == expected
    assert found(rows, constraints, one_by_one=True) == expected
    assert found(rows, constraints[::-1], one_by_one=True) == expected


@given(rows=tables(max_rows=60), constraints=CONSTRAINTS)
def test_implied_constraints_change_nothing(
    rows: list[naive.Row], constraints: list[Constraint]
) -> None:
    kept, _ = without_implied(constraints)
    assert found(rows, kept, False) == found(rows, constraints, False)


@given(rows=tables(max_rows=40), constraints=CONSTRAINTS, one_by_one=st.booleans())
def test_equal_rows_may_be_one_weighted_cell(
    rows: list[naive.Row], constraints: list[Constraint], one_by_one: bool
) -> None:
    counts = Counter(rows)
    cells = list(counts)
    keys = []
    for one in constraints:
        texts = [tuple(cell[c] for c in one.columns) for cell in cells]
        order = sorted(set(texts))
        keys.append(np.array([order.index(text) for text in texts], np.int32))
    weights = np.array(list(counts.values()), np.int64)
    inside = largest_subset(keys, [one.k for one in constraints], weights, one_by_one)
    by_row = found(rows, constraints, one_by_one)
    assert {cell for cell, kept in zip(cells, inside, strict=True) if kept} == {
        rows[i] for i in by_row
    }


def test_a_drop_that_runs_through_all_rows() -> None:
    """Each row holds up the next: dropping the first drops all, one after another."""
    n = 2000
    left = np.arange(n + 1, dtype=np.int32)[1:] // 2
    right = np.arange(n, dtype=np.int32) // 2
    keys = [left, right]
    weights = np.ones(n, np.int64)
    assert not largest_subset(keys, [2, 2], weights).any()
    assert not largest_subset(keys, [2, 2], weights, one_by_one=True).any()


def test_no_rows_have_no_subset() -> None:
    none = np.zeros(0, np.int32)
    assert len(largest_subset([none, none], [2, 3], np.zeros(0, np.int64))) == 0
