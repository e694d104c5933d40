"""L-clustering's tables: from cells and constraints to the arrays of its loop."""

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.arrays import Ints
from shoal.encoding.cells import Cells
from shoal.encoding.domain import empty_labels, loss_columns
from shoal.encoding.grouping import Grouping
from shoal.kernels.cluster_index import NONE, Columns, Herd, Seeker, empty_trie, insert_all
from shoal.kernels.clusters import Pool, Reach, State, cover_all, grow, hand_out, no_covers
from shoal.methods.base import Progress

STRIDE = 512
"""Clusters grown, or rows handed out, between two signs of life."""
MOST_KEYS = 256
"""A column with more codes is indexed by runs of codes."""


def cluster(
    cells: Cells,
    asked: Mapping[str, int],
    weights: Sequence[float],
    seed: int,
    progress: Progress,
) -> Grouping:
    """Clusters with so many values of each sensitive column; there is at least one."""
    columns = loss_columns(cells.domains, weights)
    shift = shifts(cells)
    level = level_order(cells)
    pool = pool_of(cells, list(asked), shift, level)
    most = cells.n_rows // max(asked.values()) + 1
    herd = Herd(
        empty_labels(columns, most),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros((most, len(level)), np.int32),
        empty_trie(np.zeros((most, len(level)), np.int32), np.zeros(most, np.uint64)),
        level,
        shift,
    )
    state = State(
        np.random.default_rng(seed).permutation(cells.n_rows).astype(np.int32),
        np.repeat(np.arange(cells.n_cells, dtype=np.int32), cells.counts),
        np.full(cells.n_rows, NONE, np.int32),
        np.array(list(asked.values()), np.int64),
        np.zeros(len(asked), np.int64),
        np.full(len(pool.left), NONE, np.int64),
        np.zeros(cells.n_rows, np.int32),
        np.zeros(3, np.int64),
    )
    seeker, reach = seeker_of(columns, shift, max(len(herd.trie.up), len(pool.trie.up)))
    while grow(columns, pool, herd, seeker, reach, state, STRIDE):
        progress(float(state.at[0]) / cells.n_rows)
    n = int(state.at[2])
    covers = no_covers(n, len(seeker.near), seeker.near_base)
    cover_all(columns, herd, covers)
    for begin in range(0, cells.n_rows, 8 * STRIDE):
        rows = state.order[begin : begin + 8 * STRIDE]
        hand_out(columns, pool, herd, covers, rows, state.cell_of, state.group)
        progress((begin + state.at[0]) / (cells.n_rows + state.at[0]))
    return Grouping(state.group, n, tuple(range(len(cells.domains))))


def level_order(cells: Cells) -> Ints:
    """The columns, those that tell most rows apart first."""
    spread = []
    for j, domain in enumerate(cells.domains):
        share = np.bincount(cells.codes[:, j], cells.counts, domain.size) / cells.n_rows
        spread.append(float((share * share).sum()))
    return np.argsort(spread, kind="stable").astype(np.int64)


def pool_of(
    cells: Cells,
    sensitive: Sequence[str],
    shift: Ints,
    level: Ints,
) -> Pool:
    """All rows, open, by cell and atom."""
    cell = np.repeat(np.arange(cells.n_cells, dtype=np.int32), cells.counts)
    values, column, offset = [], [], 0
    for a, name in enumerate(sensitive):
        domain = cells.sensitive_domains[name]
        codes = cells.sensitive[name].astype(np.int64)
        values.append(np.where(codes == domain.missing, NONE, codes + offset))
        offset += domain.size
        column += [a] * domain.size
    by_row = np.stack(values, axis=1) if values else np.zeros((cells.n_rows, 0), np.int64)
    rows = np.lexsort((np.arange(cells.n_rows), *by_row.T[::-1], cell)).astype(np.int32)
    new = np.ones(len(rows), np.bool_)
    new[1:] = (cell[rows][1:] != cell[rows][:-1]) | (by_row[rows][1:] != by_row[rows][:-1]).any(
        axis=1
    )
    first = np.flatnonzero(new)
    atom_of = np.empty(len(rows), np.int32)
    atom_of[rows] = np.cumsum(new) - 1
    atom_values = by_row[rows[first]].astype(np.int32)
    bits = np.zeros(len(first), np.uint64)
    for a in range(len(sensitive)):
        bit = np.uint64(1) << (atom_values[:, a] % 64).astype(np.uint64)
        bits |= np.where(atom_values[:, a] >= 0, bit, np.uint64(0))
    if not sensitive:
        bits[:] = 1
    atom_cell = cell[rows[first]]
    atom_starts = np.append(first, len(rows)).astype(np.int64)
    cell_atoms = np.searchsorted(atom_cell, np.arange(cells.n_cells + 1)).astype(np.int64)
    masks = np.bitwise_or.reduceat(bits, cell_atoms[:-1])
    trie = empty_trie(
        np.ascontiguousarray((cells.codes >> shift)[:, level].astype(np.int32)), masks
    )
    insert_all(trie)
    left = np.bincount(by_row[by_row >= 0], minlength=offset).astype(np.int64)
    column_of = np.array(column, np.int64)
    return Pool(
        np.ascontiguousarray(cells.codes),
        cell_atoms,
        atom_cell,
        atom_starts,
        rows,
        atom_of,
        atom_starts[:-1].copy(),
        np.diff(atom_starts).astype(np.int32),
        np.zeros(len(rows), np.int8),
        atom_values,
        bits,
        left,
        column_of,
        np.bincount(column_of[left > 0], minlength=len(sensitive)).astype(np.int64),
        trie,
        level,
    )


def seeker_of(columns: Columns, shift: Ints, nodes: int) -> tuple[Seeker, Reach]:
    """Room for the growing cluster and what surrounds it."""
    codes = int(columns.base[-1])
    keys = ((columns.size - 1) >> shift) + 1
    base = np.concatenate([[0], np.cumsum(keys)]).astype(np.int64)
    seeker = Seeker(
        empty_labels(columns, 1),
        np.zeros(codes),
        np.zeros(base[-1]),
        base[:-1],
        np.zeros(base[-1], np.bool_),
        np.zeros(nodes + 1, np.int32),
        np.zeros(nodes + 1),
    )
    reach = Reach(
        np.zeros(codes),
        np.zeros(codes),
        np.zeros(base[-1]),
        np.zeros(len(columns.kind) + 1),
        np.zeros(len(columns.kind)),
    )
    return seeker, reach


def shifts(cells: Cells) -> Ints:
    """(d,) per column, how many codes share a key: 1 << shift."""
    most = (MOST_KEYS - 1).bit_length()
    return np.array([max(0, (d.size - 1).bit_length() - most) for d in cells.domains], np.int64)
