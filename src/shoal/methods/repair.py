"""Repair of a grouping that breaks a model: pool, group afresh, insert, suppress.

For methods that cannot take a model into account while they form groups. Groups that satisfy the
requirement are kept. The rows of the others are pooled and grouped again, for as long as a round yields
a group that satisfies it. Each remaining row joins the nearest group that still satisfies the
requirement with it; rows that fit nowhere are suppressed.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.domain import costs_of
from shoal.encoding.grouping import SUPPRESSED, Grouping, rows_by_group
from shoal.kernels.labels import empty_labels, nearest_label, widen, widen_all
from shoal.methods.base import counts_of_runs
from shoal.models.requirement import Requirement
from shoal.seeds import LARGE, derived

MOST_KEPT = 1 << 28
"""Answers kept at a time: rows of different sensitive values times groups."""


class Runs(NamedTuple):
    """Groups of canonical rows, one after another in one array."""

    rows: Codes
    starts: Ints
    """(g + 1,) group i holds rows[starts[i]:starts[i+1]]."""

    @property
    def sizes(self) -> Ints:
        """(g,) rows of each group."""
        return np.diff(self.starts)

    def __bool__(self) -> bool:
        return len(self.starts) > 1


def chosen(runs: Runs, which: Bools) -> Runs:
    """Some of the groups."""
    sizes = runs.sizes
    starts = np.concatenate([[0], np.cumsum(sizes[which])]).astype(np.int64)
    return Runs(runs.rows[np.repeat(which, sizes)], starts)


def joined(parts: list[Runs]) -> Runs:
    """The groups of all parts."""
    sizes = np.concatenate([np.zeros(0, np.int64), *(part.sizes for part in parts)])
    rows = np.concatenate([np.zeros(0, np.int32), *(part.rows for part in parts)])
    return Runs(rows.astype(np.int32), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def with_rows(runs: Runs, group: Ints, rows: Codes, n_groups: int) -> Runs:
    """The groups with more rows, rows[i] going to group[i]."""
    owner = np.concatenate([np.repeat(np.arange(n_groups), runs.sizes), group])
    every = np.concatenate([runs.rows, rows])
    order = np.argsort(owner, kind="stable")
    sizes = np.bincount(owner, minlength=n_groups)
    return Runs(
        every[order].astype(np.int32), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    )


GroupRows = Callable[[Codes, int, int], Runs]
"""Groups the rows given (ascending), each of so many rows or more, by a seed."""


def repaired(cells: Cells, requirement: Requirement, group_rows: GroupRows, seed: int) -> Grouping:
    """Groups of all rows that hold the requirement; what fits into none is suppressed."""
    everyone = np.arange(cells.n_rows, dtype=np.int32)
    least = requirement.min_rows
    runs = group_rows(everyone, least, _seed(seed, 0))
    if not requirement.only_size:
        good, pool = _sorted_out(cells, requirement, runs)
        good, pool = _pooled(cells, requirement, group_rows, seed, good, pool)
        if not good:
            good, pool = _dealt(cells, requirement, pool)
        runs = insert(cells, requirement, good, pool)
        runs = _holding_alone(cells, requirement, runs)
    group = _numbered(runs, cells.n_rows)
    return Grouping(group, len(runs.starts) - 1, tuple(range(len(cells.domains))))


def _seed(seed: int, number: int) -> int:
    """A seed of its own for each round."""
    if seed >= LARGE:
        return derived(seed, "round", number)
    return (seed * 0x9E3779B9 + number * 0x85EBCA6B + 1) % (1 << 64)


def _sorted_out(cells: Cells, requirement: Requirement, runs: Runs) -> tuple[Runs, Codes]:
    """The groups that hold, and the rows of the others, ascending."""
    held = requirement.holds(counts_of_runs(cells, requirement, *runs))
    return chosen(runs, held), np.sort(chosen(runs, ~held).rows)


def _pooled(
    cells: Cells,
    requirement: Requirement,
    group_rows: GroupRows,
    seed: int,
    good: Runs,
    pool: Codes,
) -> tuple[Runs, Codes]:
    """Group the pool again and again. While there is no good group at all, ask for larger ones."""
    size, number = requirement.min_rows, 0
    while len(pool) >= size and (not good or len(pool) >= 2 * size):
        number += 1
        found, rest = _sorted_out(cells, requirement, group_rows(pool, size, _seed(seed, number)))
        if found:
            good, pool = joined([good, found]), rest
        elif good:
            break
        else:
            size = min(2 * size, len(pool)) if size < len(pool) else len(pool) + 1
    return good, pool


def _dealt(cells: Cells, requirement: Requirement, pool: Codes) -> tuple[Runs, Codes]:
    """Where near rows never hold together: groups that mix the sensitive values, as cards are dealt.

    Larger and larger ones, until some hold.
    """
    codes = [cells.sensitive[name][pool] for name in requirement.columns]
    by_value = pool[np.lexsort((pool, *codes))]
    size = requirement.min_rows
    while size <= len(pool):
        n = len(pool) // size
        group = np.arange(len(pool)) % n
        starts = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=n))])
        runs = Runs(by_value[np.argsort(group, kind="stable")], starts.astype(np.int64))
        good, rest = _sorted_out(cells, requirement, runs)
        if good:
            return good, rest
        size *= 2
    return Runs(pool[:0], np.zeros(1, np.int64)), pool


def holding_alone(cells: Cells, requirement: Requirement, grouping: Grouping) -> Grouping:
    """Without the groups that break a model once they are compared with the rows kept alone: models
    that compare groups with the table see it without suppressed rows, as everybody else does."""
    if not any(model.compares_with_table for model in requirement.models):
        return grouping
    every = Runs(*rows_by_group(grouping.group, grouping.n_groups))
    runs = _holding_alone(cells, requirement, every)
    if len(runs.starts) == len(every.starts):
        return grouping
    return replace(grouping, group=_numbered(runs, cells.n_rows), n_groups=len(runs.starts) - 1)


def _numbered(runs: Runs, n_rows: int) -> Codes:
    """(n_rows,) the group of each canonical row."""
    group = np.full(n_rows, SUPPRESSED, np.int32)
    group[runs.rows] = np.repeat(np.arange(len(runs.starts) - 1, dtype=np.int32), runs.sizes)
    return group


def _holding_alone(cells: Cells, requirement: Requirement, runs: Runs) -> Runs:
    """Without the groups that break a model once they are compared with the rows kept alone."""
    while runs and len(runs.rows) < cells.n_rows:
        totals = cells.totals_of_rows(runs.rows)
        held = requirement.holds(counts_of_runs(cells, requirement, *runs, totals))
        if held.all():
            break
        runs = chosen(runs, held)
    return runs


def insert(cells: Cells, requirement: Requirement, runs: Runs, left: Codes) -> Runs:
    """The groups with the rows left over, as far as they fit.

    Row by row in canonical order, each into the nearest group that holds with it; again from the
    start until no row moves.
    """
    if not runs or not len(left):
        return runs
    groups = _GrowingGroups(cells, requirement, runs)
    moved = True
    while moved:
        moved = False
        for row in left.tolist():
            if groups.take(row):
                moved = True
        left = left[~groups.inside[left]]
    return groups.runs()


class _GrowingGroups:
    """Groups that grow, and what is known of which rows they can take.

    Rows with the same sensitive values fit into the same groups. Whether they do is judged once for
    all groups, and afterwards only for those that have grown since.
    """

    def __init__(self, cells: Cells, requirement: Requirement, runs: Runs) -> None:
        self.cells, self.requirement, self.first = cells, requirement, runs
        self.n = len(runs.starts) - 1
        self.costs = costs_of(cells.domains)
        self.codes = np.repeat(cells.codes, cells.counts, axis=0)
        self.labels = empty_labels(self.costs, self.n)
        widen_all(self.labels, self.costs, self.codes, *runs)
        self.inside = np.zeros(cells.n_rows, np.bool_)
        self.inside[runs.rows] = True
        self.more: dict[int, list[int]] = {}
        self.grown: list[int] = []
        self.fits: dict[tuple[int, ...], Bools] = {}
        self.judged: dict[tuple[int, ...], int] = {}
        self.values = [cells.sensitive[name] for name in requirement.columns]

    def take(self, row: int) -> bool:
        """Put a row into the nearest group that holds with it; False where there is none."""
        allowed = self._allowed(row)
        g = nearest_label(self.labels, self.costs, self.codes[row], allowed)
        if g < 0:
            return False
        widen(self.labels, self.costs, g, self.codes[row])
        self.more.setdefault(g, []).append(row)
        self.grown.append(g)
        self.inside[row] = True
        return True

    def _allowed(self, row: int) -> Bools:
        key = tuple(int(values[row]) for values in self.values)
        if key not in self.fits:
            if (len(self.fits) + 1) * self.n > MOST_KEPT:
                self.fits.clear()
            self.fits[key] = self._holds_with(row, self.runs())
        elif self.judged[key] < len(self.grown):
            stale = np.unique(self.grown[self.judged[key] :])
            self.fits[key][stale] = self._holds_with(row, self._some(stale.tolist()))
        self.judged[key] = len(self.grown)
        return self.fits[key]

    def _holds_with(self, row: int, runs: Runs) -> Bools:
        """(g,) whether each group would hold with the row."""
        n = len(runs.starts) - 1
        joined = with_rows(runs, np.arange(n), np.full(n, row, np.int32), n)
        return self.requirement.holds(counts_of_runs(self.cells, self.requirement, *joined))

    def _some(self, groups: list[int]) -> Runs:
        rows, starts = self.first
        parts = [
            np.array([*rows[starts[g] : starts[g + 1]], *self.more[g]], np.int32) for g in groups
        ]
        ends = np.cumsum([len(part) for part in parts])
        return Runs(np.concatenate(parts), np.concatenate([[0], ends]).astype(np.int64))

    def runs(self) -> Runs:
        """The groups as they are now."""
        group = np.array([g for g, rows in self.more.items() for _ in rows], np.int64)
        rows = np.array([row for rows in self.more.values() for row in rows], np.int32)
        return with_rows(self.first, group, rows, self.n)
