"""What the label of a group covers, and what it costs.

The cost of a label is its loss (NCP: normalised certainty penalty) in whole numbers of 1/UNIT, so that
sums are the same in any order of addition.
"""

from typing import NamedTuple

import numpy as np

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


@kernel
def label_costs(costs: Costs, column: int, low: Ints, high: Ints, members: Ints) -> Ints:
    """(n,) loss of many labels of one column, see `label_cost`."""
    out = np.empty(len(low), np.int64)
    for i in range(len(low)):
        out[i] = label_cost(costs, column, low[i], high[i], members[i])
    return out


@kernel
def spans(
    codes: Codes,
    starts: Ints,
    group: Codes,
    n_groups: int,
) -> tuple[Ints, Codes, Codes]:
    """Size (g,), smallest (g, d) and largest (g, d) code of each group; suppressed rows are left out."""
    d = codes.shape[1]
    sizes = np.zeros(n_groups, np.int64)
    low = np.full((n_groups, d), np.iinfo(np.int32).max, np.int32)
    high = np.full((n_groups, d), -1, np.int32)
    for cell in range(len(codes)):
        last = -1
        for row in range(starts[cell], starts[cell + 1]):
            g = group[row]
            if g < 0:
                continue
            sizes[g] += 1
            if g == last:
                continue
            last = g
            for j in range(d):
                low[g, j] = min(low[g, j], codes[cell, j])
                high[g, j] = max(high[g, j], codes[cell, j])
    return sizes, low, high


@kernel
def members(
    codes: Codes,
    rows: Codes,
    row_starts: Ints,
    size: int,
) -> tuple[Ints, Codes]:
    """The distinct codes of one column in each group, ascending: (g + 1,) starts and the codes.

    `rows` lists the canonical rows group by group, `row_starts` where each group begins; `codes` is
    the column (n_rows,) in canonical order.
    """
    n_groups = len(row_starts) - 1
    seen = np.full(size, -1, np.int64)
    out_starts = np.zeros(n_groups + 1, np.int64)
    out = np.empty(len(rows), np.int32)
    at = 0
    for g in range(n_groups):
        begin = at
        for i in range(row_starts[g], row_starts[g + 1]):
            code = codes[rows[i]]
            if seen[code] != g:
                seen[code] = g
                out[at] = code
                at += 1
        out[begin:at].sort()
        out_starts[g + 1] = at
    return out_starts, out[:at].copy()
