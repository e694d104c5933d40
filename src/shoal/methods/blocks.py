"""Run a method inside blocks of rows, each as if it were the whole table.

Clustering takes time that grows faster than the rows. In blocks it grows with the rows, and blocks
can be worked on apart from each other, for some more loss. The blocks are the groups of a rounded
partition: about `block_rows` neighbours each, and every one holds the requirement.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Annotated

import numpy as np
from pydantic import Field

from shoal.encoding.cells import Cells, subset
from shoal.encoding.grouping import SUPPRESSED, Grouping, rows_by_group
from shoal.errors import PolicyError, listed
from shoal.methods.base import Progress
from shoal.models.k import K
from shoal.models.requirement import Requirement

BlockRows = Annotated[int, Field(ge=2)] | None
"""How many rows a block has, about; None for one block of all rows."""
GroupBlock = Callable[[Cells, Requirement, int, Progress], Grouping]


def check_blocks(method: str, block_rows: int | None, requirement: Requirement) -> None:
    """Refuse models that a block cannot judge, since it does not know what others suppress."""
    found = [model.name for model in requirement.models if model.compares_with_table]
    if block_rows is not None and found:
        raise PolicyError(
            f"method: {method} with `block_rows` cannot honour {listed(found)}: rows suppressed in one "
            "block would change what every other is compared with. Leave `block_rows` out, or use "
            "least-loss-partition."
        )


def in_blocks(
    cells: Cells,
    requirement: Requirement,
    block_rows: int | None,
    seed: int,
    progress: Progress,
    group_block: GroupBlock,
) -> Grouping:
    """The groups of all blocks; without `block_rows` those of the table."""
    if block_rows is None:
        return group_block(cells, requirement, seed, progress)
    blocks = blocks_of(cells, requirement, block_rows)
    rows, starts = rows_by_group(blocks.group, blocks.n_groups)
    group = np.full(cells.n_rows, SUPPRESSED, np.int32)
    n_groups = 0
    for begin, end in pairwise(starts):
        part = subset(cells, rows[begin:end])

        def within(share: float, begin: int = begin, size: int = end - begin) -> None:
            progress((begin + share * size) / cells.n_rows)

        found = group_block(part, requirement, block_seed(part, seed), within)
        group[rows[begin:end]] = np.where(found.group >= 0, found.group + n_groups, SUPPRESSED)
        n_groups += found.n_groups
    return Grouping(group, n_groups, tuple(range(len(cells.domains))))


def blocks_of(cells: Cells, requirement: Requirement, block_rows: int) -> Grouping:
    """Neighbours in blocks of `block_rows` or somewhat more, each of which holds the requirement."""
    from shoal.encoding.domain import costs_of
    from shoal.kernels.partition import whole
    from shoal.methods.partition import WidestRounded, cut_down

    costs = costs_of(cells.domains)
    front = whole(cells.codes, cells.starts, costs.size, False)
    asked = block_requirement(requirement, block_rows)
    return cut_down(cells, asked, WidestRounded, front, costs, lambda _: None)


def block_requirement(requirement: Requirement, block_rows: int) -> Requirement:
    """What every block must hold."""
    return Requirement((*requirement.models, K(k=block_rows)), requirement.may_suppress)


def block_seed(block: Cells, seed: int) -> int:
    """A seed of its own, from the block alone: it is the same wherever the block is worked on."""
    from shoal.kernels.hashing import stir

    state = np.array([seed % (1 << 64)], np.uint64)
    for word in (block.n_rows, *block.codes[0].tolist()):
        stir(state, np.array([word], np.uint64))
    return int(state[0])
