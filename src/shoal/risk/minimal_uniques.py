"""Minimal sample uniques: the smallest sets of columns that single a row out.

A row has a minimal sample unique on a set of columns when it is alone there with its values, and not
on any smaller part of the set. A row that is alone on a part needs no second look: alone as it is, it
makes no other row less so. What is left is counted exactly, set by set.

Source: Elliot, Manning and Ford, "A computational algorithm for handling the special uniques
problem", International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10, 2002.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from shoal.errors import InputError
from shoal.risk.contents import Contents

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
    alone: dict[tuple[int, ...], npt.NDArray[np.bool_]] = {(): np.zeros(rows, np.bool_)}
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


def _unique(columns: Sequence[Contents], rows: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """(rows,) whether no other of these rows is equal in all columns."""
    numbers, size = np.zeros(len(rows), np.int64), 1
    for column in columns:
        if size * column.size >= 2**62:
            _, numbers = np.unique(numbers, return_inverse=True)
            size = len(rows)
        numbers, size = numbers * column.size + column.codes[rows], size * column.size
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    alone: npt.NDArray[np.bool_] = counts[place] == 1
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
