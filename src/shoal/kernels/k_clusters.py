"""The loop of k-clustering: grow clusters by the row that adds least NCP."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.herd import Seeker
from shoal.kernels.jit import kernel, number, truth
from shoal.kernels.labels import Columns, Label, inside, start_label, widen, widths_with
from shoal.kernels.pool import OPEN, Pool, Reach, nearest_cell, take, wanted
from shoal.kernels.trie import NONE

ANY = ~np.uint64(0)


class Growing(NamedTuple):
    """The cluster that grows."""

    rows: npt.NDArray[np.int32]
    """(n,) its rows, in the order in which they came."""
    size: npt.NDArray[np.int64]
    """(2,) how many they are; its number."""
    need: npt.NDArray[np.int64]
    """(sensitive columns,) 1: a new value of any column is welcome."""
    seen: npt.NDArray[np.int64]
    """(values,) the last cluster that met the value."""


@kernel
def reach_rows(
    columns: Columns,
    pool: Pool,
    seeker: Seeker,
    reach: Reach,
    shift: npt.NDArray[np.int64],
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
    shift: npt.NDArray[np.int64],
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
        reach_rows(columns, pool, seeker, reach, shift, growing.size[0])
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
    sizes: npt.NDArray[np.int64],
    n: int,
    codes: npt.NDArray[np.int32],
    far: npt.NDArray[np.float64],
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
    shift: npt.NDArray[np.int64],
    growing: Growing,
    order: npt.NDArray[np.int32],
    at: int,
    rows: int,
    group: npt.NDArray[np.int32],
    label: Label,
    sizes: npt.NDArray[np.int64],
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
    group: npt.NDArray[np.int32],
    label: Label,
    sizes: npt.NDArray[np.int64],
    n: int,
) -> None:
    """Keep the grown cluster as number n."""
    label.low[n], label.high[n] = seeker.label.low[0], seeker.label.high[0]
    label.bits[n], label.width[n] = seeker.label.bits[0], seeker.label.width[0]
    sizes[n] = growing.size[0]
    for i in range(growing.size[0]):
        group[growing.rows[i]] = n


@kernel
def join(
    columns: Columns,
    label: Label,
    sizes: npt.NDArray[np.int64],
    c: int,
    codes: npt.NDArray[np.int32],
) -> None:
    """Let a finished cluster take one more row."""
    widen(columns, label, c, codes)
    sizes[c] += 1
