"""The smallest sets of columns that single people out.

Sets of one column are tried first, then of two, then of three; the search ends at the first size
at which some set makes a good part of the rows unique. A set is skipped where it cannot: it has no
more unique rows than it has combinations of values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod

from shoal.risk.contents import Contents
from shoal.risk.uniqueness import unique_rows

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
MOST_WORK = 300_000_000
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
    return max(FEWEST_SETS, min(MOST_SETS, MOST_WORK // max(1, rows)))


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
