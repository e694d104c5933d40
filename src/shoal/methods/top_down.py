"""Top-down clustering: split from the two ends, then mend groups that break a model."""

import numpy as np
import numpy.typing as npt
from pydantic.dataclasses import dataclass

from shoal import seeds
from shoal.arrays import Codes, Ints, Words
from shoal.encoding.cells import Cells
from shoal.encoding.domain import costs_of
from shoal.encoding.grouping import Grouping
from shoal.kernels.hashing import keyed_hash
from shoal.kernels.jit import inlined, kernel, mix, number
from shoal.kernels.labels import (
    Costs,
    GroupLabels,
    clear_label,
    empty_labels,
    growth,
    label_cost,
    widen,
)
from shoal.methods.base import BlockMethod, Progress, check_feasible
from shoal.methods.repair import Runs, chosen, joined, repaired
from shoal.models.requirement import Requirement
from shoal.threads import share

NEVER = np.iinfo(np.int64).max
ROUNDS = 3
"""Searches for the farthest row before the two ends are taken."""
LARGE, LOPSIDED = 48, 8
"""A group of more than LARGE times k rows may not shed less than 1/LOPSIDED of them: shedding k rows
at a time would take time with the square of the rows."""
STEPS = 16
"""A side that is too small is filled in at most so many steps, each by what is then nearest."""


@dataclass(frozen=True)
class TopDown(BlockMethod):
    """Top-down: split from the two farthest rows, each other row joining the side it widens less.

    A group of 2k rows or more is split; a side left with fewer than k takes the nearest rows of the
    other. Groups that break a model are pooled and split afresh; rows still left join the nearest
    group that holds with them, and those that fit nowhere are suppressed.

    Source: Xu et al., "Utility-based anonymization using local recoding", 2006, for the split; Cao et
    al., "Personalized (α,l)-diversity k-anonymity model for privacy preservation", 2018, for the
    rest.
    """

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """Groups by splitting."""
        check_feasible(cells, requirement, can_suppress=True)
        return (repaired(cells, requirement, Splitter(cells, progress), seed),)


class Splitter:
    """Splits rows of one table; the same rows and seed give the same groups on any machine."""

    def __init__(self, cells: Cells, progress: Progress) -> None:
        self.codes = np.repeat(cells.codes, cells.counts, axis=0)
        self.costs: Costs = costs_of(cells.domains)
        self.progress = progress
        self.share = 0.0
        """Of the work, as reported: rows that are split afresh do not take it back."""

    def __call__(self, rows: Codes, k: int, seed: int) -> Runs:
        """Groups of k rows or more, fewer than 2k each, of the rows given (ascending)."""
        done: list[Runs] = []
        groups = Runs(rows, np.array([0, len(rows)], np.int64))
        states = np.array([seed % (1 << 64)], np.uint64)
        key = seeds.key_words(seed, "halves") if seed >= seeds.LARGE else None
        while len(groups.starts) > 1:
            large = np.diff(groups.starts) >= 2 * k
            done.append(chosen(groups, ~large))
            groups, states = chosen(groups, large), states[large]
            if key is not None:  # each round depends on the whole seed
                states = keyed_hash(len(states), [states], key)
            if len(groups.rows):
                groups, states = self.halves(groups, states, k)
            self.share = max(self.share, 1 - len(groups.rows) / len(rows))
            self.progress(self.share)
        return joined(done)

    def halves(self, groups: Runs, states: Words, k: int) -> tuple[Runs, Words]:
        """The two sides of every group, one after the other, and a state of randomness for each."""
        out, middle = np.empty_like(groups.rows), np.empty(len(states), np.int64)
        after = np.empty(2 * len(states), np.uint64)
        sizes = np.diff(groups.starts)
        share(
            sizes * len(self.costs.kind),
            lambda a, b: split_groups(
                self.codes, self.costs, *groups, states, k, out, middle, after, a, b
            ),
        )
        starts = np.empty(2 * len(states) + 1, np.int64)
        starts[0::2], starts[1::2] = groups.starts, middle
        return Runs(out, starts), after


@inlined
def _below(state: np.uint64, n: int) -> int:
    return np.int64(state % np.uint64(n))  # type: ignore[return-value] # signed, as places are


@kernel
def _pair_cost(codes: Codes, costs: Costs, a: int, b: int) -> int:
    """What the label over two rows costs."""
    total = 0
    for j in range(codes.shape[1]):
        x, y = codes[a, j], codes[b, j]
        if x != y:
            total += label_cost(costs, j, min(x, y), max(x, y), 2)
    return total


@kernel
def _farthest(codes: Codes, costs: Costs, rows: Codes, start: int) -> int:
    """The place in `rows` of the row farthest from that at `start`; the first of equals."""
    best, found = -1, start
    for i in range(len(rows)):
        if i != start:
            cost = _pair_cost(codes, costs, rows[start], rows[i])
            if cost > best:
                best, found = cost, i
    return found


@kernel
def _split(
    codes: Codes,
    costs: Costs,
    sides: GroupLabels,
    rows: Codes,
    k: int,
    state: np.uint64,
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
        clear_label(sides, number(side))
        widen(sides, costs, number(side), codes[rows[second] if side else rows[first]])
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
        one = growth(sides, costs, number(0), codes[rows[at]], number(NEVER))
        other = growth(sides, costs, number(1), codes[rows[at]], number(NEVER))
        side = 1 if other < one or (other == one and size[1] < size[0]) else 0
        side_of[at] = side
        size[side] += 1
        widen(sides, costs, number(side), codes[rows[at]])
    small = 0 if size[0] < size[1] else 1
    if n > LARGE * k and size[small] * LOPSIDED < n:
        _halve(codes, costs, rows, first, second, side_of)
    elif size[small] < k:
        _fill(codes, costs, sides, rows, k - size[small], small, side_of, order)


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
        lean[i] = _pair_cost(codes, costs, rows[first], rows[i])
        lean[i] -= _pair_cost(codes, costs, rows[second], rows[i])
    order = np.argsort(lean, kind="mergesort")
    for i in range(len(rows)):
        side_of[order[i]] = 0 if 2 * i < len(rows) else 1


@kernel
def _fill(
    codes: Codes,
    costs: Costs,
    sides: GroupLabels,
    rows: Codes,
    need: int,
    small: int,
    side_of: npt.NDArray[np.int8],
    order: Codes,
) -> None:
    """Bring the nearest rows of the other side over; the first of equals."""
    stride = (need + STEPS - 1) // STEPS
    added = np.empty(len(rows), np.int64)
    while need > 0:
        m = 0
        for i in range(len(rows)):
            if side_of[i] != small:
                order[m] = i
                added[m] = growth(sides, costs, number(small), codes[rows[i]], number(NEVER))
                m += 1
        take = min(need, stride)
        if take == 1:
            order[0] = order[np.argmin(added[:m])]
        else:
            order[:m] = order[:m][np.argsort(added[:m], kind="mergesort")]
        for i in range(take):
            side_of[order[i]] = small
            widen(sides, costs, number(small), codes[rows[order[i]]])
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
    after: Words,
    begin: int,
    end: int,
) -> None:
    """Split the groups begin..end, each rows[starts[g]:starts[g+1]].

    Writes the rows of the first side and then those of the second to the same place of `out`, each
    in the order they had, to `middle` where the second begins, and to `after` the states of both.
    """
    sides = empty_labels(costs, number(2))
    longest = 0
    for g in range(begin, end):
        longest = max(longest, starts[g + 1] - starts[g])
    side_of = np.empty(longest, np.int8)
    order = np.empty(longest, np.int32)
    for g in range(begin, end):
        own = rows[starts[g] : starts[g + 1]]
        _split(codes, costs, sides, own, k, states[g], side_of, order)
        at = starts[g]
        for side in range(2):
            after[2 * g + side] = mix(states[g], np.uint64(side + 1))
            if side == 1:
                middle[g] = at
            for i in range(len(own)):
                if side_of[i] == side:
                    out[at] = own[i]
                    at += 1
