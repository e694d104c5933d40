"""Run a method inside blocks of rows, each as if it were the whole table.

Clustering takes time that grows faster than the rows. In blocks it grows with the rows, and blocks can
be processed independently, for some more loss. The blocks are the groups of a rounded partition: about
`block_rows` neighbours each, and every one satisfies the requirement.
"""

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np

from shoal.encoding.cells import Cells, subset
from shoal.encoding.grouping import SUPPRESSED, Grouping, rows_by_group
from shoal.errors import PolicyError
from shoal.kernels.jit import mix
from shoal.methods.base import Method, Progress
from shoal.methods.partition import WIDEST_ROUNDED, cut_down, whole_table
from shoal.methods.people import LabelsOf, covering_labels, grouped_together, settled
from shoal.methods.refinement import loss_of, refined
from shoal.methods.stronger import TINY_ROWS, Found
from shoal.models.k import K
from shoal.models.requirement import Requirement
from shoal.seeds import LARGE, derived

AGAIN, LONGER = 8, 4
"""So many refined groupings of a tiny table are refined again, with so many times the passes."""


def group_rows(
    method: Method,
    cells: Cells,
    requirement: Requirement,
    seed: int,
    progress: Progress,
    labels_as_read: LabelsOf = covering_labels,
) -> tuple[Grouping, ...]:
    """Run a method on a table: block by block where it has `block_rows`.

    Where people are counted, or labels have another form than ranges and groups that hold may not
    hold together, published classes are looked at again: see `methods/people.py`.
    """
    if requirement.together:
        alone = replace(requirement, together=False)
        people = partial(group_blocks, method, seed=seed, progress=progress)
        return (grouped_together(cells, alone, people, progress, labels_as_read),)
    groupings = group_blocks(method, cells, requirement, seed, progress)
    if requirement.holds_when_merged or len(groupings) != 1:
        return groupings
    (only,) = groupings
    covers = labels_as_read is covering_labels
    if covers and (only.levels is not None or not requirement.counts_people):
        return groupings  # groups at fixed levels never share all of their nodes
    return (settled(cells, requirement, only, labels_as_read),)


def refine_rows(
    method: Method,
    cells: Cells,
    requirement: Requirement,
    groupings: tuple[Grouping, ...],
    passes: int,
    seed: int,
    progress: Progress,
    labels_as_read: LabelsOf = covering_labels,
    *,
    n_rows: int | None = None,
) -> tuple[Grouping, ...]:
    """Rearrange the rows of a method's groups, see `methods/refinement.py`: inside its blocks where it
    has `block_rows`. n_rows: of the whole table, where the cells are but a part of it.

    Where people are counted, or groups that hold may not hold together, the published classes are
    looked at again, and the groups stay as they were if nothing is won.
    """
    if len(groupings) != 1 or groupings[0].levels is not None:
        raise PolicyError(
            f"refine: the method {method.name} fixes the labels of its groups, so their rows cannot "
            "change places. Leave `refine` out, or use another method."
        )
    (before,) = groupings
    if method.block_rows is None:
        after = _refined_best(method, cells, requirement, before, passes, seed, progress)
    else:
        alone = is_one_block(method.block_rows, n_rows or cells.n_rows)
        after = _refined_blocks(method, cells, requirement, before, passes, seed, progress, alone)
    if not requirement.holds_when_merged:
        after = settled(cells, requirement, after, labels_as_read)
        if loss_of(cells, after, method.weights) >= loss_of(cells, before, method.weights):
            return groupings
    return (after,)


def _refined_best(
    method: Method,
    cells: Cells,
    requirement: Requirement,
    grouping: Grouping,
    passes: int,
    seed: int,
    progress: Progress,
) -> Grouping:
    """The best that was refined from the groups, or from one of the method's other starts.

    In a tiny table the best of those are refined once more, for longer: there luck decides much.
    """

    def lost(some: Grouping) -> tuple[int, int]:
        """The loss, and the suppressed rows: where columns have no importance, these lose nothing."""
        return loss_of(cells, some, method.weights), int((some.group == SUPPRESSED).sum())

    def better(required: Requirement, start: Grouping, often: int, key: int) -> Found:
        found = refined(cells, required, start, often, key, lambda _: progress(0), method.weights)
        return required, found

    may = requirement.may_suppress
    starts = {grouping.group.tobytes(): (requirement, grouping)}
    starts |= {
        start.group.tobytes(): (required, start)
        for required, start in method.starts(cells, requirement)
        if may is None or int((start.group == SUPPRESSED).sum()) <= may
    }
    if len(starts) == 1:
        return refined(cells, requirement, grouping, passes, seed, progress, method.weights)
    found = [better(*start, passes, seed) for start in starts.values()]
    if cells.n_rows <= TINY_ROWS:
        distinct = {one[1].group.tobytes(): one for one in found}
        found = sorted(distinct.values(), key=lambda one: lost(one[1]))[:AGAIN]
        key = derived(seed, "refine again")
        found = [better(*one, LONGER * passes, key) for one in found]
    progress(1.0)
    return min((one for _, one in found), key=lost)


def _refined_blocks(
    method: Method,
    cells: Cells,
    requirement: Requirement,
    grouping: Grouping,
    passes: int,
    seed: int,
    progress: Progress,
    alone: bool,
) -> Grouping:
    assert method.block_rows is not None
    blocks = blocks_of(cells, requirement, method.block_rows)
    rows, starts = rows_by_group(blocks.group, blocks.n_groups)
    group = np.full(cells.n_rows, SUPPRESSED, np.int32)
    n_groups = 0
    for begin, end in pairwise(starts):
        mine = rows[begin:end]
        block = cells if len(mine) == cells.n_rows else subset(cells, mine)

        def within(share: float, begin: int = begin, size: int = end - begin) -> None:
            progress((begin + share * size) / cells.n_rows)

        found, dense = np.unique(grouping.group[mine], return_inverse=True)
        hidden = int(found[0] == SUPPRESSED)
        its = Grouping(
            dense.reshape(-1).astype(np.int32) - np.int32(hidden),
            len(found) - hidden,
            grouping.columns,
        )
        key = seed if alone else block_seed(block, seed)
        its = _refined_best(method, block, requirement, its, passes, key, within)
        group[mine] = np.where(its.group >= 0, its.group + n_groups, SUPPRESSED)
        n_groups += its.n_groups
    return replace(grouping, group=group, n_groups=n_groups)


def group_blocks(
    method: Method,
    cells: Cells,
    requirement: Requirement,
    seed: int,
    progress: Progress,
    *,
    n_rows: int | None = None,
) -> tuple[Grouping, ...]:
    """Run a method on a table, block by block where it has `block_rows`, and nothing more.

    n_rows: of the whole table, where the cells are but a part of it.
    """
    if method.block_rows is None or is_one_block(method.block_rows, n_rows or cells.n_rows):
        return method.group(cells, requirement, seed, progress)
    blocks = blocks_of(cells, requirement, method.block_rows)
    rows, starts = rows_by_group(blocks.group, blocks.n_groups)
    group = np.full(cells.n_rows, SUPPRESSED, np.int32)
    n_groups = 0
    for begin, end in pairwise(starts):
        block = subset(cells, rows[begin:end])

        def within(share: float, begin: int = begin, size: int = end - begin) -> None:
            progress((begin + share * size) / cells.n_rows)

        (found,) = method.group(block, requirement, block_seed(block, seed), within)
        group[rows[begin:end]] = np.where(found.group >= 0, found.group + n_groups, SUPPRESSED)
        n_groups += found.n_groups
    return (Grouping(group, n_groups, tuple(range(len(cells.domains)))),)


def is_one_block(block_rows: int, n_rows: int) -> bool:
    """Whether a table has too few rows to be cut into blocks: it is then grouped as if there were
    none."""
    return n_rows < 2 * block_rows


def blocks_of(cells: Cells, requirement: Requirement, block_rows: int) -> Grouping:
    """Neighbours in blocks of `block_rows` or somewhat more, each of which holds the requirement."""
    if is_one_block(block_rows, cells.n_rows):
        columns = tuple(range(len(cells.domains)))
        return Grouping(np.zeros(cells.n_rows, np.int32), 1, columns)
    groups = whole_table(cells, sort_all=WIDEST_ROUNDED.compares_losses)
    required = block_requirement(requirement, block_rows)
    return cut_down(cells, required, WIDEST_ROUNDED, groups, lambda _: None)


def block_requirement(requirement: Requirement, block_rows: int) -> Requirement:
    """What every block must satisfy."""
    return replace(requirement, models=(*requirement.models, K(k=block_rows)))


def block_seed(block: Cells, seed: int) -> int:
    """A seed for a block, from the block alone: it is the same wherever the block is processed."""
    words = (block.n_rows, *block.codes[0].tolist())
    if seed >= LARGE:
        return derived(seed, "block", *words)
    state = seed % (1 << 64)
    for word in words:
        state = int(mix(np.uint64(state), np.uint64(word)))
    return state
