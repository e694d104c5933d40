"""What a label costs: the loss (NCP) of one generalised cell, in whole numbers of 1/UNIT."""

from typing import NamedTuple

from shoal.arrays import Codes, Ints
from shoal.kernels.jit import inlined, kernel

UNIT = 1 << 28
RANGE, SET, TREE = 0, 1, 2


class Costs(NamedTuple):
    """Per column, the tables from which a label's loss is read."""

    kind: Ints
    """(d,) RANGE, SET or TREE."""
    size: Ints
    """(d,) number of codes."""
    levels: Ints
    """(d,) TREE: rows of its matrix; else 1."""
    base: Ints
    """(d,) where the column's part of the next two arrays begins."""
    cost: Ints
    """RANGE: place of each code. SET: loss of a set of 0..size members. TREE: loss of the node above
    a code, at base + level * size + code."""
    node: Codes
    """TREE: the node above a code, laid out like its loss."""
    seen: Ints
    """(d + 1,) where the column's marks begin when a kernel marks the members of sets."""


@inlined
def label_cost(costs: Costs, column: int, low: int, high: int, members: int) -> int:
    """Loss of the label over codes low..high, of which `members` are present (used for sets)."""
    if low == high:
        return 0
    base = costs.base[column]
    if costs.kind[column] == RANGE:
        return min(UNIT, costs.cost[base + high] - costs.cost[base + low])
    if costs.kind[column] == SET:
        return costs.cost[base + members]
    return tree_cost(costs, column, low, high)


@kernel
def tree_cost(costs: Costs, column: int, low: int, high: int) -> int:
    """Loss of the lowest node over both codes."""
    at = costs.base[column]
    size = costs.size[column]
    for _ in range(costs.levels[column]):
        if costs.node[at + low] == costs.node[at + high]:
            return costs.cost[at + low]
        at += size
    return UNIT
