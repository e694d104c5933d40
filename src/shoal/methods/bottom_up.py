"""Bottom-up merging: passes of merges, with a split of what grew too large after each."""

import numpy as np
import numpy.typing as npt
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.domain import costs_of
from shoal.encoding.grouping import Grouping, rows_by_group, spans_of
from shoal.errors import Infeasible
from shoal.kernels.costs import Costs
from shoal.kernels.merging import Herd, label_all, merge
from shoal.kernels.partition import Front
from shoal.methods.base import Progress, check_feasible, counts_of_runs
from shoal.methods.partition import LeastLossRounded, cut_down
from shoal.models.requirement import Requirement

STRIDE = 256
"""Codes merged between two signs of life."""


def merge_up(cells: Cells, requirement: Requirement, progress: Progress) -> Grouping:
    """Merge until every group holds."""
    check_feasible(cells, requirement)
    costs = costs_of(cells.domains)
    columns = tuple(range(len(cells.domains)))
    group = np.repeat(np.arange(cells.n_cells, dtype=np.int32), cells.counts)
    group = _split(cells, requirement, group, costs)
    at_first = 0
    while True:
        grouping = Grouping(group, int(group.max()) + 1, columns)
        open_groups = np.flatnonzero(~_held(cells, requirement, grouping))
        at_first = max(at_first, len(open_groups))
        if not len(open_groups):
            return grouping
        if grouping.n_groups == 1:
            raise Infeasible(
                "Even one group of all rows does not hold the policy's constraints: loosen them."
            )
        done = 1 - len(open_groups) / at_first
        part = len(open_groups) / at_first
        group = _pass(cells, grouping, open_groups, costs, lambda f: progress(done + part * f))  # noqa: B023
        group = _split(cells, requirement, group, costs)


def _held(cells: Cells, requirement: Requirement, grouping: Grouping) -> Bools:
    rows, starts = rows_by_group(grouping.group, grouping.n_groups)
    return requirement.holds(counts_of_runs(cells, requirement, rows, starts))


def _pass(
    cells: Cells, grouping: Grouping, open_groups: Ints, costs: Costs, progress: Progress
) -> Codes:
    """Each open group, in the order of creation, joins its nearest group."""
    herd, pool = _herd(cells, grouping)
    label_all(herd, costs, grouping.n_groups)
    marks = np.full(costs.seen[-1], -1, np.int64)
    at = 0
    while at < len(open_groups):
        wanted = open_groups[at : at + STRIDE]
        done = merge(herd, costs, pool, wanted, marks)
        at += done
        if done < len(wanted):
            pool = np.concatenate([pool, np.empty_like(pool)])
        progress(at / len(open_groups))
    last = np.arange(len(herd.into))
    for g in range(int(herd.used[0]) - 1, -1, -1):
        if herd.into[g] >= 0:
            last[g] = last[herd.into[g]]
    return _renumbered(last[grouping.group])


def _herd(cells: Cells, grouping: Grouping) -> tuple[Herd, Codes]:
    spans = spans_of(cells, grouping)
    n, d = spans.low.shape
    begin, end = np.zeros((2 * n, d), np.int64), np.zeros((2 * n, d), np.int64)
    pools, used = [np.empty(0, np.int32)], 0
    for j, (starts, codes) in spans.sets.items():
        begin[:n, j], end[:n, j] = starts[:-1] + used, starts[1:] + used
        pools.append(codes)
        used += len(codes)
    pool = np.concatenate([*pools, np.empty(used + 1024, np.int32)])
    herd = Herd(
        size=np.concatenate([spans.sizes, np.zeros(n, np.int64)]),
        low=np.concatenate([spans.low, spans.low]),
        high=np.concatenate([spans.high, spans.high]),
        loss=np.zeros(2 * n, np.int64),
        begin=begin,
        end=end,
        into=np.full(2 * n, -1, np.int64),
        used=np.array([n, used], np.int64),
    )
    return herd, pool


def _renumbered(numbers: npt.NDArray[np.integer]) -> Codes:
    """0, 1, 2, … in the order of the numbers."""
    return np.unique(numbers, return_inverse=True)[1].astype(np.int32)


def _split(cells: Cells, requirement: Requirement, group: Codes, costs: Costs) -> Codes:
    """Replace groups of 2k rows or more by their rounded partition, where it has more than one part.

    Parts are created after all others: group by group, inside one by their first row.
    """
    large = np.bincount(group) >= 2 * requirement.min_rows
    if not large.any():
        return group
    front = _front(cells, group, large)
    parts = cut_down(cells, requirement, LeastLossRounded, front, costs, lambda _: None)
    inside = np.flatnonzero(parts.group >= 0)
    # the first row of each part, and the group it came from, give its place
    _, first = np.unique(parts.group[inside], return_index=True)
    came_from = group[inside[first]]
    alone = np.bincount(came_from, minlength=len(large))[came_from] == 1
    order = np.lexsort((inside[first], came_from))
    created = np.empty(len(order), np.int64)
    created[order] = np.arange(len(order)) + len(large)
    numbers = group.astype(np.int64)
    numbers[inside] = np.where(alone, came_from, created)[parts.group[inside]]
    return _renumbered(numbers)


def _front(cells: Cells, group: Codes, large: Bools) -> Front:
    """The open front that holds the large groups."""
    cell = np.repeat(np.arange(cells.n_cells), cells.counts)
    new = np.ones(cells.n_rows, np.bool_)
    new[1:] = (cell[1:] != cell[:-1]) | (group[1:] != group[:-1])
    first = np.flatnonzero(new)
    weight = np.diff(np.append(first, cells.n_rows))
    taken = large[group[first]]
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
    return Front(
        starts,
        codes,
        first.astype(np.int32),
        weight.astype(np.int32),
        order.astype(np.int32),
        rows.astype(np.int64),
        np.zeros(len(rows), np.int64),
        True,
    )


# Bottom-up: start from single rows, merge what is too small.


@dataclass(frozen=True)
class BottomUp:
    """Bottom-up: every row is a group at first; a group that does not hold merges with its nearest.

    The nearest group is the one that makes NCP grow least. After each pass over the groups those of
    2k rows or more are split by rounded cuts. Takes time with the square of the distinct rows: for
    tables of up to some 100,000 of them.

    Source: Xu et al., "Utility-based anonymization using local recoding", 2006. Equal rows start as
    one group: the paper would merge them first anyway, at no cost.
    """

    def group(
        self,
        cells: Cells,
        requirement: Requirement,
        seed: int,  # noqa: ARG002 - nothing here is random
        progress: Progress,
    ) -> tuple[Grouping, ...]:
        """Codes by merging."""

        return (merge_up(cells, requirement, progress),)
