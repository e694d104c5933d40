"""Rows that belong to no cluster yet, and which of them is nearest to a growing one.

Equal rows are one cell; rows of a cell with equal sensitive values are one atom.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Words
from shoal.kernels.cluster_index import (
    NONE,
    RANGE,
    SET,
    SLACK,
    Columns,
    Herd,
    Label,
    Seeker,
    Trie,
    enter,
    has,
    inside,
    leave,
    nearest_cluster,
    offer,
    ones,
    remove,
    start_label,
    unite,
    widen,
    widths_with,
)
from shoal.kernels.jit import inlined, kernel, number, truth

TAKEN, OPEN = 1, 0


class Pool(NamedTuple):
    """The rows, by cell and atom; canonical rows ascend with their cells."""

    codes: Codes
    """(cells, d)"""
    cell_atoms: Ints
    """(cells + 1,) cell i holds the atoms cell_atoms[i]..cell_atoms[i + 1]."""
    atom_cell: Codes
    """(atoms,)"""
    atom_rows: Ints
    """(atoms + 1,) atom i holds the rows rows[atom_rows[i]..atom_rows[i + 1]]."""
    rows: Codes
    """(n,) canonical rows, ascending in each atom."""
    atom_of: Codes
    """(n,) the atom of each canonical row."""
    head: Ints
    """(atoms,) no row before this one is open."""
    alive: Codes
    """(atoms,) open rows."""
    taken: npt.NDArray[np.int8]
    """(n,) OPEN or TAKEN, by canonical row."""
    values: Codes
    """(atoms, sensitive columns) the sensitive value, numbered through all columns; -1 if missing."""
    bits: Words
    """(atoms,) its values as bits; where there are more than 64, several share one."""
    left: Ints
    """(values,) open rows with each value."""
    column: Ints
    """(values,) the sensitive column of each value."""
    distinct: Ints
    """(sensitive columns,) values that some open row has."""
    trie: Trie
    """An index of the cells."""
    level: Ints
    """(d,) the column of each level of the index."""


class Reach(NamedTuple):
    """What a row costs the growing cluster, by column and code."""

    own: Floats
    """By code: what the row itself loses."""
    others: Floats
    """By code: what each row of the cluster loses."""
    key: Floats
    """By key: the least of both together."""
    rest: Floats
    """(d + 1,) per level of the index, the least cost of this and all deeper ones."""
    least: Floats
    """(d,) the least cost of any code of the column."""


@kernel
def take(pool: Pool, row: int) -> None:
    """Take a row out."""
    pool.taken[row] = TAKEN
    atom = pool.atom_of[row]
    pool.alive[atom] -= 1
    for a in range(pool.values.shape[1]):
        value = pool.values[atom, a]
        if value >= 0:
            pool.left[value] -= 1
            if pool.left[value] == 0:
                pool.distinct[a] -= 1
    if pool.alive[atom] > 0:
        return
    cell = pool.atom_cell[atom]
    offers, open_rows = np.uint64(0), 0
    for other in range(pool.cell_atoms[cell], pool.cell_atoms[cell + 1]):
        if pool.alive[other] > 0:
            offers |= pool.bits[other]
            open_rows += pool.alive[other]
    if open_rows == 0:
        remove(pool.trie, number(cell))
    elif offers != pool.trie.masks[cell]:
        offer(pool.trie, cell, offers)


@kernel
def brings(pool: Pool, atom: int, need: Ints, seen: Ints, now: int) -> bool:
    """Whether a row of the atom has a new value for a column that still needs some."""
    for a in range(len(need)):
        if need[a] > 0:
            value = pool.values[atom, a]
            if value >= 0 and seen[value] != now:
                return True
    return False


@kernel
def wanted(pool: Pool, need: Ints, seen: Ints, now: int) -> np.uint64:
    """The bits of which a row must have one."""
    if len(seen) > 64:
        return ~np.uint64(0)
    bits = np.uint64(0)
    for value in range(len(seen)):
        if seen[value] != now and need[pool.column[value]] > 0:
            bits |= np.uint64(1) << np.uint64(value)
    return bits


@kernel
def cell_brings(pool: Pool, cell: int, need: Ints, seen: Ints, now: int) -> bool:
    """Whether some open row of the cell brings what is needed."""
    for atom in range(pool.cell_atoms[cell], pool.cell_atoms[cell + 1]):
        if pool.alive[atom] > 0 and brings(pool, atom, need, seen, now):
            return True
    return False


@kernel
def lowest_row(pool: Pool, cell: int, need: Ints, seen: Ints, now: int) -> int:
    """The first open row of a cell that brings what is needed."""
    found = len(pool.rows)
    for atom in range(pool.cell_atoms[cell], pool.cell_atoms[cell + 1]):
        if pool.alive[atom] == 0 or not brings(pool, atom, need, seen, now):
            continue
        at = pool.head[atom]
        while pool.taken[pool.rows[at]] == TAKEN:
            at += 1
        pool.head[atom] = at
        found = min(found, pool.rows[at])
    return found


@kernel
def nearest_cell(
    pool: Pool,
    reach: Reach,
    base: Ints,
    key_base: Ints,
    rows: int,
    bits: np.uint64,
    need: Ints,
    seen: Ints,
    now: int,
    stack: Codes,
    sums: Floats,
    any_row: bool,
) -> tuple[int, float]:
    """The nearest cell that brings what is needed, and how far it is; the lowest of equals.

    With `any_row` every open row will do.
    """
    trie = pool.trie
    # arrays by their own names: reaching into tuples inside the loops costs more than the work
    down, right, head, after = trie.down, trie.right, trie.head, trie.after
    node_key, node_level, offers, masks = trie.key, trie.level, trie.offers, trie.masks
    codes, column_at, loss = pool.codes, pool.level, reach.own
    of_others, of_key, of_rest = reach.others, reach.key, reach.rest
    exact = len(seen) <= 64
    d = codes.shape[1]
    best, found = np.inf, NONE
    stack[0], sums[0] = 0, 0.0
    top = 1
    while top > 0:
        top -= 1
        node, so_far = stack[top], sums[top]
        level = node_level[node]
        if (so_far + of_rest[level]) * SLACK > best:
            continue
        child = down[node]
        if child == NONE:
            cell = head[node]
            while cell != NONE:
                if any_row or (
                    masks[cell] & bits and (exact or cell_brings(pool, cell, need, seen, now))
                ):
                    own = others = 0.0
                    for j in range(d):
                        at = base[j] + codes[cell, j]
                        own += loss[at]
                        others += of_others[at]
                    far = own + rows * others
                    if far < best or (far == best and cell < found):
                        best, found = far, cell
                cell = after[cell]
            continue
        rest, keys = of_rest[level + 1], key_base[column_at[level]]
        first, first_cost = NONE, np.inf
        while child != NONE:
            if any_row or offers[child] & bits:
                cost = so_far + of_key[keys + node_key[child]]
                if (cost + rest) * SLACK <= best:
                    if cost < first_cost:
                        if first != NONE:
                            stack[top], sums[top] = first, first_cost
                            top += 1
                        first, first_cost = child, cost
                    else:
                        stack[top], sums[top] = child, cost
                        top += 1
            child = right[child]
        if first != NONE:
            stack[top], sums[top] = first, first_cost
            top += 1
    return found, best


# The loop of k-clustering: grow clusters by the row that adds least NCP.


ANY = ~np.uint64(0)


class Growing(NamedTuple):
    """The cluster that grows."""

    rows: Codes
    """(n,) its rows, in the order in which they came."""
    size: Ints
    """(2,) how many they are; its number."""
    need: Ints
    """(sensitive columns,) 1: a new value of any column is welcome."""
    seen: Ints
    """(values,) the last cluster that met the value."""


@kernel
def reach_k_rows(
    columns: Columns,
    pool: Pool,
    seeker: Seeker,
    reach: Reach,
    shift: Ints,
    rows: int,
) -> None:
    """Fill in what each code adds to the growing cluster's NCP."""
    # arrays by their own names: reaching into tuples inside the loops costs more than the work
    all_widths, all_own, all_others, all_keys = seeker.widths, reach.own, reach.others, reach.key
    base_of, size_of, key_base, rest = columns.base, columns.size, seeker.near_base, reach.rest
    width_of, level = seeker.label.width[0], pool.level
    d = len(size_of)
    for j in range(d):
        widths_with(columns, seeker.label, 0, j, all_widths)
        base, size, wide, by = base_of[j], size_of[j], width_of[j], shift[j]
        widths, own = all_widths[base : base + size], all_own[base : base + size]
        others = all_others[base : base + size]
        keys = all_keys[key_base[j] : key_base[j] + ((size - 1) >> by) + 1]
        if by == 0:
            for code in range(size):
                own[code], others[code] = widths[code], widths[code] - wide
                keys[code] = widths[code] + rows * (widths[code] - wide)
            continue
        keys[:] = np.inf
        for code in range(size):
            own[code], others[code] = widths[code], widths[code] - wide
            keys[code >> by] = min(keys[code >> by], own[code] + rows * others[code])
    rest[d] = 0.0
    for i in range(d - 1, -1, -1):
        # nothing costs less than a value that the label covers
        rest[i] = rest[i + 1] + width_of[level[i]]


@kernel
def first_row(pool: Pool, cell: int, bits: np.uint64, growing: Growing) -> int:
    """The first open row of a cell; with a new value, unless `bits` is ANY."""
    found = len(pool.rows)
    for atom in range(pool.cell_atoms[cell], pool.cell_atoms[cell + 1]):
        if pool.alive[atom] == 0:
            continue
        if bits != ANY and not brings_new(pool, atom, growing):
            continue
        at = pool.head[atom]
        while pool.taken[pool.rows[at]] != OPEN:
            at += 1
        pool.head[atom] = at
        found = min(found, pool.rows[at])
    return found


@kernel
def brings_new(pool: Pool, atom: int, growing: Growing) -> bool:
    """Whether the atom has a value that the cluster has not."""
    for a in range(pool.values.shape[1]):
        value = pool.values[atom, a]
        if value >= 0 and growing.seen[value] != growing.size[1]:
            return True
    return False


@kernel
def admit(pool: Pool, growing: Growing, row: int) -> None:
    """Move a row from the pool into the cluster."""
    take(pool, row)
    growing.rows[growing.size[0]] = row
    growing.size[0] += 1
    atom = pool.atom_of[row]
    for a in range(pool.values.shape[1]):
        value = pool.values[atom, a]
        if value >= 0:
            growing.seen[value] = growing.size[1]


@kernel
def start(columns: Columns, pool: Pool, seeker: Seeker, growing: Growing, row: int) -> None:
    """Begin a new cluster with a row."""
    growing.size[0] = 0
    growing.size[1] += 1
    start_label(columns, seeker.label, 0, pool.codes[pool.atom_cell[pool.atom_of[row]]])
    admit(pool, growing, row)


@kernel
def grow_to(
    columns: Columns,
    pool: Pool,
    seeker: Seeker,
    reach: Reach,
    shift: Ints,
    growing: Growing,
    rows: int,
    new_values: bool,
) -> bool:
    """Let the cluster grow to so many rows; False where no row is left.

    With `new_values` a row must bring a sensitive value that the cluster has not, while there is one.
    """
    while growing.size[0] < rows:
        if pool.trie.below[0] == 0:
            return False
        reach_k_rows(columns, pool, seeker, reach, shift, growing.size[0])
        bits, cell = ANY, NONE
        if new_values:
            bits = wanted(pool, growing.need, growing.seen, growing.size[1])
            cell, _ = nearest_cell(
                pool, reach, columns.base, seeker.near_base, growing.size[0], bits,
                growing.need, growing.seen, growing.size[1], seeker.stack, seeker.sums, False,
            )  # fmt: skip
            # with many values all bits are asked for, but each row was still looked at
            bits = np.uint64(1)
        if cell == NONE:
            bits = ANY
            cell, _ = nearest_cell(
                pool, reach, columns.base, seeker.near_base, growing.size[0], bits,
                growing.need, growing.seen, growing.size[1], seeker.stack, seeker.sums, True,
            )  # fmt: skip
        admit(pool, growing, first_row(pool, cell, bits, growing))
        widen(columns, seeker.label, number(0), pool.codes[cell])
    return True


@kernel
def far_from(
    columns: Columns,
    label: Label,
    sizes: Ints,
    n: int,
    codes: Codes,
    far: Floats,
) -> int:
    """Fill in what a row would add to the NCP of each of n clusters; the first of the least."""
    best, found = np.inf, NONE
    for c in range(n):
        total = 0.0
        for j in range(len(columns.kind)):
            wide = label.width[c, j]
            if inside(columns, label, c, j, codes[j]):
                total += wide
                continue
            width = width_with(columns, label, c, j, codes[j])
            total += width + sizes[c] * (width - wide)
        far[c] = total
        if total < best:
            best, found = total, c
    return found


@kernel
def width_with(columns: Columns, label: Label, c: int, j: int, code: int) -> float:
    """The width of a label once it covers a code that it does not cover yet."""
    base = columns.base[j]
    if columns.kind[j] == 1:
        members = 1
        for at in range(columns.word[j], columns.word[j + 1]):
            word = label.bits[c, at]
            while word:
                word &= word - np.uint64(1)
                members += 1
        return columns.counted[base + j + members]
    low, high = min(label.low[c, j], code), max(label.high[c, j], code)
    if columns.kind[j] == 0:
        if high == columns.missing[j]:
            low = 0
        return min(columns.most, columns.place[base + high] - columns.place[base + low])
    at = columns.tree[j] + low
    while columns.last[at] < high:
        at += columns.size[j]
    return columns.counted[base + j + columns.last[at] - columns.first[at] + 1]


@kernel
def grow_all(
    columns: Columns,
    pool: Pool,
    seeker: Seeker,
    reach: Reach,
    shift: Ints,
    growing: Growing,
    order: Codes,
    at: int,
    rows: int,
    group: Codes,
    label: Label,
    sizes: Ints,
    n: int,
    most: int,
) -> tuple[int, int]:
    """Grow up to `most` clusters of so many rows each; the place in `order` and clusters so far."""
    left = 0
    for row in range(len(group)):
        left += pool.taken[row] == OPEN
    for _ in range(most):
        if left < rows:
            break
        while pool.taken[order[at]] != OPEN:
            at += 1
        start(columns, pool, seeker, growing, number(order[at]))
        grow_to(columns, pool, seeker, reach, shift, growing, rows, truth(False))
        left -= rows
        settle(seeker, growing, group, label, sizes, n)
        n += 1
    return at, n


@kernel
def settle(
    seeker: Seeker,
    growing: Growing,
    group: Codes,
    label: Label,
    sizes: Ints,
    n: int,
) -> None:
    """Keep the grown cluster as number n."""
    label.low[n], label.high[n] = seeker.label.low[0], seeker.label.high[0]
    label.bits[n], label.width[n] = seeker.label.bits[0], seeker.label.width[0]
    sizes[n] = growing.size[0]
    for i in range(growing.size[0]):
        group[growing.rows[i]] = n


@kernel
def join_k_cluster(
    columns: Columns,
    label: Label,
    sizes: Ints,
    c: int,
    codes: Codes,
) -> None:
    """Let a finished cluster take one more row."""
    widen(columns, label, c, codes)
    sizes[c] += 1


# The loop of L-clustering: grow clusters from rows in a given order.


class State(NamedTuple):
    """Where the loop stands."""

    order: Codes
    """(n,) the rows in random order."""
    cell_of: Codes
    """(n,) the cell of each row."""
    group: Codes
    """(n,) the cluster of each row, or NONE."""
    asked: Ints
    """(sensitive columns,) values that every cluster must have."""
    need: Ints
    """(sensitive columns,) values that the growing cluster still lacks."""
    seen: Ints
    """(values,) the last cluster that met the value."""
    mine: Codes
    """(n,) rows of the growing cluster."""
    at: Ints
    """(3,) place in `order`; clusters finished so far; places of the herd in use."""


@kernel
def reach_l_rows(
    columns: Columns,
    pool: Pool,
    seeker: Seeker,
    reach: Reach,
    shift: Ints,
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
def join_l_cluster(pool: Pool, state: State, row: int, rows: int, now: int) -> None:
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
        join_l_cluster(pool, state, row, number(0), now)
        rows, into = number(1), NONE
        anchor = pool.codes[state.cell_of[row]]
        start_label(columns, seeker.label, 0, anchor)
        while state.need.max() > 0:
            reach_l_rows(columns, pool, seeker, reach, herd.shift, rows)
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
            join_l_cluster(pool, state, row, rows, now)
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
    anchor: Codes,
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


# Rows that are left when no cluster can grow any more: each joins its nearest cluster.


class Covers(NamedTuple):
    """What the clusters cover; clusters are bits of words."""

    by_key: Words
    """(keys, words) the clusters that cover some code of the key."""
    key_base: Ints
    """(d,) where the column's keys begin."""
    loss: Floats
    """(c,) what a row loses inside the cluster's label."""
    floor: Floats
    """(3, words) how far the clusters of a word are at least with 0, 1, 2 or more columns open."""
    open: Words
    """(3, words) for one row: the clusters with 0, 1, 2 or more columns open."""


def no_covers(n: int, keys: int, key_base: Ints) -> Covers:
    """Room for n clusters."""
    words = (n + 63) // 64
    return Covers(
        np.zeros((keys, words), np.uint64),
        key_base,
        np.zeros(n),
        np.zeros((3, words)),
        np.zeros((3, words), np.uint64),
    )


@inlined
def loss_inside(columns: Columns, herd: Herd, c: int) -> float:
    """What a row loses by the cluster's label as it is."""
    loss = 0.0
    for j in range(len(columns.kind)):
        if herd.label.low[c, j] < 0 or herd.label.low[c, j] != herd.label.high[c, j]:
            loss += columns.weight[j] * herd.label.width[c, j]
    return loss


@kernel
def cover(columns: Columns, herd: Herd, covers: Covers, c: int, j: int) -> None:
    """Note all that a cluster covers in a column."""
    by_key, base, by = covers.by_key, covers.key_base[j], herd.shift[j]
    word, bit = c >> 6, np.uint64(1) << np.uint64(c & 63)
    if columns.kind[j] == SET:
        for code in range(columns.size[j]):
            if has(herd.label, c, columns.word[j], code):
                by_key[base + (code >> by), word] |= bit
        return
    for key in range(herd.label.low[c, j] >> by, (herd.label.high[c, j] >> by) + 1):
        by_key[base + key, word] |= bit


@kernel
def cover_all(columns: Columns, herd: Herd, covers: Covers) -> None:
    """Note all that the clusters cover."""
    for c in range(len(covers.loss)):
        covers.loss[c] = loss_inside(columns, herd, c)
        for j in range(len(columns.kind)):
            cover(columns, herd, covers, c, j)


@kernel
def raise_floors(columns: Columns, herd: Herd, covers: Covers) -> None:
    """Work out the floors; clusters only ever lose more and have more rows later on."""
    lightest = columns.weight.min()
    covers.floor[:] = np.inf
    for c in range(len(covers.loss)):
        for gaps in range(3):
            least = covers.loss[c] + gaps * lightest * herd.size[c]
            covers.floor[gaps, c >> 6] = min(covers.floor[gaps, c >> 6], least)


@kernel
def nearest_to_row(columns: Columns, herd: Herd, covers: Covers, codes: Codes) -> int:
    """The cluster nearest to a row; the one finished first of equals."""
    # arrays by their own names: reaching into tuples inside the loops costs more than the work
    kind, weight, word, base = columns.kind, columns.weight, columns.word, columns.base
    missing, place, counted, tree = columns.missing, columns.place, columns.counted, columns.tree
    first_leaf, last_leaf, size_of = columns.first, columns.last, columns.size
    low_of, high_of, bits_of = herd.label.low, herd.label.high, herd.label.bits
    width_of, rows_of, finished, shift = herd.label.width, herd.size, herd.finished, herd.shift
    by_key, key_base, loss = covers.by_key, covers.key_base, covers.loss
    floor, gapped = covers.floor, covers.open
    d, n = len(kind), len(loss)
    gapped[:2] = 0
    some, more = gapped[1], gapped[2]
    more[:] = 0
    for j in range(d):
        covering = by_key[key_base[j] + (codes[j] >> shift[j])]
        for at in range(len(some)):
            without = ~covering[at]
            more[at] |= some[at] & without
            some[at] |= without
    for at in range(len(some)):
        gapped[0, at] = ~some[at]
        some[at] &= ~more[at]
    if n & 63:
        for gaps in range(3):
            gapped[gaps, -1] &= (np.uint64(1) << np.uint64(n & 63)) - np.uint64(1)
    lightest = weight.min()
    best, found = np.inf, NONE
    for gaps in range(3):
        for at in range(len(some)):
            if floor[gaps, at] * SLACK > best:
                continue
            left = gapped[gaps, at]
            while left:
                c = 64 * at + ones((left & (~left + np.uint64(1))) - np.uint64(1))
                left &= left - np.uint64(1)
                many = rows_of[c]
                if (loss[c] + gaps * lightest * many) * SLACK > best:
                    continue
                mine = theirs = 0.0
                for j in range(d):
                    code, low, high, width = codes[j], low_of[c, j], high_of[c, j], width_of[c, j]
                    if low == code and high == code:
                        continue
                    if kind[j] == SET:
                        bit = bits_of[c, word[j] + (code >> 6)] >> np.uint64(code & 63)
                        if bit & np.uint64(1):
                            mine += weight[j] * width
                            continue
                        wider = width + 1.0  # as wide as it has values
                    elif low <= code <= high:
                        mine += weight[j] * width
                        continue
                    else:
                        low, high = min(low, code), max(high, code)
                        if kind[j] == RANGE:
                            if high == missing[j]:
                                low = 0
                            wider = place[base[j] + high] - place[base[j] + low] + 1.0
                        else:
                            leaf = tree[j] + low
                            while last_leaf[leaf] < high:
                                leaf += size_of[j]
                            wider = counted[base[j] + j + last_leaf[leaf] - first_leaf[leaf] + 1]
                    mine += weight[j] * wider
                    theirs += weight[j] * (wider / width)
                    if (mine + many * theirs) * SLACK > best:
                        break
                far = mine + many * theirs
                if far < best or (far == best and finished[c] < finished[found]):
                    best, found = far, c
    return found


@kernel
def hand_out(
    columns: Columns,
    pool: Pool,
    herd: Herd,
    covers: Covers,
    rows: Codes,
    cell_of: Codes,
    group: Codes,
) -> None:
    """Each open row among these, in their order, joins its nearest cluster."""
    raise_floors(columns, herd, covers)
    for row in rows:
        if pool.taken[row] != OPEN:
            continue
        codes = pool.codes[cell_of[row]]
        c = nearest_to_row(columns, herd, covers, codes)
        group[row] = c
        herd.size[c] += 1
        wider = False
        for j in range(len(codes)):
            if not inside(columns, herd.label, c, j, codes[j]):
                wider = True
        if wider:
            widen(columns, herd.label, c, codes)
            covers.loss[c] = loss_inside(columns, herd, c)
            for j in range(len(codes)):
                cover(columns, herd, covers, c, j)
