"""Labels of groups: what they cover, what they cost, and what one more row adds to that.

The cost of a label is its loss (NCP: normalised certainty penalty), weighed by the importance of the
column, in whole numbers of 1/UNIT (`encoding/domain.py`), so that sums are the same in any order of
addition.
"""

from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.kernels.jit import in_place, inlined, inner, kernel
from shoal.kernels.sorting import sort_codes

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
    most: Ints
    """(d,) loss of the column's widest label."""


@inlined
def label_cost(costs: Costs, column: int, low: int, high: int, members: int) -> int:
    """Loss of the label over codes low..high, of which `members` are present (used for sets)."""
    if low == high:
        return 0
    base = costs.base[column]
    if costs.kind[column] == RANGE:
        return min(costs.most[column], costs.cost[base + high] - costs.cost[base + low])
    if costs.kind[column] == SET:
        return costs.cost[base + members]
    return tree_cost(costs, column, low, high)


@inner
def tree_cost(costs: Costs, column: int, low: int, high: int) -> int:
    """Loss of the lowest node over both codes."""
    at = costs.base[column]
    size = costs.size[column]
    for _ in range(costs.levels[column]):
        if costs.node[at + low] == costs.node[at + high]:
            return costs.cost[at + low]
        at += size
    return costs.most[column]


def label_costs(costs: Costs, column: int, low: Ints, high: Ints, members: Ints) -> Ints:
    """(n,) loss of many labels of one column, see `label_cost`."""
    out = np.empty(len(low), np.int64)
    _label_costs(costs, column, low, high, members, out)
    return out


@in_place
def _label_costs(
    costs: Costs, column: int, low: Ints, high: Ints, members: Ints, out: Ints
) -> None:
    for i in range(len(low)):
        out[i] = label_cost(costs, column, low[i], high[i], members[i])


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
    _spans(codes, starts, group, sizes, low, high)
    return sizes, low, high


@in_place
def _spans(codes: Codes, starts: Ints, group: Codes, sizes: Ints, low: Codes, high: Codes) -> None:
    """`spans`, written to arrays of groups without rows."""
    d = codes.shape[1]
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
    out_starts, out = np.zeros(len(row_starts), np.int64), np.empty(len(rows), np.int32)
    at = _members(codes, rows, row_starts, np.full(size, -1, np.int64), out_starts, out)
    return out_starts, out[:at].copy()


@in_place
def _members(
    codes: Codes, rows: Codes, row_starts: Ints, seen: Ints, out_starts: Ints, out: Codes
) -> int:
    """`members`, written to arrays with room for all rows; returns how many there are.

    seen: (size,) -1.
    """
    at = 0
    for g in range(len(row_starts) - 1):
        begin = at
        for i in range(row_starts[g], row_starts[g + 1]):
            code = codes[rows[i]]
            if seen[code] != g:
                seen[code] = g
                out[at] = code
                at += 1
        sort_codes(out[begin:at], at - begin)
        out_starts[g + 1] = at
    return at


class GroupLabels(NamedTuple):
    """Labels that grow row by row, of several groups."""

    low: Codes
    """(g, d) the smallest code."""
    high: Codes
    """(g, d) the largest code."""
    members: Ints
    """(g, d) members of each set."""
    bits: Words
    """(g, words) the members of all sets, a bit for each code."""


@kernel
def empty_labels(costs: Costs, n: int) -> GroupLabels:
    """Labels of n groups without rows."""
    d = len(costs.kind)
    return GroupLabels(
        np.full((n, d), np.iinfo(np.int32).max, np.int32),
        np.full((n, d), -1, np.int32),
        np.zeros((n, d), np.int64),
        np.zeros((n, costs.seen[d] // 64 + 1), np.uint64),
    )


@inner
def clear_label(labels: GroupLabels, g: int) -> None:
    """Let a group cover nothing again."""
    labels.low[g] = np.iinfo(np.int32).max
    labels.high[g] = -1
    labels.members[g] = 0
    labels.bits[g] = 0


@in_place
def widen(labels: GroupLabels, costs: Costs, g: int, codes: Codes) -> None:
    """Let a group cover one more row."""
    for j in range(len(codes)):
        code = codes[j]
        labels.low[g, j] = min(labels.low[g, j], code)
        labels.high[g, j] = max(labels.high[g, j], code)
        if costs.kind[j] == SET:
            at = costs.seen[j] + code
            bit = np.uint64(1) << np.uint64(at & 63)
            if labels.bits[g, at >> 6] & bit == 0:
                labels.bits[g, at >> 6] |= bit
                labels.members[g, j] += 1


@in_place
def widen_all(labels: GroupLabels, costs: Costs, codes: Codes, rows: Codes, starts: Ints) -> None:
    """Let each group cover its rows rows[starts[g]:starts[g+1]]."""
    for g in range(len(starts) - 1):
        for i in range(starts[g], starts[g + 1]):
            widen(labels, costs, g, codes[rows[i]])


@in_place
def growth(labels: GroupLabels, costs: Costs, g: int, codes: Codes, limit: int) -> int:
    """What one more row adds to the cost of a group's label; `limit` or more where it is so much."""
    total = 0
    for j in range(len(codes)):
        code, low, high = codes[j], labels.low[g, j], labels.high[g, j]
        members = labels.members[g, j]
        if costs.kind[j] == SET:
            at = costs.seen[j] + code
            if (labels.bits[g, at >> 6] >> np.uint64(at & 63)) & np.uint64(1) == 1:
                continue
        elif low <= code <= high:
            continue
        total += label_cost(costs, j, min(low, code), max(high, code), members + 1)
        total -= label_cost(costs, j, low, high, members)
        if total >= limit:
            break
    return total


@in_place
def nearest_label(labels: GroupLabels, costs: Costs, codes: Codes, allowed: Bools) -> int:
    """The allowed group to whose label one row adds least; the first of equals; -1 if there is none."""
    best, found = np.iinfo(np.int64).max, -1
    for g in range(len(allowed)):
        if allowed[g]:
            cost = growth(labels, costs, g, codes, best)
            if cost < best:
                best, found = cost, g
    return found
