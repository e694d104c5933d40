"""One pass of bottom-up merging: each open group joins the neighbour that adds least loss."""

from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.kernels.costs import SET, Costs, label_cost
from shoal.kernels.jit import kernel

NEVER = np.iinfo(np.int64).max
NEIGHBOURS = 32


class Herd(NamedTuple):
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
def label_of(herd: Herd, costs: Costs, g: int) -> int:
    """What the label of one group costs."""
    total = 0
    for j in range(herd.low.shape[1]):
        members = herd.end[g, j] - herd.begin[g, j]
        total += label_cost(costs, j, herd.low[g, j], herd.high[g, j], members)
    return total


@kernel
def label_all(herd: Herd, costs: Costs, n: int) -> None:
    """Work out the label cost of the first n groups."""
    for g in range(n):
        herd.loss[g] = label_of(herd, costs, g)


@kernel
def nearest(herd: Herd, costs: Costs, pool: Codes, g: int, marks: Ints) -> int:
    """The live group whose union with g adds least loss; the oldest of equals; -1 if g is alone.

    A union's label only grows from column to column, so a candidate is given up as soon as it has
    cost too much. The groups created right before and after g are looked at first: they are often
    near, and most others are then given up after a column or two.
    """
    low, high, size, loss = herd.low, herd.high, herd.size, herd.loss
    begin, end, kind, seen = herd.begin, herd.end, costs.kind, costs.seen
    d, n = low.shape[1], herd.used[0]
    for j in range(d):
        if kind[j] == SET:
            for at in range(begin[g, j], end[g, j]):
                marks[seen[j] + pool[at]] = g
    best, found = NEVER, -1
    mine, my_size = size[g] * loss[g], size[g]
    for step in range(-NEIGHBOURS, n):
        other = g + step + NEIGHBOURS // 2 if step < 0 else step
        if other < 0 or other >= n or size[other] == 0 or other == g:
            continue
        rows = my_size + size[other]
        before = mine + size[other] * loss[other]
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
def unite(
    herd: Herd,
    costs: Costs,
    pool: Codes,
    g: int,
    other: int,
    marks: Ints,
) -> None:
    """Make the union of two groups; the members of g are still marked."""
    union = herd.used[0]
    herd.used[0] += 1
    for j in range(herd.low.shape[1]):
        herd.low[union, j] = min(herd.low[g, j], herd.low[other, j])
        herd.high[union, j] = max(herd.high[g, j], herd.high[other, j])
        herd.begin[union, j] = herd.used[1]
        at = herd.used[1]
        if costs.kind[j] == SET:
            for i in range(herd.begin[g, j], herd.end[g, j]):
                pool[at] = pool[i]
                at += 1
            for i in range(herd.begin[other, j], herd.end[other, j]):
                if marks[costs.seen[j] + pool[i]] != g:
                    pool[at] = pool[i]
                    at += 1
        herd.end[union, j] = herd.used[1] = at
    herd.size[union] = herd.size[g] + herd.size[other]
    herd.size[g] = herd.size[other] = 0
    herd.into[g] = herd.into[other] = union
    herd.loss[union] = label_of(herd, costs, union)


@kernel
def merge(
    herd: Herd,
    costs: Costs,
    pool: Codes,
    open_groups: Ints,
    marks: Ints,
) -> int:
    """Merge the open groups one after another. Returns how many were treated: fewer than all when
    `pool` has no room left for the next union."""
    for i in range(len(open_groups)):
        g = open_groups[i]
        if herd.size[g] == 0:
            continue
        other = nearest(herd, costs, pool, g, marks)
        if other < 0:
            continue
        need = 0
        for j in range(herd.low.shape[1]):
            need += herd.end[g, j] - herd.begin[g, j] + herd.end[other, j] - herd.begin[other, j]
        if herd.used[1] + need > len(pool):
            return i
        unite(herd, costs, pool, g, other, marks)
    return len(open_groups)
