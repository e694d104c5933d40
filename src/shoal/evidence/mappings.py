"""Mappings between columns: whether one column gives another away.

A plain column gives another away where each of its values goes with one value of the other and vice
versa (`education` and `education-num`), where both ascend together or in opposite directions, however
often values repeat (`wage` and its rounded logarithm), or where each of its values goes with one of the
other in so many rows that this is no coincidence (`zip` and `region`). Rows in which either is missing
are left out.

A few rows rule most pairs of columns out; the others are looked at in full. What is looked at is the
lowest and the highest code that goes with each value, which engines can compute where the rows are. A
wide table has a million pairs: even fewer rows rule most of them out, for many columns at once.
"""

from dataclasses import dataclass
from math import log2

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.values import ordered_values
from shoal.evidence.disclosure import CERTAIN, CONFIRMED, FEWEST_STEPS, MOST_VALUES, How

SAMPLED = 4_096
"""Rows that rule most pairs out."""
FEW = 32
"""Of these, rows that rule most pairs out for many columns at once."""
NO_CODE = np.iinfo(np.int64).max
"""The lowest code of values that go with none."""


@dataclass(frozen=True)
class Coded:
    """A column that is published more coarsely or not at all, as codes."""

    codes: Codes
    """(n,) of each row."""
    missing: int
    """The code of the missing value, or -1."""
    ordered: bool
    """Whether codes ascend with the values."""


@dataclass(frozen=True)
class Spread:
    """The codes of another column that go with each value of a plain one."""

    values: pa.Array
    """(m,) the values that go with any code."""
    low: Ints
    """(m,) the lowest code of each."""
    high: Ints
    """(m,) the highest code of each."""
    rows: int
    """Rows in which both are known."""


def spread_of(plain: tuple[pa.Array, Codes], other: Coded) -> Spread:
    """The codes that go with each value, from rows in memory.

    plain: the distinct values of a column, and each row's place among them.
    """
    values, index = plain
    known = (index >= 0) & (other.codes != other.missing)
    at, codes = index[known], other.codes[known].astype(np.int64)
    low = np.full(len(values), NO_CODE)
    high = np.full(len(values), -1)
    np.minimum.at(low, at, codes)
    np.maximum.at(high, at, codes)
    used = high >= 0
    return Spread(values.filter(pa.array(used)), low[used], high[used], int(known.sum()))


def relation(found: Spread, ordered: bool) -> How | None:
    """How a plain column gives the other away; None where it does not."""
    m = len(found.low)
    injective = len(np.unique(found.low)) == m
    if is_one_to_one(m, int((found.low != found.high).sum()), injective, found.rows):
        return "one-to-one"
    if not ordered or m > MOST_VALUES or not _enough_steps(found):
        return None
    return direction(found)


def is_one_to_one(values: int, spread: int, injective: bool, rows: int) -> bool:
    """Whether each value goes with one code and vice versa, in rows enough to be no coincidence.

    values: those that go with any code. spread: those that go with several. injective: no code goes
    with two values.
    """
    return values >= 2 and not spread and injective and rows - values >= CONFIRMED


def is_function(values: int, spread: int, rows: int, squares: int) -> bool:
    """Whether each value goes with one code, of several, in rows enough to be no coincidence.

    values: those that go with any code. spread: those that go with several. rows: in which both are
    known. squares: the sum over all codes of these rows, squared.
    """
    if values < 2 or spread or not are_repeated(values, rows):
        return False
    # each row with a value that another has too would have another code but by chance
    chance = log2(squares) - 2 * log2(rows)
    return -chance * (rows - values) >= CERTAIN


def are_repeated(values: int, rows: int) -> bool:
    """Whether values have several rows each as a rule; of others nothing is said, but that they are
    nearly unique."""
    return 2 * values <= rows


def function_of(plain: tuple[pa.Array, Codes], other: Coded) -> bool:
    """The same of rows in memory; see `spread_of`."""
    if not are_repeated(len(plain[0]), int((plain[1] >= 0).sum())):
        return False
    found = spread_of(plain, other)
    known = (plain[1] >= 0) & (other.codes != other.missing)
    squares = int((np.bincount(other.codes[known]).astype(np.int64) ** 2).sum())
    return is_function(len(found.low), int((found.low != found.high).sum()), found.rows, squares)


def pairs_of(index: Codes) -> tuple[Ints, Ints] | None:
    """Some pairs of rows with one value; None where there are none.

    index: each row's place among the values of a column.
    """
    order = np.argsort(index, kind="stable")
    order = order[np.searchsorted(index[order], 0) :]
    first = np.flatnonzero(index[order[1:]] == index[order[:-1]])
    if not len(first):
        return None
    some = first[np.unique(np.linspace(0, len(first) - 1, min(len(first), FEW)).astype(np.int64))]
    return order[some], order[some + 1]


def agreeing(one: Codes, other: Codes, missing: Ints) -> Ints:
    """The columns of codes that are the same in pairs of rows, or missing.

    one, other : (pairs, q)
        The codes of every column.
    missing : (q,)
        As in `Coded`.
    """
    alike = (one == other) | (one == missing) | (other == missing)
    return np.flatnonzero(alike.all(0))


def _enough_steps(found: Spread) -> bool:
    codes = len(np.union1d(found.low, found.high))
    return min(len(found.low), codes) >= FEWEST_STEPS and found.rows >= CONFIRMED


def direction(found: Spread) -> How | None:
    """Whether codes ascend or descend with the values; None for neither, or for no ordered values."""
    order = _order_of(found.values)
    if order is None:
        return None
    low, high = found.low[order], found.high[order]
    if (high[:-1] <= low[1:]).all():
        return "ascending"
    return "descending" if (low[:-1] >= high[1:]).all() else None


def _order_of(values: pa.Array) -> Ints | None:
    """The places of values in ascending order; None where they have none."""
    if pa.types.is_large_string(values.type) or pa.types.is_string_view(values.type):
        values = values.cast(pa.string())
    parsed = ordered_values(values, guess=True)
    if parsed is None or parsed.null_count or not len(parsed):
        return None
    order: Ints = pc.sort_indices(parsed).to_numpy().astype(np.int64)
    return order


def is_possible(found: Spread, ordered: bool) -> bool:
    """Whether a few rows leave it possible that a plain column gives another away."""
    functional = bool((found.low == found.high).all())
    if functional and len(np.unique(found.low)) == len(found.low):
        return True
    return ordered and direction(found) is not None


def possible_columns(
    plain: tuple[pa.Array, Codes], codes: Codes, missing: Ints, ordered: Bools, all_rows: bool
) -> Ints:
    """The columns of codes for which `is_possible` may hold, and `relation` after it.

    Parameters
    ----------
    plain
        The distinct values of a column in `SAMPLED` rows, and each row's place among them.
    codes : (s, q)
        The codes of these rows in every other column.
    missing, ordered : (q,)
        As in `Coded`.
    all_rows
        Whether there are no other rows.
    """
    values, index = plain
    n_known = int((index >= 0).sum())
    if all_rows and n_known < CONFIRMED:
        return np.zeros(0, np.int64)
    few = np.unique(np.linspace(0, len(index) - 1, min(len(index), FEW)).astype(np.int64))
    few = few[index[few] >= 0]
    if not len(few):
        return np.arange(len(missing))
    few = few[np.argsort(index[few], kind="stable")]
    starts = np.flatnonzero(np.diff(index[few], prepend=-1))
    some = codes[few].astype(np.int64)
    gone = some == missing
    low = np.minimum.reduceat(np.where(gone, NO_CODE, some), starts)
    high = np.maximum.reduceat(np.where(gone, -1, some), starts)
    found = np.zeros(len(missing), np.bool_)
    if not all_rows or n_known - len(values) >= CONFIRMED:  # otherwise no pair is one to one
        distinct = np.sort(low, 0)
        injective = ((distinct[1:] != distinct[:-1]) | (distinct[1:] == NO_CODE)).all(0)
        found = injective & ((low == high) | (high < 0)).all(0)
    if (ordered & ~found).any():
        order = _order_of(values.take(pa.array(index[few[starts]])))
        if order is None:  # those that go with a code may have an order
            return np.flatnonzero(found | (ordered & gone.any(0)))
        low, high = low[order], high[order]
        ascending = (np.maximum.accumulate(high)[:-1] <= low[1:]).all(0)
        descending = (np.minimum.accumulate(low)[:-1] >= high[1:]).all(0)
        found |= ordered & (ascending | descending)
    return np.flatnonzero(found)
