"""How many rows are unique on some columns, and the smallest sets of columns that make them so.

Rows are compared by one whole number each, their key: each column is a digit, its base the number of
its codes. Where a key would not fit into 64 bits, the keys so far are renumbered, which leaves no more
keys than rows. Rows are then equal exactly where their keys are.

Two searches use this: `search` for the smallest sets of columns that make a given share of all rows
unique, and `minimal_uniques` for the minimal sample uniques of every row.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import Protocol

import numpy as np
import numpy.typing as npt

from shoal.arrays import Bools, Ints
from shoal.errors import InputError
from shoal.risk.columns import Contents

LARGEST = 2**63 - 1
COUNTED = 4
"""Keys up to this many times the rows are counted in an array; beyond, sorting is faster."""

THRESHOLD = 0.05
"""A set singles people out when it makes at least this share of the rows unique."""
LARGEST_SET = 3
REPORTED_SETS = 5
MOST_COLUMNS = 40
"""The search considers the most informative columns, at most this many."""
MOST_SETS = 2_000
FEWEST_SETS = 50
"""Sets of a size that are tried however many rows there are."""
MOST_SEARCH_WORK = 300_000_000
"""Sets times rows; a few seconds. Beyond, only the most informative sets of a size are tried."""
MOST_WORK = 20_000_000_000
"""Sets times rows of a search for minimal sample uniques; some minutes."""


class Coded(Protocol):
    """A column as codes 0 .. size - 1."""

    @property
    def codes(self) -> npt.NDArray[np.integer]:
        """(n,) the code of each row."""

    @property
    def size(self) -> int:
        """Number of codes: at most one per row, and one for missing values."""


@dataclass(frozen=True)
class RowKeys:
    """One number per row that stands for its values in some columns."""

    numbers: Ints
    """(n,) 0 .. size - 1."""
    size: int

    @classmethod
    def of(cls, rows: int, columns: Iterable[Coded]) -> "RowKeys":
        """The keys of rows on some columns; without columns all rows are equal."""
        return cls(np.zeros(rows, np.int64), 1).extended(columns)

    def extended(
        self, columns: Iterable[Coded], rows: npt.NDArray[np.intp] | slice = slice(None)
    ) -> "RowKeys":
        """The keys on these columns and some more, given for all rows or for chosen ones."""
        keys = self
        for column in columns:
            if keys.size * column.size > LARGEST:
                keys = keys.renumbered()
            numbers = keys.numbers * column.size + column.codes[rows]
            keys = RowKeys(numbers, keys.size * column.size)
        return keys

    def renumbered(self) -> "RowKeys":
        """The same, with as few numbers as there are distinct rows."""
        distinct, numbers = np.unique(self.numbers, return_inverse=True)
        return RowKeys(numbers.astype(np.int64, copy=False), len(distinct))

    def unique_rows(self) -> int:
        """Rows whose key no other row has."""
        n = len(self.numbers)
        if self.size <= COUNTED * n:
            return int((np.bincount(self.numbers) == 1).sum())
        ordered = np.sort(self.numbers)
        # each unique row differs from the one before it and from the one after it
        differs = np.ones(n + 1, dtype=np.bool_)
        differs[1:-1] = ordered[1:] != ordered[:-1]
        return int((differs[1:] & differs[:-1]).sum())

    def are_unique(self) -> Bools:
        """(n,) whether no other row has the same key."""
        _, place, counts = np.unique(self.numbers, return_inverse=True, return_counts=True)
        unique: Bools = counts[place] == 1
        return unique


def unique_rows(rows: int, columns: Sequence[Coded]) -> int:
    """Rows that no other row equals in all these columns."""
    return RowKeys.of(rows, columns).unique_rows()


def unique_without_each(rows: int, columns: Sequence[Coded]) -> list[int]:
    """For each column, the rows that stay unique when it alone is left out."""
    return list(_without_each(RowKeys.of(rows, ()), columns))


def _without_each(others: RowKeys, columns: Sequence[Coded]) -> Iterator[int]:
    """By halves: the keys on all columns outside of a half are computed once for the half."""
    if len(columns) <= 1:
        yield from (others.unique_rows() for _ in columns)
        return
    half = len(columns) // 2
    yield from _without_each(others.extended(columns[half:]), columns[:half])
    yield from _without_each(others.extended(columns[:half]), columns[half:])


@dataclass(frozen=True)
class ColumnSet:
    """Columns that together make rows unique."""

    columns: tuple[str, ...]
    unique_rows: int
    share: float
    """Of all rows."""


@dataclass(frozen=True)
class Search:
    """The result of a search for sets of columns that single people out."""

    found: tuple[ColumnSet, ...]
    """The sets that single out most people, all of the smallest size that does; may be empty."""
    sets_found: int
    """How many sets of that size do; `found` holds the first few."""
    threshold: float
    """The share of unique rows from which a set counts."""
    largest_size: int
    """The most columns that were tried together."""
    tried: int
    """Sets that were tried or could be ruled out."""
    possible: int
    """All sets up to the size at which the search ended."""

    @property
    def bounded(self) -> bool:
        """Whether some sets were left out, so that a smaller or worse one may have been missed."""
        return self.tried < self.possible


UniqueRows = Callable[[int, Sequence[Contents]], int]
"""Of this many rows, those that no other equals in some columns."""


def search(columns: Sequence[Contents], rows: int, unique: UniqueRows = unique_rows) -> Search:
    """Find the smallest sets of columns that make at least `THRESHOLD` of the rows unique.

    Sets of one column are tried first, then of two, then of three; the search ends at the first size
    with such a set. A set with too few combinations of values is skipped: it cannot have more unique
    rows than these.
    """
    candidates = sorted(columns, key=lambda column: -column.entropy)[:MOST_COLUMNS]
    position = {column.name: i for i, column in enumerate(columns)}
    most = most_sets(rows)
    tried = possible = size = 0
    found: list[ColumnSet] = []
    for size in range(1, min(LARGEST_SET, len(columns)) + 1):
        sets = list(combinations(candidates, size))
        possible_sets = [
            chosen
            for chosen in sets
            if rows > 0 and prod(column.size for column in chosen) >= THRESHOLD * rows
        ]
        possible_sets.sort(key=lambda chosen: -sum(column.entropy for column in chosen))
        for chosen in possible_sets[:most]:
            count = unique(rows, chosen)
            if count and count >= THRESHOLD * rows:
                names = sorted((column.name for column in chosen), key=position.__getitem__)
                found.append(ColumnSet(tuple(names), count, count / rows))
        tried += len(sets) - max(0, len(possible_sets) - most)
        possible += comb(len(columns), size)
        if found:
            break
    found.sort(key=lambda each: -each.unique_rows)
    return Search(tuple(found[:REPORTED_SETS]), len(found), THRESHOLD, size, tried, possible)


def most_sets(rows: int) -> int:
    """How many sets of a size the search tries."""
    return max(FEWEST_SETS, min(MOST_SETS, MOST_SEARCH_WORK // max(1, rows)))


@dataclass(frozen=True)
class MinimalSet:
    """A set of columns with minimal sample uniques."""

    columns: tuple[str, ...]
    count: int
    """Rows with a minimal sample unique on just these columns."""


@dataclass(frozen=True)
class MinimalUniques:
    """All minimal sample uniques up to a size."""

    largest_size: int
    """The most columns that were tried together."""
    total: int
    """Minimal sample uniques; a row may have several."""
    rows: int
    """Rows that have at least one."""
    sizes: tuple[int, ...]
    """How many there are of one column, of two, and so on."""
    sets: tuple[MinimalSet, ...]
    """The sets that have some, those with most first."""
    columns: dict[str, float]
    """Per column the share of all minimal sample uniques that it is a part of."""


def minimal_uniques(columns: Sequence[Contents], rows: int, largest: int) -> MinimalUniques:
    """Find the minimal sample uniques of up to `largest` columns.

    A row has a minimal sample unique on a set of columns when it is unique on the set, and not on any
    smaller part of it. A row that is unique on a part is left out of the larger sets: being unique, it
    changes nothing for the others. The remaining rows are counted exactly, set by set.

    Source: Elliot, Manning and Ford, "A computational algorithm for handling the special uniques
    problem", International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10, 2002.
    """
    d = len(columns)
    largest = min(largest, d)
    sets = sum(comb(d, size) for size in range(1, largest + 1))
    if sets * rows > MOST_WORK:
        raise InputError(
            f"Sets of up to {largest} of {d} columns are {sets:,}, too many for {rows:,} rows. "
            "Choose a smaller size."
        )
    unique_on: dict[tuple[int, ...], Bools] = {(): np.zeros(rows, np.bool_)}
    singled_out = np.zeros(rows, np.bool_)
    found: dict[tuple[int, ...], int] = {}
    for size in range(1, largest + 1):
        smaller, unique_on = unique_on, {}
        for chosen in combinations(range(d), size):
            already = np.logical_or.reduce([smaller[p] for p in combinations(chosen, size - 1)])
            left = np.flatnonzero(~already)
            keys = RowKeys.of(len(left), ()).extended([columns[j] for j in chosen], left)
            minimal = left[keys.are_unique()]
            if len(minimal):
                found[chosen] = len(minimal)
                singled_out[minimal] = True
                already[minimal] = True
            unique_on[chosen] = already
    total = sum(found.values())
    with_column = [sum(n for chosen, n in found.items() if j in chosen) for j in range(d)]
    names = [column.name for column in columns]
    ranked = sorted(found.items(), key=lambda item: (-item[1], len(item[0]), item[0]))
    return MinimalUniques(
        largest_size=largest,
        total=total,
        rows=int(singled_out.sum()),
        sizes=tuple(
            sum(n for chosen, n in found.items() if len(chosen) == size)
            for size in range(1, largest + 1)
        ),
        sets=tuple(MinimalSet(tuple(names[j] for j in chosen), n) for chosen, n in ranked),
        columns={
            name: n / total if total else 0.0 for name, n in zip(names, with_column, strict=True)
        },
    )
