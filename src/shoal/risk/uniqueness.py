"""How many rows stand alone on some columns, exactly.

The codes of a row are packed into one whole number: each column is a digit, its base being the
number of codes. Where the number would not fit into 64 bits, what is packed so far is renumbered,
and no more than one number per row is left. Rows are then equal exactly where their numbers are.
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
"""Numbers up to this many times the rows are counted in place; beyond, sorting is faster."""


class Coded(Protocol):
    """A column as codes 0 .. size - 1."""

    @property
    def codes(self) -> npt.NDArray[np.integer]:
        """(n,) the code of each row."""

    @property
    def size(self) -> int:
        """How many codes there are: no more than rows, and one for missing values."""


@dataclass(frozen=True)
class Packed:
    """Some columns as one number per row."""

    numbers: Ints
    """(n,) 0 .. size - 1."""
    size: int

    @classmethod
    def nothing(cls, rows: int) -> "Packed":
        """No column yet: all rows are equal."""
        return cls(np.zeros(rows, np.int64), 1)

    def beside(self, columns: Iterable[Coded]) -> "Packed":
        """These columns, and some more."""
        packed = self
        for column in columns:
            if packed.size * column.size > LARGEST:
                packed = packed.renumbered()
            numbers = packed.numbers * column.size + column.codes
            packed = Packed(numbers, packed.size * column.size)
        return packed

    def renumbered(self) -> "Packed":
        """The same, with as few numbers as there are different rows."""
        different, numbers = np.unique(self.numbers, return_inverse=True)
        return Packed(numbers.astype(np.int64, copy=False), len(different))

    def unique_rows(self) -> int:
        """Rows whose number no other row has."""
        n = len(self.numbers)
        if self.size <= COUNTED * n:
            return int((np.bincount(self.numbers) == 1).sum())
        ordered = np.sort(self.numbers)
        # each row differs from the one before it and from the one after it
        differs = np.ones(n + 1, dtype=np.bool_)
        differs[1:-1] = ordered[1:] != ordered[:-1]
        return int((differs[1:] & differs[:-1]).sum())


def unique_rows(rows: int, columns: Sequence[Coded]) -> int:
    """Rows that no other row equals in all these columns."""
    return Packed.nothing(rows).beside(columns).unique_rows()


def unique_without_each(rows: int, columns: Sequence[Coded]) -> list[int]:
    """For each column, the rows that stay unique when it alone is left out."""
    return list(_without_each(Packed.nothing(rows), columns))


def _without_each(others: Packed, columns: Sequence[Coded]) -> Iterator[int]:
    """By halves: what both halves of the work share, all columns outside, is packed once."""
    if len(columns) <= 1:
        yield from (others.unique_rows() for _ in columns)
        return
    half = len(columns) // 2
    yield from _without_each(others.beside(columns[half:]), columns[:half])
    yield from _without_each(others.beside(columns[:half]), columns[half:])


# Minimal sample uniques: the smallest sets of columns that single a row out.


MOST_WORK = 20_000_000_000
"""Sets times rows; some minutes."""


@dataclass(frozen=True)
class MinimalSet:
    """Columns that single rows out together."""

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
    """Find the minimal sample uniques of up to `largest` columns."""
    d = len(columns)
    largest = min(largest, d)
    sets = sum(comb(d, size) for size in range(1, largest + 1))
    if sets * rows > MOST_WORK:
        raise InputError(
            f"Sets of up to {largest} of {d} columns are {sets:,}, too many for {rows:,} rows. "
            "Choose a smaller size."
        )
    alone: dict[tuple[int, ...], Bools] = {(): np.zeros(rows, np.bool_)}
    singled = np.zeros(rows, np.bool_)
    found: list[tuple[tuple[int, ...], int]] = []
    for size in range(1, largest + 1):
        before, alone = alone, {}
        for chosen in combinations(range(d), size):
            parts = [before[part] for part in combinations(chosen, size - 1)]
            already = np.logical_or.reduce(parts)
            left = np.flatnonzero(~already)
            minimal = left[_unique([columns[j] for j in chosen], left)]
            if len(minimal):
                found.append((chosen, len(minimal)))
                singled[minimal] = True
                already[minimal] = True
            alone[chosen] = already
    return _report(found, [column.name for column in columns], largest, int(singled.sum()))


def _unique(columns: Sequence[Contents], rows: npt.NDArray[np.intp]) -> Bools:
    """(rows,) whether no other of these rows is equal in all columns."""
    numbers, size = np.zeros(len(rows), np.int64), 1
    for column in columns:
        if size * column.size >= 2**62:
            _, numbers = np.unique(numbers, return_inverse=True)
            size = len(rows)
        numbers, size = numbers * column.size + column.codes[rows], size * column.size
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    alone: Bools = counts[place] == 1
    return alone


def _report(
    found: list[tuple[tuple[int, ...], int]], names: list[str], largest: int, rows: int
) -> MinimalUniques:
    total = sum(count for _, count in found)
    by_size = [sum(c for chosen, c in found if len(chosen) == s + 1) for s in range(largest)]
    with_column = [sum(c for chosen, c in found if j in chosen) for j in range(len(names))]
    ranked = sorted(found, key=lambda one: (-one[1], len(one[0]), one[0]))
    return MinimalUniques(
        largest_size=largest,
        total=total,
        rows=rows,
        sizes=tuple(by_size),
        sets=tuple(MinimalSet(tuple(names[j] for j in chosen), c) for chosen, c in ranked),
        columns={
            name: c / total if total else 0.0 for name, c in zip(names, with_column, strict=True)
        },
    )


# The smallest sets of columns that single people out.


UniqueRows = Callable[[int, Sequence[Contents]], int]
"""Of so many rows, those that no other equals in some columns."""

THRESHOLD = 0.05
"""A set singles people out when it makes at least this share of the rows unique."""
LARGEST_SET = 3
SHOWN = 5
"""Of the sets found, so many are reported."""
MOST_COLUMNS = 40
"""The search looks at the columns that tell most about a row, at most so many."""
MOST_SETS = 2_000
MOST_SEARCH_WORK = 300_000_000
"""Sets times rows; a few seconds. Beyond, only the most telling sets of a size are tried."""
FEWEST_SETS = 50
"""So many sets of a size are tried however many rows there are."""


@dataclass(frozen=True)
class ColumnSet:
    """Columns that together make rows unique."""

    columns: tuple[str, ...]
    unique_rows: int
    share: float
    """Of all rows."""


@dataclass(frozen=True)
class Search:
    """What was looked for, and what was found."""

    found: tuple[ColumnSet, ...]
    """The sets that single out most people, all of the smallest size that does; none if none do."""
    sets_found: int
    """How many sets of that size do; `found` holds the first few."""
    threshold: float
    """The share of unique rows from which a set counts."""
    largest_size: int
    """The most columns that were tried together."""
    tried: int
    """Sets that were looked at or could be ruled out."""
    possible: int
    """Sets there are, up to the size at which the search ended."""

    @property
    def bounded(self) -> bool:
        """Whether some sets were left out, so that a smaller or worse one may have been missed."""
        return self.tried < self.possible


def search(columns: Sequence[Contents], rows: int, unique: UniqueRows = unique_rows) -> Search:
    """Look for the smallest sets among the columns."""
    told = sorted(columns, key=lambda column: -column.entropy)[:MOST_COLUMNS]
    most = most_sets(rows)
    tried = possible = size = 0
    found: list[ColumnSet] = []
    for size in range(1, min(LARGEST_SET, len(columns)) + 1):
        sets = list(combinations(told, size))
        telling = [chosen for chosen in sets if _can_reach(chosen, rows)]
        telling.sort(key=lambda chosen: -sum(column.entropy for column in chosen))
        asked = (_ask(chosen, unique(rows, chosen), rows, columns) for chosen in telling[:most])
        found = [each for each in asked if each]
        tried += len(sets) - max(0, len(telling) - most)
        possible += comb(len(columns), size)
        if found:
            break
    found.sort(key=lambda each: -each.unique_rows)
    return Search(tuple(found[:SHOWN]), len(found), THRESHOLD, size, tried, possible)


def most_sets(rows: int) -> int:
    """How many sets of a size are looked at."""
    return max(FEWEST_SETS, min(MOST_SETS, MOST_SEARCH_WORK // max(1, rows)))


def _can_reach(chosen: Sequence[Contents], rows: int) -> bool:
    return rows > 0 and prod(column.size for column in chosen) >= THRESHOLD * rows


def _ask(
    chosen: Sequence[Contents], unique: int, rows: int, columns: Sequence[Contents]
) -> ColumnSet | None:
    if not unique or unique < THRESHOLD * rows:
        return None
    names = {column.name for column in chosen}
    in_order = tuple(column.name for column in columns if column.name in names)
    return ColumnSet(in_order, unique, unique / rows)
