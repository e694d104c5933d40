"""Bottom-up: start from single rows, merge what is too small."""

from typing import ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.domain import costs_of
from shoal.encoding.grouping import Grouping, rows_by_group, spans_of
from shoal.errors import Infeasible, PolicyError
from shoal.kernels.jit import kernel
from shoal.kernels.labels import SET, Costs, label_cost
from shoal.methods.base import Method, Progress, check_feasible, counts_of_runs
from shoal.methods.partition import LEAST_LOSS_ROUNDED, cut_down, groups_of
from shoal.methods.repair import Runs, chosen
from shoal.methods.top_down import Splitter
from shoal.models.requirement import Requirement

STRIDE = 256
"""Groups merged between two reports of progress."""
MOST_CELLS = 200_000
"""Different rows that a table may have: the time grows with their square."""
NEVER = np.iinfo(np.int64).max
NEIGHBOURS = 32
"""Groups created around the same time that are looked at first."""


@dataclass(frozen=True)
class BottomUp(Method):
    """Bottom-up: every row is a group at first; a group that does not hold merges with its nearest.

    The nearest group is the one that makes NCP grow least. After each pass over the groups those of
    2k rows or more are split by rounded cuts. Takes time with the square of the distinct rows, and
    refuses tables with more than 200,000 of them.

    Source: Xu et al., "Utility-based anonymization using local recoding", 2006. Equal rows start as
    one group: the paper would merge them first anyway, at no cost. By default growth and rounded cuts
    replace its rule for merging, `nearest: union`, and the split of its top-down method, `split: ends`.
    """

    later_options: ClassVar[frozenset[str]] = frozenset({"nearest", "split"})

    nearest: Literal["growth", "union"] = "growth"
    """Which group is the nearest: the one that makes NCP grow least, or the one with which it forms the
    union of the least NCP (as published)."""
    split: Literal["rounded", "ends"] = "rounded"
    """How a group of 2k rows or more is split: by rounded cuts, or in two from the two farthest rows,
    and so on, as `top-down` does (the split of the same paper's top-down method)."""

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """Merge until every group holds."""
        if cells.n_cells > MOST_CELLS:
            raise PolicyError(
                f"method: bottom-up compares every different row with all others, and the table has "
                f"{cells.n_cells:,} different rows: that would take hours. It is meant for at most "
                f"{MOST_CELLS:,}. Use k-clustering or least-loss-partition."
            )
        check_feasible(cells, requirement)
        costs = costs_of(cells.domains)
        columns = tuple(range(len(cells.domains)))
        group = np.repeat(np.arange(cells.n_cells, dtype=np.int32), cells.counts)
        splitter = Splitter(cells, lambda _: None) if self.split == "ends" else None
        group = _split(cells, requirement, group, splitter)
        at_first = 0
        while True:
            grouping = Grouping(group, int(group.max()) + 1, columns)
            open_groups = np.flatnonzero(~_held(cells, requirement, grouping))
            at_first = max(at_first, len(open_groups))
            if not len(open_groups):
                return (grouping,)
            if grouping.n_groups == 1:
                raise Infeasible(
                    "Even one group of all rows does not hold the policy's constraints: loosen them."
                )
            done = 1 - len(open_groups) / at_first

            def report(share: float, done: float = done) -> None:
                progress(done + (1 - done) * share)

            group = merge_with_nearest(
                cells, grouping, open_groups, costs, report, by_union=self.nearest == "union"
            )
            group = _split(cells, requirement, group, splitter)


def _held(cells: Cells, requirement: Requirement, grouping: Grouping) -> Bools:
    rows, starts = rows_by_group(grouping.group, grouping.n_groups)
    return requirement.holds(counts_of_runs(cells, requirement, rows, starts))


def merge_with_nearest(
    cells: Cells,
    grouping: Grouping,
    open_groups: Ints,
    costs: Costs,
    progress: Progress,
    *,
    by_union: bool = False,
) -> Codes:
    """Each open group, in the order of creation, joins its nearest group.

    by_union: nearest is what makes the union of the least NCP, not what makes NCP grow least.
    """
    forest, pool = _forest(cells, grouping)
    label_groups(forest, costs, grouping.n_groups)
    marks = np.full(costs.seen[-1], -1, np.int64)
    at = 0
    while at < len(open_groups):
        wanted = open_groups[at : at + STRIDE]
        done = merge_groups(forest, costs, pool, wanted, marks, by_union)
        at += done
        if done < len(wanted):
            pool = np.concatenate([pool, np.empty_like(pool)])
        progress(at / len(open_groups))
    last = np.arange(len(forest.into))
    for g in range(int(forest.used[0]) - 1, -1, -1):
        if forest.into[g] >= 0:
            last[g] = last[forest.into[g]]
    return _renumbered(last[grouping.group])


def _forest(cells: Cells, grouping: Grouping) -> "tuple[MergeForest, Codes]":
    spans = spans_of(cells, grouping)
    n, d = spans.low.shape
    begin, end = np.zeros((2 * n, d), np.int64), np.zeros((2 * n, d), np.int64)
    pools, used = [np.empty(0, np.int32)], 0
    for j, (starts, codes) in spans.sets.items():
        begin[:n, j], end[:n, j] = starts[:-1] + used, starts[1:] + used
        pools.append(codes)
        used += len(codes)
    pool = np.concatenate([*pools, np.empty(used + 1024, np.int32)])
    forest = MergeForest(
        size=np.concatenate([spans.sizes, np.zeros(n, np.int64)]),
        low=np.concatenate([spans.low, spans.low]),
        high=np.concatenate([spans.high, spans.high]),
        loss=np.zeros(2 * n, np.int64),
        begin=begin,
        end=end,
        into=np.full(2 * n, -1, np.int64),
        used=np.array([n, used], np.int64),
    )
    return forest, pool


def _renumbered(numbers: npt.NDArray[np.integer]) -> Codes:
    """0, 1, 2, … in the order of the numbers."""
    return np.unique(numbers, return_inverse=True)[1].astype(np.int32)


def _split(
    cells: Cells, requirement: Requirement, group: Codes, splitter: Splitter | None
) -> Codes:
    """Replace groups of 2k rows or more by their parts, where there is more than one: those of a split
    from two ends, or of the rounded partition where there is no splitter.

    Parts are created after all others: group by group, inside one by their first row.
    """
    large = np.bincount(group) >= 2 * requirement.min_rows
    if not large.any():
        return group
    if splitter is None:
        open_groups = groups_of(cells, group, large)
        cut = cut_down(cells, requirement, LEAST_LOSS_ROUNDED, open_groups, lambda _: None)
        parts = cut.group.astype(np.int64)
    else:
        parts = _split_from_ends(cells, requirement, group, large, splitter)
    inside = np.flatnonzero(parts >= 0)
    if not len(inside):
        return group
    # the first row of each part, and the group it came from, give its place
    _, first, part = np.unique(parts[inside], return_index=True, return_inverse=True)
    came_from = group[inside[first]]
    alone = np.bincount(came_from, minlength=len(large))[came_from] == 1
    order = np.lexsort((inside[first], came_from))
    created = np.empty(len(order), np.int64)
    created[order] = np.arange(len(order)) + len(large)
    numbers = group.astype(np.int64)
    numbers[inside] = np.where(alone, came_from, created)[part]
    return _renumbered(numbers)


def _split_from_ends(
    cells: Cells, requirement: Requirement, group: Codes, large: Bools, splitter: Splitter
) -> Ints:
    """(n_rows,) the part of each row of a large group, or -1 where the group stays whole.

    A group is split while it has 2k rows and both sides hold; where it begins follows from its first
    row, so that nothing is random.
    """
    parts, n_parts = np.full(cells.n_rows, -1, np.int64), 0
    groups = chosen(Runs(*rows_by_group(group, len(large))), large)
    states = groups.rows[groups.starts[:-1]].astype(np.uint64)
    while len(states):
        sides, states = splitter.halves(groups, states, requirement.min_rows)
        held = requirement.holds(counts_of_runs(cells, requirement, sides.rows, sides.starts))
        both = np.repeat(held.reshape(-1, 2).all(axis=1), 2)
        sides, states = chosen(sides, both), states[both]
        parts[sides.rows] = n_parts + np.repeat(np.arange(len(states)), sides.sizes)
        n_parts += len(states)
        again = sides.sizes >= 2 * requirement.min_rows
        groups, states = chosen(sides, again), states[again]
    return parts


class MergeForest(NamedTuple):
    """Groups in the order of their creation; room for twice as many, since a union is a new group."""

    size: Ints
    """(2g,) rows; 0 for a group that was merged away or does not exist yet."""
    low: Codes
    """(2g, d)"""
    high: Codes
    """(2g, d)"""
    loss: Ints
    """(2g,) what the group's label costs."""
    begin: Ints
    """(2g, d) where the members of each set begin in `pool`."""
    end: Ints
    """(2g, d) and where they end."""
    into: Ints
    """(2g,) the union a group went into, or -1."""
    used: Ints
    """(2,) groups created so far, pool entries used so far."""


@kernel
def _label_cost(forest: MergeForest, costs: Costs, g: int) -> int:
    """What the label of one group costs."""
    total = 0
    for j in range(forest.low.shape[1]):
        members = forest.end[g, j] - forest.begin[g, j]
        total += label_cost(costs, j, forest.low[g, j], forest.high[g, j], members)
    return total


@kernel
def label_groups(forest: MergeForest, costs: Costs, n: int) -> None:
    """Work out the label cost of the first n groups."""
    for g in range(n):
        forest.loss[g] = _label_cost(forest, costs, g)


@kernel
def _nearest(
    forest: MergeForest, costs: Costs, pool: Codes, g: int, marks: Ints, by_union: bool
) -> int:
    """The live group whose union with g adds (or, by union, has) least loss; the oldest of equals; -1 if
    g is alone.

    A union's label only grows from column to column, so a candidate is given up as soon as it has
    cost too much. The groups created right before and after g are looked at first: they are often
    near, and most others are then given up after a column or two.
    """
    low, high, size, loss = forest.low, forest.high, forest.size, forest.loss
    begin, end, kind, seen = forest.begin, forest.end, costs.kind, costs.seen
    d, n = low.shape[1], forest.used[0]
    for j in range(d):
        if kind[j] == SET:
            for at in range(begin[g, j], end[g, j]):
                marks[seen[j] + pool[at]] = g
    best, found = NEVER, -1
    mine, my_size = 0 if by_union else size[g] * loss[g], size[g]
    for step in range(-NEIGHBOURS, n):
        other = g + step + NEIGHBOURS // 2 if step < 0 else step
        if other < 0 or other >= n or size[other] == 0 or other == g:
            continue
        rows = my_size + size[other]
        before = 0 if by_union else mine + size[other] * loss[other]
        most = NEVER if found < 0 else best + before
        if rows * loss[other] > most:
            continue
        label = 0
        for j in range(d):
            a, b = low[other, j], high[other, j]
            members = 0
            if kind[j] == SET:
                members = end[g, j] - begin[g, j]
                if a == b:
                    members += marks[seen[j] + a] != g
                else:
                    for at in range(begin[other, j], end[other, j]):
                        members += marks[seen[j] + pool[at]] != g
            a, b = min(a, low[g, j]), max(b, high[g, j])
            label += label_cost(costs, j, a, b, members)
            if rows * label > most:
                break
        growth = rows * label - before
        if growth < best or (growth == best and other < found):
            best, found = growth, other
    return found


@kernel
def _unite(
    forest: MergeForest,
    costs: Costs,
    pool: Codes,
    g: int,
    other: int,
    marks: Ints,
) -> None:
    """Make the union of two groups; the members of g are still marked."""
    union = forest.used[0]
    forest.used[0] += 1
    for j in range(forest.low.shape[1]):
        forest.low[union, j] = min(forest.low[g, j], forest.low[other, j])
        forest.high[union, j] = max(forest.high[g, j], forest.high[other, j])
        forest.begin[union, j] = forest.used[1]
        at = forest.used[1]
        if costs.kind[j] == SET:
            for i in range(forest.begin[g, j], forest.end[g, j]):
                pool[at] = pool[i]
                at += 1
            for i in range(forest.begin[other, j], forest.end[other, j]):
                if marks[costs.seen[j] + pool[i]] != g:
                    pool[at] = pool[i]
                    at += 1
        forest.end[union, j] = forest.used[1] = at
    forest.size[union] = forest.size[g] + forest.size[other]
    forest.size[g] = forest.size[other] = 0
    forest.into[g] = forest.into[other] = union
    forest.loss[union] = _label_cost(forest, costs, union)


@kernel
def merge_groups(
    forest: MergeForest,
    costs: Costs,
    pool: Codes,
    open_groups: Ints,
    marks: Ints,
    by_union: bool,
) -> int:
    """Merge the open groups one after another. Returns how many were treated: fewer than all when
    `pool` has no room left for the next union."""
    for i in range(len(open_groups)):
        g = open_groups[i]
        if forest.size[g] == 0:
            continue
        other = _nearest(forest, costs, pool, g, marks, by_union)
        if other < 0:
            continue
        need = 0
        for j in range(forest.low.shape[1]):
            need += (
                forest.end[g, j]
                - forest.begin[g, j]
                + forest.end[other, j]
                - forest.begin[other, j]
            )
        if forest.used[1] + need > len(pool):
            return i
        _unite(forest, costs, pool, g, other, marks)
    return len(open_groups)
