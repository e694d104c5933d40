"""One pass of bottom-up merging: each open group joins the neighbour that adds least loss."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.costs import SET, Costs, label_cost
from shoal.kernels.jit import kernel

NEVER = np.iinfo(np.int64).max


class Herd(NamedTuple):
    """Groups in the order of their creation; room for twice as many, since a union is a new group."""

    size: npt.NDArray[np.int64]
    """(2g,) rows; 0 for a group that was merged away or does not exist yet."""
    low: npt.NDArray[np.int32]
    """(2g, d)"""
    high: npt.NDArray[np.int32]
    """(2g, d)"""
    loss: npt.NDArray[np.int64]
    """(2g,) what the group's label costs."""
    begin: npt.NDArray[np.int64]
    """(2g, d) where the members of each set begin in `pool`."""
    end: npt.NDArray[np.int64]
    """(2g, d) and where they end."""
    into: npt.NDArray[np.int64]
    """(2g,) the union a group went into, or -1."""
    used: npt.NDArray[np.int64]
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
def nearest(
    herd: Herd, costs: Costs, pool: npt.NDArray[np.int32], g: int, marks: npt.NDArray[np.int64]
) -> int:
    """The live group whose union with g adds least loss; the oldest of equals; -1 if g is alone.

    The union's loss only grows from column to column, so most candidates are given up early.
    """
    d = herd.low.shape[1]
    for j in range(d):
        if costs.kind[j] == SET:
            for at in range(herd.begin[g, j], herd.end[g, j]):
                marks[costs.seen[j] + pool[at]] = g
    best, found = NEVER, -1
    mine = herd.size[g] * herd.loss[g]
    for other in range(herd.used[0]):
        if herd.size[other] == 0 or other == g:
            continue
        rows = herd.size[g] + herd.size[other]
        before = mine + herd.size[other] * herd.loss[other]
        label = 0
        for j in range(d):
            low = min(herd.low[g, j], herd.low[other, j])
            high = max(herd.high[g, j], herd.high[other, j])
            members = 0
            if costs.kind[j] == SET:
                members = herd.end[g, j] - herd.begin[g, j]
                for at in range(herd.begin[other, j], herd.end[other, j]):
                    members += marks[costs.seen[j] + pool[at]] != g
            label += label_cost(costs, j, low, high, members)
            if rows * label - before >= best:
                break
        else:
            best, found = rows * label - before, other
    return found


@kernel
def unite(
    herd: Herd,
    costs: Costs,
    pool: npt.NDArray[np.int32],
    g: int,
    other: int,
    marks: npt.NDArray[np.int64],
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
    pool: npt.NDArray[np.int32],
    open_groups: npt.NDArray[np.int64],
    marks: npt.NDArray[np.int64],
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
