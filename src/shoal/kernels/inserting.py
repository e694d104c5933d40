"""Insert single rows into the groups whose labels they widen least."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.costs import SET, Costs, label_cost
from shoal.kernels.jit import kernel


class Labels(NamedTuple):
    """What each group covers."""

    low: npt.NDArray[np.int32]
    """(g, d)"""
    high: npt.NDArray[np.int32]
    """(g, d)"""
    members: npt.NDArray[np.int64]
    """(g, d) members of each set."""
    bits: npt.NDArray[np.uint64]
    """(g, words) the members of all sets, a bit for each code."""


@kernel
def widen(labels: Labels, costs: Costs, g: int, codes: npt.NDArray[np.int32]) -> None:
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


@kernel
def widen_all(
    labels: Labels,
    costs: Costs,
    codes: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
) -> None:
    """Let each group cover its rows rows[starts[g]:starts[g+1]]."""
    for g in range(len(starts) - 1):
        for i in range(starts[g], starts[g + 1]):
            widen(labels, costs, g, codes[rows[i]])


@kernel
def nearest(
    labels: Labels,
    costs: Costs,
    codes: npt.NDArray[np.int32],
    allowed: npt.NDArray[np.bool_],
) -> int:
    """The allowed group whose label one row widens least; the first of equals; -1 if there is none."""
    best, found = np.iinfo(np.int64).max, -1
    for g in range(len(allowed)):
        if not allowed[g]:
            continue
        growth = 0
        for j in range(len(codes)):
            code, low, high = codes[j], labels.low[g, j], labels.high[g, j]
            members = labels.members[g, j]
            if costs.kind[j] == SET:
                at = costs.seen[j] + code
                if (labels.bits[g, at >> 6] >> np.uint64(at & 63)) & np.uint64(1) == 1:
                    continue
            elif low <= code <= high:
                continue
            growth += label_cost(costs, j, min(low, code), max(high, code), members + 1)
            growth -= label_cost(costs, j, low, high, members)
            if growth >= best:
                break
        if growth < best:
            best, found = growth, g
    return found
