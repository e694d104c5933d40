"""Top-down partition: cut groups in two for as long as both sides satisfy the requirement.

All open groups are treated in one round: a rule names a cut for each, the requirement judges both sides
of all cuts at once, groups whose cut failed get the next one that the rule names, then all cuts are
made. So there are a few dozen judgements of many groups, not one for each group.

A rule sees groups through `CuttableGroups` and does not know whether rows are in memory (here) or only
histograms of them (`methods/partition_histograms.py`, for tables larger than memory): a method is
written once and makes the same cuts either way.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.counts import Reference
from shoal.encoding.domain import costs_of
from shoal.encoding.grouping import Grouping
from shoal.kernels.labels import Costs
from shoal.kernels.partition import (
    Cuts,
    OpenGroups,
    Plan,
    advance,
    best_boundaries,
    count_boundaries,
    median_boundaries,
    middle_boundaries,
    rank_boundaries,
    side_counts,
    side_rows,
    sized_cuts,
    sized_losses,
    sort_along,
    stable_order,
    widths,
)
from shoal.methods.base import Method, Progress, check_feasible, counts_of_runs
from shoal.models.requirement import Requirement
from shoal.threads import share

Totals = Mapping[str, Reference]
"""Per sensitive column, how often each value occurs in the whole table."""


class CutOrder(Protocol):
    """The cuts that a rule would make in one round, best first."""

    def next(self, numbers: Ints) -> Cuts:
        """The next cut of each of these groups; column -1 where there is none left."""


class CuttableGroups(ABC):
    """Groups that may still be cut, as a rule sees them."""

    rows: Ints
    """(g,) rows of each group."""
    depth: Ints
    """(g,) how many cuts led to it."""
    n_columns: int

    @abstractmethod
    def widths(self) -> Ints:
        """(g, d) what each column of the groups' own labels costs."""

    @abstractmethod
    def middle_cuts(self, numbers: Ints, column: Ints, least: int) -> Cuts:
        """Of some groups, the boundary between two values that is nearest to the middle (the lower of
        two), along a column each; none where a side would have fewer than `least` rows."""

    @abstractmethod
    def median_cuts(self, numbers: Ints, column: Ints, least: int) -> Cuts:
        """Of some groups, the boundary right above the median (of two medians the lower), along a column
        each; none where a side would have fewer than `least` rows."""

    @abstractmethod
    def sized_cuts(self, numbers: Ints, column: Ints, below: Ints) -> Cuts:
        """Of some groups, the cut with exactly below[i] rows below, through equal values if need be."""

    @abstractmethod
    def sized_losses(self, numbers: Ints, below: Ints, *, every: bool) -> Ints:
        """(n, d) what such a cut loses along each column; unless `every` loss is wanted, only the least
        is certain to be right."""

    @abstractmethod
    def boundaries(self, least: Ints) -> CutOrder:
        """The boundaries between two values, of all columns, that leave least[g] rows on either side,
        by rising loss, then column, then position."""


@dataclass(frozen=True)
class PartitionRule:
    """Where a partition method cuts."""

    cuts: Callable[[CuttableGroups, int, int], CutOrder]
    """From the open groups, the fewest rows that a group may have and the rows of the whole table: the
    cuts to try."""
    compares_losses: bool
    """Whether losses of cuts are compared, and so all columns of a group looked at; else the widest
    column comes first."""


class PartitionMethod(Method):
    """A method that only cuts top-down by a rule."""

    @abstractmethod
    def partition_rule(self) -> PartitionRule:
        """The rule."""

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """Cut the table top-down by the rule."""
        check_feasible(cells, requirement)
        rule = self.partition_rule()
        groups = whole_table(cells, sort_all=rule.compares_losses)
        return (cut_down(cells, requirement, rule, groups, progress),)


class RankedColumns:
    """Tries the columns by rising rank; equal ranks in the policy's order of columns."""

    def __init__(self, ranks: Ints, place: Callable[[Ints, Ints], Cuts]) -> None:
        """ranks: (g, d). place: from groups and a column for each, the cuts there."""
        self.columns = np.argsort(ranks, axis=1, kind="stable")
        self.tried = np.zeros(len(ranks), np.int64)
        self._place = place

    def next(self, numbers: Ints) -> Cuts:
        """The cut along each group's next column."""
        tried = self.tried[numbers]
        left = tried < self.columns.shape[1]
        column = np.where(left, self.columns[numbers, np.where(left, tried, 0)], -1)
        self.tried[numbers] += 1
        return self._place(numbers, column)


class LeastLossColumns:
    """Cuts with below[g] rows below, the column that loses least first."""

    def __init__(self, groups: CuttableGroups, below: Ints) -> None:
        self._groups, self._below = groups, below
        ranks = np.zeros((len(below), groups.n_columns), np.int64)
        self._ranked = RankedColumns(
            ranks, lambda numbers, column: groups.sized_cuts(numbers, column, below[numbers])
        )

    def next(self, numbers: Ints) -> Cuts:
        """The next column; the order of all but the first is worked out when it is needed."""
        for tried, every in ((0, False), (1, True)):
            new = numbers[self._ranked.tried[numbers] == tried]
            if len(new):
                losses = self._groups.sized_losses(new, self._below[new], every=every)
                self._ranked.columns[new] = np.argsort(losses, axis=1, kind="stable")
        return self._ranked.next(numbers)


class ListedCuts:
    """Cuts along value boundaries that are listed group by group, best first."""

    def __init__(self, starts: Ints, column: Codes | Ints, position: Codes | Ints) -> None:
        """starts: (g + 1,) the cuts of group i are starts[i]..starts[i+1]."""
        self._column, self._position = column, position
        self._at, self._end = starts[:-1].copy(), starts[1:]

    def next(self, numbers: Ints) -> Cuts:
        """The next cut of each group."""
        cuts = no_cuts(len(numbers))
        left = self._at[numbers] < self._end[numbers]
        at = self._at[numbers[left]]
        cuts.column[left], cuts.position[left] = self._column[at], self._position[at]
        self._at[numbers] += 1
        return cuts


class Successively:
    """The cuts of one order, then those of another."""

    def __init__(self, first: CutOrder, then: CutOrder) -> None:
        self._first, self._then = first, then

    def next(self, numbers: Ints) -> Cuts:
        """The next cut of the first order that has one left."""
        cuts = self._first.next(numbers)
        out = np.flatnonzero(cuts.column < 0)
        if len(out):
            for into, new in zip(cuts, self._then.next(numbers[out]), strict=True):
                into[out] = new
        return cuts


def no_cuts(n: int) -> Cuts:
    """Room for n cuts, none yet."""
    return Cuts(np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.zeros(n, np.int64))


def rows_below(rows: Ints, k: int) -> Ints:
    """The rounded partition function: ⌈a/2⌉k + ⌈b/2⌉ of n = ak + b rows."""
    a, b = np.divmod(rows, k)
    return (a + 1) // 2 * k + (b + 1) // 2


def least_loss_rounded(groups: CuttableGroups, min_rows: int, n_rows: int) -> CutOrder:
    """Rounded cuts, the column that loses least first."""
    return LeastLossColumns(groups, rows_below(groups.rows, min_rows))


def widest_rounded(groups: CuttableGroups, min_rows: int, n_rows: int) -> CutOrder:
    """Rounded cuts, the column with the widest label first."""
    return widest_sized(groups, rows_below(groups.rows, min_rows))


def widest_sized(groups: CuttableGroups, below: Ints) -> CutOrder:
    """Cuts with below[g] rows below, the column with the widest label first."""
    return RankedColumns(
        -groups.widths(),
        lambda numbers, column: groups.sized_cuts(numbers, column, below[numbers]),
    )


LEAST_LOSS_ROUNDED = PartitionRule(least_loss_rounded, compares_losses=True)
WIDEST_ROUNDED = PartitionRule(widest_rounded, compares_losses=False)


def choose_cuts(
    order: CutOrder, n_groups: int, numbers: Ints, hold: Callable[[Ints, Cuts], Bools]
) -> Cuts:
    """For each of some groups the first cut that holds, for all others none (column -1).

    hold: from groups and a cut for each (position -1 for none), whether it is one and both its sides
    satisfy the requirement; every rule respects the fewest rows of a group.
    """
    chosen = no_cuts(n_groups)
    while len(numbers):
        cuts = order.next(numbers)
        held = hold(numbers, cuts)
        for kept, new in zip(chosen, cuts, strict=True):
            kept[numbers[held]] = new[held]
        numbers = numbers[~held & (cuts.column >= 0)]
    return chosen


def whole_table(cells: Cells, *, sort_all: bool, depth: int = 0) -> OpenGroups:
    """The whole table as one open group.

    sort_all: whether the group is kept sorted along all columns. depth: how many cuts led to it, where
    the cells are but a part of a table.
    """
    n, d = cells.codes.shape
    order = np.empty((d if sort_all else 1, n), np.int32)
    if sort_all:
        for j in range(d):
            stable_order(cells.codes[:, j], order[j])
    return OpenGroups(
        np.array([0, n], np.int64),
        cells.codes,
        cells.starts[:-1].astype(np.int32),
        np.diff(cells.starts).astype(np.int32),
        order,
        np.array([cells.starts[-1]], np.int64),
        np.full(1, depth, np.int64),
        sort_all,
    )


def groups_of(cells: Cells, group: Codes, chosen: Bools) -> OpenGroups:
    """Some of the groups of a table as open groups, to be cut further.

    group: (n_rows,) the group of each row. chosen: (g,) which of them.
    """
    cell = np.repeat(np.arange(cells.n_cells), cells.counts)
    new = np.ones(cells.n_rows, np.bool_)
    new[1:] = (cell[1:] != cell[:-1]) | (group[1:] != group[:-1])
    first = np.flatnonzero(new)
    weight = np.diff(np.append(first, cells.n_rows))
    taken = chosen[group[first]]
    first, weight = first[taken], weight[taken]
    by_group = np.argsort(group[first], kind="stable")
    first, weight = first[by_group], weight[by_group]
    owner = group[first]
    codes = cells.codes[cell[first]]
    starts = np.append(np.flatnonzero(np.diff(owner, prepend=-1)), len(owner)).astype(np.int64)
    local = np.arange(len(owner)) - np.repeat(starts[:-1], np.diff(starts))
    order = np.stack(
        [local[np.lexsort((local, codes[:, j], owner))] for j in range(codes.shape[1])]
    )
    rows = np.add.reduceat(weight, starts[:-1])
    return OpenGroups(
        starts,
        codes,
        first.astype(np.int32),
        weight.astype(np.int32),
        order.astype(np.int32),
        rows.astype(np.int64),
        np.zeros(len(rows), np.int64),
        True,
    )


def cut_down(
    cells: Cells,
    requirement: Requirement,
    rule: PartitionRule,
    groups: OpenGroups,
    progress: Progress,
    *,
    n_rows: int | None = None,
    totals: Totals | None = None,
) -> Grouping:
    """Cut open groups until none can be cut; rows outside of them stay suppressed.

    n_rows, totals: where the cells are but a part of a table, its rows and what groups are compared
    with.
    """
    group = np.full(cells.n_rows, -1, np.int32)
    n_groups = 0
    least, costs = requirement.min_rows, costs_of(cells.domains)

    def hold(numbers: Ints, cuts: Cuts) -> Bools:
        real = (cuts.column >= 0) & (cuts.position >= 0)
        if requirement.only_size or not real.any():
            return real
        rows, starts = side_rows(groups, numbers, cuts)
        held = requirement.holds(counts_of_runs(cells, requirement, rows, starts, totals))
        return real & held.reshape(-1, 2).all(axis=1)

    while len(groups.rows):
        order = rule.cuts(GroupsInMemory(groups, costs), least, n_rows or cells.n_rows)
        large = np.flatnonzero(groups.rows >= 2 * least)
        cuts = choose_cuts(order, len(groups.rows), large, hold)
        groups, n_groups = _carry_out(groups, cuts, least, group, n_groups)
        progress(1 - float(groups.rows.sum()) / max(1, cells.n_rows))
    return Grouping(group, n_groups, tuple(range(len(cells.domains))))


def _carry_out(
    groups: OpenGroups, cuts: Cuts, least: int, group: Codes, n_groups: int
) -> tuple[OpenGroups, int]:
    """Cut; sides that can be cut again are the next open groups, the others are finished."""
    n, d = len(groups.rows), groups.codes.shape[1]
    rows, pieces = side_counts(groups, cuts)
    cut = cuts.column >= 0
    goes_on = cut[:, None] & (rows >= 2 * least)
    ends = ~goes_on & (rows > 0)
    numbers = np.where(ends, n_groups - 1 + np.cumsum(ends).reshape(n, 2), -1)
    starts = np.concatenate([[0], np.cumsum(pieces[goes_on])]).astype(np.int64)
    place = np.full((n, 2), -1, np.int64)
    place[goes_on] = starts[:-1]
    total = int(starts[-1])
    after = OpenGroups(
        starts,
        np.empty((total, d), np.int32),
        np.empty(total, np.int32),
        np.empty(total, np.int32),
        np.empty((len(groups.order), total), np.int32),
        rows[goes_on],
        np.repeat(groups.depth + 1, 2).reshape(n, 2)[goes_on],
        groups.along_all,
    )
    plan = Plan(place, numbers)
    share(np.diff(groups.starts), lambda a, b: advance(groups, cuts, plan, after, group, a, b))
    return after, n_groups + int(ends.sum())


class GroupsInMemory(CuttableGroups):
    """Groups whose rows are in memory."""

    def __init__(self, groups: OpenGroups, costs: Costs) -> None:
        self._groups, self._costs = groups, costs
        self.rows, self.depth = groups.rows, groups.depth
        self.n_columns = groups.codes.shape[1]

    def widths(self) -> Ints:
        """(g, d) what each column of the groups' own labels costs."""
        every = np.arange(len(self.rows))
        out = np.empty((len(every), self.n_columns), np.int64)
        share(
            np.diff(self._groups.starts),
            lambda a, b: widths(self._groups, self._costs, every, a, b, out),
        )
        return out

    def middle_cuts(self, numbers: Ints, column: Ints, least: int) -> Cuts:
        """The boundaries nearest to the middle."""
        cuts = self._along(numbers, column)
        middle_boundaries(self._groups, numbers, least, cuts)
        return cuts

    def median_cuts(self, numbers: Ints, column: Ints, least: int) -> Cuts:
        """The boundaries right above the median."""
        cuts = self._along(numbers, column)
        median_boundaries(self._groups, numbers, least, cuts)
        return cuts

    def sized_cuts(self, numbers: Ints, column: Ints, below: Ints) -> Cuts:
        """The cuts with exactly below[i] rows below."""
        cuts = self._along(numbers, column)
        sized_cuts(self._groups, numbers, below, cuts)
        return cuts

    def sized_losses(self, numbers: Ints, below: Ints, *, every: bool) -> Ints:
        """(n, d) what such cuts lose."""
        out = np.zeros((len(numbers), self.n_columns), np.int64)
        share(
            self._work(numbers),
            lambda a, b: sized_losses(self._groups, self._costs, numbers, below, every, a, b, out),
        )
        return out

    def boundaries(self, least: Ints) -> CutOrder:
        """The boundaries by rising loss."""
        return _BoundariesInMemory(self._groups, self._costs, least)

    def _work(self, numbers: Ints) -> Ints:
        return np.diff(self._groups.starts)[numbers]

    def _along(self, numbers: Ints, column: Ints) -> Cuts:
        """Cuts to be placed along these columns, the groups being sorted along them."""
        if not self._groups.along_all:
            share(
                self._work(numbers),
                lambda a, b: sort_along(self._groups, numbers, column, a, b),
            )
        return Cuts(column, np.zeros_like(column), np.zeros_like(column))


class _BoundariesInMemory:
    """The best boundary of each group; all others are ranked when some best one breaks a model."""

    def __init__(self, groups: OpenGroups, costs: Costs, least: Ints) -> None:
        self._groups, self._costs, self._least = groups, costs, least
        self._started = False
        self._others: CutOrder | None = None

    def next(self, numbers: Ints) -> Cuts:
        """The next best boundary of each group."""
        if not self._started:
            self._started = True
            return self._best(numbers)
        if self._others is None:
            self._others = self._ranked(numbers)
            self._others.next(numbers)  # the best one, which has been tried
        return self._others.next(numbers)

    def _best(self, numbers: Ints) -> Cuts:
        cuts, least = no_cuts(len(numbers)), self._least[numbers]
        share(
            np.diff(self._groups.starts)[numbers],
            lambda a, b: best_boundaries(
                self._groups, self._costs, numbers, least, a, b, cuts.column, cuts.position
            ),
        )
        return cuts

    def _ranked(self, numbers: Ints) -> ListedCuts:
        least = self._least[numbers]
        counts = np.zeros(len(self._least), np.int64)
        counts[numbers] = count_boundaries(self._groups, numbers, least)
        every = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        starts = np.append(every[numbers], every[-1])
        column, position = np.empty(every[-1], np.int32), np.empty(every[-1], np.int32)
        share(
            np.diff(self._groups.starts)[numbers],
            lambda a, b: rank_boundaries(
                self._groups, self._costs, numbers, least, starts, a, b, column, position
            ),
        )
        return ListedCuts(every, column, position)
