"""The loop that all partition methods share: propose cuts, ask the requirement, cut, repeat.

All open groups are treated in one round, so the requirement is asked a few dozen times with many
groups each, not once per group.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from shoal.cells.cells import Cells
from shoal.cells.costs import costs_of
from shoal.cells.grouping import Grouping
from shoal.kernels.costs import Costs
from shoal.kernels.front import Cuts, Front, Plan, advance, side_counts, side_rows, whole
from shoal.methods._asking import counts_of_runs
from shoal.methods.base import Progress, check_feasible
from shoal.models.requirement import Requirement
from shoal.threads import share

Ints = npt.NDArray[np.int64]
Totals = Mapping[str, Ints]


class Tries(Protocol):
    """The cuts a method would make in one round, best first."""

    def next(self, groups: Ints) -> Cuts:
        """The next cut for each of these groups; column -1 where there is none left."""


class Chooser(Protocol):
    """A partition method's rule: where to try to cut the groups of a front."""

    def __call__(self, front: Front, costs: Costs, min_rows: int) -> Tries: ...


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
) -> npt.NDArray[np.bool_]:
    """(n,) whether both sides of each cut hold the requirement; every try respects min_rows."""
    real = (cuts.column >= 0) & (cuts.pieces >= 0)
    if requirement.only_size or not real.any():
        return real
    rows, starts = side_rows(front, groups, cuts)
    held = requirement.holds(counts_of_runs(cells, requirement, rows, starts, totals))
    return real & held.reshape(-1, 2).all(axis=1)


def _carry_out(
    front: Front, cuts: Cuts, least: int, group: npt.NDArray[np.int32], n_groups: int
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
