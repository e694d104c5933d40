"""Rows that belong to no cluster yet, and which of them is nearest to a growing one.

Equal rows are one cell; rows of a cell with equal sensitive values are one atom.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.herd import SLACK
from shoal.kernels.jit import kernel, number
from shoal.kernels.trie import NONE, Trie, offer, remove

TAKEN, OPEN = 1, 0


class Pool(NamedTuple):
    """The rows, by cell and atom; canonical rows ascend with their cells."""

    codes: npt.NDArray[np.int32]
    """(cells, d)"""
    cell_atoms: npt.NDArray[np.int64]
    """(cells + 1,) cell i holds the atoms cell_atoms[i]..cell_atoms[i + 1]."""
    atom_cell: npt.NDArray[np.int32]
    """(atoms,)"""
    atom_rows: npt.NDArray[np.int64]
    """(atoms + 1,) atom i holds the rows rows[atom_rows[i]..atom_rows[i + 1]]."""
    rows: npt.NDArray[np.int32]
    """(n,) canonical rows, ascending in each atom."""
    atom_of: npt.NDArray[np.int32]
    """(n,) the atom of each canonical row."""
    head: npt.NDArray[np.int64]
    """(atoms,) no row before this one is open."""
    alive: npt.NDArray[np.int32]
    """(atoms,) open rows."""
    taken: npt.NDArray[np.int8]
    """(n,) OPEN or TAKEN, by canonical row."""
    values: npt.NDArray[np.int32]
    """(atoms, sensitive columns) the sensitive value, numbered through all columns; -1 if missing."""
    bits: npt.NDArray[np.uint64]
    """(atoms,) its values as bits; where there are more than 64, several share one."""
    left: npt.NDArray[np.int64]
    """(values,) open rows with each value."""
    column: npt.NDArray[np.int64]
    """(values,) the sensitive column of each value."""
    distinct: npt.NDArray[np.int64]
    """(sensitive columns,) values that some open row has."""
    trie: Trie
    """An index of the cells."""
    level: npt.NDArray[np.int64]
    """(d,) the column of each level of the index."""


class Reach(NamedTuple):
    """What a row costs the growing cluster, by column and code."""

    own: npt.NDArray[np.float64]
    """By code: what the row itself loses."""
    others: npt.NDArray[np.float64]
    """By code: what each row of the cluster loses."""
    key: npt.NDArray[np.float64]
    """By key: the least of both together."""
    rest: npt.NDArray[np.float64]
    """(d + 1,) per level of the index, the least cost of this and all deeper ones."""
    least: npt.NDArray[np.float64]
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
def brings(
    pool: Pool, atom: int, need: npt.NDArray[np.int64], seen: npt.NDArray[np.int64], now: int
) -> bool:
    """Whether a row of the atom has a new value for a column that still needs some."""
    for a in range(len(need)):
        if need[a] > 0:
            value = pool.values[atom, a]
            if value >= 0 and seen[value] != now:
                return True
    return False


@kernel
def wanted(
    pool: Pool, need: npt.NDArray[np.int64], seen: npt.NDArray[np.int64], now: int
) -> np.uint64:
    """The bits of which a row must have one."""
    if len(seen) > 64:
        return ~np.uint64(0)
    bits = np.uint64(0)
    for value in range(len(seen)):
        if seen[value] != now and need[pool.column[value]] > 0:
            bits |= np.uint64(1) << np.uint64(value)
    return bits


@kernel
def cell_brings(
    pool: Pool, cell: int, need: npt.NDArray[np.int64], seen: npt.NDArray[np.int64], now: int
) -> bool:
    """Whether some open row of the cell brings what is needed."""
    for atom in range(pool.cell_atoms[cell], pool.cell_atoms[cell + 1]):
        if pool.alive[atom] > 0 and brings(pool, atom, need, seen, now):
            return True
    return False


@kernel
def lowest_row(
    pool: Pool, cell: int, need: npt.NDArray[np.int64], seen: npt.NDArray[np.int64], now: int
) -> int:
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
    base: npt.NDArray[np.int64],
    key_base: npt.NDArray[np.int64],
    rows: int,
    bits: np.uint64,
    need: npt.NDArray[np.int64],
    seen: npt.NDArray[np.int64],
    now: int,
    stack: npt.NDArray[np.int32],
    sums: npt.NDArray[np.float64],
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
