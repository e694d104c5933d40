"""The loop that all partition methods share: propose cuts, ask the requirement, cut, repeat.

All open groups are treated in one round, so the requirement is asked a few dozen times with many
groups each, not once per group.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.domain import costs_of
from shoal.encoding.grouping import Grouping
from shoal.kernels.costs import Costs
from shoal.kernels.partition import (
    Cuts,
    Front,
    Plan,
    advance,
    side_counts,
    side_rows,
    sized_cuts,
    sized_losses,
    sort_along,
    whole,
    widths,
)
from shoal.methods.base import Progress, check_feasible, counts_of_runs
from shoal.models.requirement import Requirement
from shoal.threads import share

Totals = Mapping[str, Ints]


class Tries(Protocol):
    """The cuts a method would make in one round, best first."""

    def next(self, groups: Ints) -> Cuts:
        """The next cut for each of these groups; column -1 where there is none left."""


class Chooser(Protocol):
    """A partition method's rule: where to try to cut the groups of a front."""

    def __call__(self, front: Front, costs: Costs, min_rows: int) -> Tries:
        """The cuts to try, best first."""
        ...


@dataclass(frozen=True)
class Cutting:
    """A partition method's rule in full: for groups at hand, and for groups too large for that, of
    which only histograms are known. Both tell the same cuts in the same order.

    A method that has one offers it as `cutting()`.
    """

    chooser: Callable[[int], Chooser]
    """Where to try to cut the groups of a table of so many rows."""
    along_all: bool
    """Whether the chooser weighs all columns of a group before it chooses one."""
    below: Callable[[Ints, int], Ints] | None
    """From the rows of groups and the fewest a group may have: rows below a cut that may part equal
    values. None: cuts lie on the value boundary nearest to the middle."""
    by_loss: bool = False
    """Whether the columns are tried by rising loss of their cut; else the widest first."""
    boundaries_first: bool = False
    """Whether all value boundaries are tried before, by rising loss, column and place; from
    `lopsided_depth` on only those that leave a quarter of the rows on either side."""


def partition_by(
    cells: Cells, requirement: Requirement, cutting: Cutting, progress: Progress
) -> Grouping:
    """Cut the table top-down by a method's rule."""
    choose = cutting.chooser(cells.n_rows)
    return partition(cells, requirement, choose, progress, along_all=cutting.along_all)


def partition(
    cells: Cells,
    requirement: Requirement,
    choose: Chooser,
    progress: Progress,
    *,
    along_all: bool,
) -> Grouping:
    """Cut the table top-down by `choose` for as long as both sides of a cut hold the requirement.

    `along_all` is for choosers that weigh all columns of a group before they choose one.
    """
    check_feasible(cells, requirement)
    costs = costs_of(cells.domains)
    front = whole(cells.codes, cells.starts, costs.size, along_all)
    return cut_down(cells, requirement, choose, front, costs, progress)


def cut_down(
    cells: Cells,
    requirement: Requirement,
    choose: Chooser,
    front: Front,
    costs: Costs,
    progress: Progress,
    totals: Totals | None = None,
) -> Grouping:
    """Cut the groups of a front until none can be cut; rows outside the front stay suppressed.

    totals: what groups are compared with, where the cells are but a part of a table.
    """
    group = np.full(cells.n_rows, -1, np.int32)
    n_groups = 0
    least = requirement.min_rows
    while len(front.rows):
        tries = choose(front, costs, least)
        cuts = choose_cuts(cells, requirement, tries, front, least, totals)
        front, n_groups = _carry_out(front, cuts, least, group, n_groups)
        progress(1 - float(front.rows.sum()) / max(1, cells.n_rows))
    return Grouping(group, n_groups, tuple(range(len(cells.domains))))


def choose_cuts(
    cells: Cells,
    requirement: Requirement,
    tries: Tries,
    front: Front,
    least: int,
    totals: Totals | None = None,
) -> Cuts:
    """For each group of the front the first cut whose two sides hold, or none (column -1)."""
    n = len(front.rows)
    chosen = Cuts(np.full(n, -1, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64))
    open_groups = np.flatnonzero(front.rows >= 2 * least)
    while len(open_groups):
        cuts = tries.next(open_groups)
        held = _hold(cells, requirement, front, open_groups, cuts, totals)
        for kept, new in zip(chosen, cuts, strict=True):
            kept[open_groups[held]] = new[held]
        open_groups = open_groups[~held & (cuts.column >= 0)]
    return chosen


def _hold(
    cells: Cells,
    requirement: Requirement,
    front: Front,
    groups: Ints,
    cuts: Cuts,
    totals: Totals | None,
) -> Bools:
    """(n,) whether both sides of each cut hold the requirement; every try respects min_rows."""
    real = (cuts.column >= 0) & (cuts.pieces >= 0)
    if requirement.only_size or not real.any():
        return real
    rows, starts = side_rows(front, groups, cuts)
    held = requirement.holds(counts_of_runs(cells, requirement, rows, starts, totals))
    return real & held.reshape(-1, 2).all(axis=1)


def _carry_out(
    front: Front, cuts: Cuts, least: int, group: Codes, n_groups: int
) -> tuple[Front, int]:
    """Cut; sides that can be cut again form the next front, the others are finished groups."""
    n, d = len(front.rows), front.codes.shape[1]
    rows, pieces = side_counts(front, cuts, 0, n)
    cut = cuts.column >= 0
    goes_on = cut[:, None] & (rows >= 2 * least)
    ends = ~goes_on & (rows > 0)
    numbers = np.where(ends, n_groups - 1 + np.cumsum(ends).reshape(n, 2), -1)
    lengths = pieces[goes_on]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    place = np.full((n, 2), -1, np.int64)
    place[goes_on] = starts[:-1]
    total = int(starts[-1])
    after = Front(
        starts,
        np.empty((total, d), np.int32),
        np.empty(total, np.int32),
        np.empty(total, np.int32),
        np.empty((len(front.order), total), np.int32),
        rows[goes_on],
        np.repeat(front.depth + 1, 2).reshape(n, 2)[goes_on],
        front.along_all,
    )
    plan = Plan(place, numbers)
    share(np.diff(front.starts), lambda a, b: advance(front, cuts, plan, after, group, a, b))
    return after, n_groups + int(ends.sum())


# Try the columns of a group one after another, in a given order.


PlaceCut = Callable[[Ints, Ints], Cuts]
"""Given groups and a column for each: the cut there (pieces -1 where the column has none)."""


class Ranked:
    """Tries the columns by rising rank; equal ranks in the policy's order of columns."""

    def __init__(self, front: Front, ranks: Ints, place: PlaceCut) -> None:
        """`ranks` is (g, d)."""
        self._front = front
        self._columns = np.argsort(ranks, axis=1, kind="stable")
        self._tried = np.zeros(len(ranks), np.int64)
        self._place = place

    def next(self, groups: Ints) -> Cuts:
        """The cut along each group's next column."""
        tried = self._tried[groups]
        left = tried < self._columns.shape[1]
        column = np.where(left, self._columns[groups, np.where(left, tried, 0)], -1)
        self._tried[groups] += 1
        if not self._front.along_all:
            work = np.diff(self._front.starts)[groups]
            share(work, lambda a, b: sort_along(self._front, groups, column, a, b))
        return self._place(groups, column)


def by_width(front: Front, costs: Costs) -> Ints:
    """(g, d) ranks that put the column first in which the group's label is widest."""
    out = np.empty((len(front.rows), front.codes.shape[1]), np.int64)
    share(np.diff(front.starts), lambda a, b: widths(front, costs, a, b, out))
    return -out


def cut_at(front: Front, below: Ints) -> PlaceCut:
    """Cuts that leave exactly below[g] rows below, equal values on both sides where need be."""

    def place(groups: Ints, column: Ints) -> Cuts:
        cuts = Cuts(column, np.zeros_like(column), np.zeros_like(column))
        sized_cuts(front, groups, column, below[groups], cuts.pieces, cuts.extra)
        return cuts

    return place


# The rounded cut and the two ways to choose its column.


def rows_below(rows: Ints, k: int) -> Ints:
    """The paper's rounded partition function: ⌈a/2⌉k + ⌈b/2⌉ of n = ak + b rows."""
    a, b = np.divmod(rows, k)
    return (a + 1) // 2 * k + (b + 1) // 2


class LeastLossRounded(Ranked):
    """Rounded cuts, the column with the least loss first."""

    def __init__(
        self, front: Front, costs: Costs, min_rows: int, wanted: Ints | None = None
    ) -> None:
        """Only the groups `wanted` are prepared for (all when left out)."""
        self._below = rows_below(front.rows, min_rows)
        self._costs = costs
        groups = np.arange(len(front.rows)) if wanted is None else wanted
        self._ranked = np.zeros(len(front.rows), np.bool_)
        losses = self._losses(front, groups, every=False)
        super().__init__(front, losses, cut_at(front, self._below))

    def next(self, groups: Ints) -> Cuts:
        """The next column; the order of all but the first is worked out when it is asked for."""
        again = groups[(self._tried[groups] > 0) & ~self._ranked[groups]]
        if len(again):
            losses = self._losses(self._front, again, every=True)
            self._columns[again] = np.argsort(losses[again], axis=1, kind="stable")
            self._ranked[again] = True
        return super().next(groups)

    def _losses(self, front: Front, groups: Ints, every: bool) -> Ints:
        below = np.zeros_like(self._below)
        below[groups] = self._below[groups]
        loss = np.zeros((len(below), front.codes.shape[1]), np.int64)
        work = np.diff(front.starts) * (below > 0)
        costs = self._costs
        share(work, lambda a, b: sized_losses(front, costs, below, every, a, b, loss))
        return loss


class WidestRounded(Ranked):
    """Rounded cuts, the column with the widest label first."""

    def __init__(self, front: Front, costs: Costs, min_rows: int) -> None:
        super().__init__(
            front, by_width(front, costs), cut_at(front, rows_below(front.rows, min_rows))
        )
