"""Split groups in two from the two ends of each, the way of top-down clustering."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.kernels.jit import inlined, kernel, mix, number
from shoal.kernels.labels import RANGE, SET, UNIT, Costs, label_cost, tree_cost

ROUNDS = 3
"""Searches for the farthest row before the two ends are taken."""
LARGE, LOPSIDED = 48, 8
"""A group of more than LARGE times k rows may not shed less than 1/LOPSIDED of them: shedding k rows
at a time would take time with the square of the rows."""
STEPS = 16
"""A side that is too small is filled in at most so many steps, each by what is then nearest."""


class Sides(NamedTuple):
    """The labels of the two sides of one split."""

    low: Codes
    """(2, d)"""
    high: Codes
    """(2, d)"""
    members: Ints
    """(2, d) members of each set."""
    marks: Ints
    """(2, codes of all sets) the number of the split that last saw the code on that side."""


@kernel
def _cost(costs: Costs, j: int, low: int, high: int, members: int) -> int:
    if low == high:
        return 0
    base = costs.base[j]
    if costs.kind[j] == RANGE:
        return min(UNIT, costs.cost[base + high] - costs.cost[base + low])
    if costs.kind[j] == SET:
        return costs.cost[base + members]
    return tree_cost(costs, j, low, high)


@inlined
def _below(state: np.uint64, n: int) -> int:
    return np.int64(state % np.uint64(n))  # type: ignore[return-value] # signed, as places are


@kernel
def pair_cost(codes: Codes, costs: Costs, a: int, b: int) -> int:
    """What the label over two rows costs."""
    total = 0
    for j in range(codes.shape[1]):
        x, y = codes[a, j], codes[b, j]
        if x != y:
            total += _cost(costs, j, min(x, y), max(x, y), 2)
    return total


@kernel
def _farthest(codes: Codes, costs: Costs, rows: Codes, start: int) -> int:
    """The place in `rows` of the row farthest from that at `start`; the first of equals."""
    best, found = -1, start
    for i in range(len(rows)):
        if i != start:
            cost = pair_cost(codes, costs, rows[start], rows[i])
            if cost > best:
                best, found = cost, i
    return found


@kernel
def _growth(codes: Codes, costs: Costs, sides: Sides, side: int, split: int, row: int) -> int:
    """What a row adds to the cost of a side's label."""
    total = 0
    for j in range(codes.shape[1]):
        code = codes[row, j]
        low, high = sides.low[side, j], sides.high[side, j]
        if costs.kind[j] == SET:
            if sides.marks[side, costs.seen[j] + code] != split:
                members, base = sides.members[side, j], costs.base[j]
                total += costs.cost[base + members + 1] - costs.cost[base + members]
        elif code < low or code > high:
            total += _cost(costs, j, min(low, code), max(high, code), 0)
            total -= _cost(costs, j, low, high, 0)
    return total


@kernel
def _join(codes: Codes, costs: Costs, sides: Sides, side: int, split: int, row: int) -> None:
    """Widen a side's label to cover a row."""
    for j in range(codes.shape[1]):
        code = codes[row, j]
        if costs.kind[j] == SET and sides.marks[side, costs.seen[j] + code] != split:
            sides.marks[side, costs.seen[j] + code] = split
            sides.members[side, j] += 1
        sides.low[side, j] = min(sides.low[side, j], code)
        sides.high[side, j] = max(sides.high[side, j], code)


@kernel
def _split(
    codes: Codes,
    costs: Costs,
    sides: Sides,
    rows: Codes,
    k: int,
    state: np.uint64,
    split: int,
    side_of: npt.NDArray[np.int8],
    order: Codes,
) -> None:
    """Write to `side_of` which side each of the rows goes to."""
    n = len(rows)
    state = mix(state, np.uint64(n))
    first = _below(state, n)
    second = _farthest(codes, costs, rows, first)
    for _ in range(ROUNDS - 1):
        first, second = second, _farthest(codes, costs, rows, second)
    for side in range(2):
        seed = rows[second] if side else rows[first]
        for j in range(codes.shape[1]):
            sides.low[side, j] = sides.high[side, j] = codes[seed, j]
            sides.members[side, j] = 0
        _join(codes, costs, sides, side, split, seed)
    m = 0
    for i in range(n):
        if i != first and i != second:
            order[m] = i
            m += 1
    side_of[first], side_of[second] = 0, 1
    size = np.ones(2, np.int64)
    for i in range(m - 1, -1, -1):
        # the next of a random order: any of those not yet taken
        state = mix(state, np.uint64(i))
        pick = _below(state, i + 1)
        at = order[pick]
        order[pick] = order[i]
        one = _growth(codes, costs, sides, number(0), split, rows[at])
        other = _growth(codes, costs, sides, number(1), split, rows[at])
        side = 1 if other < one or (other == one and size[1] < size[0]) else 0
        side_of[at] = side
        size[side] += 1
        _join(codes, costs, sides, side, split, rows[at])
    small = 0 if size[0] < size[1] else 1
    if n > LARGE * k and size[small] * LOPSIDED < n:
        _halve(codes, costs, rows, first, second, side_of)
    elif size[small] < k:
        _fill(codes, costs, sides, rows, k - size[small], small, split, side_of, order)


@kernel
def _halve(
    codes: Codes,
    costs: Costs,
    rows: Codes,
    first: int,
    second: int,
    side_of: npt.NDArray[np.int8],
) -> None:
    """The half of the rows that leans most to one end goes there; the first of equals."""
    lean = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        lean[i] = pair_cost(codes, costs, rows[first], rows[i])
        lean[i] -= pair_cost(codes, costs, rows[second], rows[i])
    order = np.argsort(lean, kind="mergesort")
    for i in range(len(rows)):
        side_of[order[i]] = 0 if 2 * i < len(rows) else 1


@kernel
def _fill(
    codes: Codes,
    costs: Costs,
    sides: Sides,
    rows: Codes,
    need: int,
    small: int,
    split: int,
    side_of: npt.NDArray[np.int8],
    order: Codes,
) -> None:
    """Bring the nearest rows of the other side over; the first of equals."""
    stride = (need + STEPS - 1) // STEPS
    growth = np.empty(len(rows), np.int64)
    while need > 0:
        m = 0
        for i in range(len(rows)):
            if side_of[i] != small:
                order[m] = i
                growth[m] = _growth(codes, costs, sides, small, split, rows[i])
                m += 1
        take = min(need, stride)
        if take == 1:
            order[0] = order[np.argmin(growth[:m])]
        else:
            order[:m] = order[:m][np.argsort(growth[:m], kind="mergesort")]
        for i in range(take):
            side_of[order[i]] = small
            _join(codes, costs, sides, small, split, rows[order[i]])
        need -= take


@kernel
def split_groups(
    codes: Codes,
    costs: Costs,
    rows: Codes,
    starts: Ints,
    states: Words,
    k: int,
    out: Codes,
    middle: Ints,
    begin: int,
    end: int,
) -> None:
    """Split the groups begin..end, each rows[starts[g]:starts[g+1]].

    Writes the rows of the first side and then those of the second to the same place of `out`, each
    in the order they had, and to `middle` where the second begins.
    """
    d = codes.shape[1]
    sides = Sides(
        np.empty((2, d), np.int32),
        np.empty((2, d), np.int32),
        np.empty((2, d), np.int64),
        np.full((2, costs.seen[-1]), -1, np.int64),
    )
    longest = 0
    for g in range(begin, end):
        longest = max(longest, starts[g + 1] - starts[g])
    side_of = np.empty(longest, np.int8)
    order = np.empty(longest, np.int32)
    for g in range(begin, end):
        own = rows[starts[g] : starts[g + 1]]
        _split(codes, costs, sides, own, k, states[g], g, side_of, order)
        at = starts[g]
        for side in range(2):
            if side == 1:
                middle[g] = at
            for i in range(len(own)):
                if side_of[i] == side:
                    out[at] = own[i]
                    at += 1


# Insert single rows into the groups whose labels they widen least.


class Labels(NamedTuple):
    """What each group covers."""

    low: Codes
    """(g, d)"""
    high: Codes
    """(g, d)"""
    members: Ints
    """(g, d) members of each set."""
    bits: Words
    """(g, words) the members of all sets, a bit for each code."""


@kernel
def widen(labels: Labels, costs: Costs, g: int, codes: Codes) -> None:
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
    codes: Codes,
    rows: Codes,
    starts: Ints,
) -> None:
    """Let each group cover its rows rows[starts[g]:starts[g+1]]."""
    for g in range(len(starts) - 1):
        for i in range(starts[g], starts[g + 1]):
            widen(labels, costs, g, codes[rows[i]])


@kernel
def nearest(
    labels: Labels,
    costs: Costs,
    codes: Codes,
    allowed: Bools,
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
