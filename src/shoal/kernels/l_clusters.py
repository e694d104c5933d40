"""The loop of L-clustering: grow clusters from rows in a given order."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.herd import Herd, Seeker, enter, leave, nearest_cluster
from shoal.kernels.jit import kernel, number
from shoal.kernels.labels import SET, Columns, start_label, unite, widen, widths_with
from shoal.kernels.pool import OPEN, Pool, Reach, lowest_row, nearest_cell, take, wanted
from shoal.kernels.trie import NONE


class State(NamedTuple):
    """Where the loop stands."""

    order: npt.NDArray[np.int32]
    """(n,) the rows in random order."""
    cell_of: npt.NDArray[np.int32]
    """(n,) the cell of each row."""
    group: npt.NDArray[np.int32]
    """(n,) the cluster of each row, or NONE."""
    asked: npt.NDArray[np.int64]
    """(sensitive columns,) values that every cluster must have."""
    need: npt.NDArray[np.int64]
    """(sensitive columns,) values that the growing cluster still lacks."""
    seen: npt.NDArray[np.int64]
    """(values,) the last cluster that met the value."""
    mine: npt.NDArray[np.int32]
    """(n,) rows of the growing cluster."""
    at: npt.NDArray[np.int64]
    """(3,) place in `order`; clusters finished so far; places of the herd in use."""


@kernel
def reach_rows(
    columns: Columns,
    pool: Pool,
    seeker: Seeker,
    reach: Reach,
    shift: npt.NDArray[np.int64],
    rows: int,
) -> None:
    """Fill in, by code and by key, what the growing cluster's label would become and cost."""
    # arrays by their own names: reaching into tuples inside the loops costs more than the work
    all_widths, all_own, all_others, all_keys = seeker.widths, reach.own, reach.others, reach.key
    base_of, size_of, key_base, rest = columns.base, columns.size, seeker.near_base, reach.rest
    near, within, least = seeker.near, seeker.inside, reach.least
    width_of, low_of, high_of = seeker.label.width[0], seeker.label.low[0], seeker.label.high[0]
    bits, word, kind = seeker.label.bits[0], columns.word, columns.kind
    d = len(size_of)
    for j in range(d):
        widths_with(columns, seeker.label, 0, j, all_widths)
        base, size, wide, by = base_of[j], size_of[j], width_of[j], shift[j]
        low, high, weight = low_of[j], high_of[j], columns.weight[j]
        alone = low >= 0 and low == high
        first, end = key_base[j], key_base[j] + ((size - 1) >> by) + 1
        widths, own = all_widths[base : base + size], all_own[base : base + size]
        others, keys = all_others[base : base + size], all_keys[first:end]
        close, has_some = near[first:end], within[first:end]
        keys[:], close[:], has_some[:] = np.inf, np.inf, False
        cheapest = np.inf
        for code in range(size):
            width, key = widths[code], code >> by
            if kind[j] == SET:
                bit = bits[word[j] + (code >> 6)] >> np.uint64(code & 63)
                covered = bit & np.uint64(1) != 0
            else:
                covered = low <= code <= high
            if covered:
                has_some[key] = True
            own[code] = 0.0 if covered and alone else weight * width
            others[code] = 0.0 if covered else weight * (width / wide)
            cost = own[code] + rows * others[code]
            keys[key], close[key] = min(keys[key], cost), min(close[key], width)
            cheapest = min(cheapest, cost)
        least[j] = cheapest
    rest[d] = 0.0
    for i in range(d - 1, -1, -1):
        rest[i] = rest[i + 1] + least[pool.level[i]]


@kernel
def join(pool: Pool, state: State, row: int, rows: int, now: int) -> None:
    """Move a row from the pool into the growing cluster of so many rows."""
    take(pool, row)
    state.mine[rows] = row
    atom = pool.atom_of[row]
    for a in range(len(state.need)):
        value = pool.values[atom, a]
        if value >= 0 and state.seen[value] != now:
            state.seen[value] = now
            state.need[a] -= 1


@kernel
def grow(
    columns: Columns, pool: Pool, herd: Herd, seeker: Seeker, reach: Reach, state: State, most: int
) -> bool:
    """Grow up to `most` clusters; whether there may be more to grow."""
    least = number(0)
    for a in range(len(state.asked)):
        least = max(least, state.asked[a])
    for _ in range(most):
        for a in range(len(state.asked)):
            if pool.distinct[a] < state.asked[a]:
                return False
        row = next_start(pool, state)
        now = state.at[1]
        state.need[:] = state.asked
        join(pool, state, row, number(0), now)
        rows, into = number(1), NONE
        anchor = pool.codes[state.cell_of[row]]
        start_label(columns, seeker.label, 0, anchor)
        while state.need.max() > 0:
            reach_rows(columns, pool, seeker, reach, herd.shift, rows)
            bits = wanted(pool, state.need, state.seen, now)
            cell, far = nearest_cell(
                pool, reach, columns.base, seeker.near_base, rows, bits,
                state.need, state.seen, now, seeker.stack, seeker.sums, False,
            )  # fmt: skip
            if far > 0 and herd.trie.below[0] > 0:
                into, _ = nearest_cluster(columns, herd, seeker, rows, least, far)
                if into != NONE:
                    break
            row = lowest_row(pool, cell, state.need, state.seen, now)
            join(pool, state, row, rows, now)
            rows += 1
            widen(columns, seeker.label, number(0), pool.codes[cell])
        finish(columns, herd, seeker, state, rows, into, anchor)
    return True


@kernel
def next_start(pool: Pool, state: State) -> int:
    """The next open row in the random order that has a sensitive value."""
    while True:
        row = state.order[state.at[0]]
        state.at[0] += 1
        if pool.taken[row] == OPEN:
            atom = pool.atom_of[row]
            for a in range(len(state.asked)):
                if pool.values[atom, a] >= 0:
                    return number(row)


@kernel
def finish(
    columns: Columns,
    herd: Herd,
    seeker: Seeker,
    state: State,
    rows: int,
    into: int,
    anchor: npt.NDArray[np.int32],
) -> None:
    """Put the growing cluster among the finished ones, merged with one of them if `into` says so."""
    c = into
    if c == NONE:
        c = state.at[2]
        state.at[2] += 1
        herd.size[c] = 0
    else:
        leave(herd, c)
        unite(columns, seeker.label, 0, herd.label, c)
    herd.label.low[c] = seeker.label.low[0]
    herd.label.high[c] = seeker.label.high[0]
    herd.label.bits[c] = seeker.label.bits[0]
    herd.label.width[c] = seeker.label.width[0]
    herd.size[c] += rows
    herd.finished[c] = state.at[1]
    herd.anchor[c] = anchor
    enter(herd, c)
    for i in range(rows):
        state.group[state.mine[i]] = c
    state.at[1] += 1
