"""What k-clustering and L-clustering share: the index of open rows and room for a growing cluster."""

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Ints
from shoal.encoding.cells import Cells
from shoal.encoding.domain import empty_labels
from shoal.kernels.cluster_index import (
    NONE,
    Columns,
    GrowingCluster,
    RowPool,
    empty_trie,
    insert_all,
)

STRIDE = 512
"""Clusters grown, or rows assigned, between two reports of progress."""
MOST_KEYS = 256
"""A column with more codes is indexed by runs of codes."""


def pool_of(
    cells: Cells,
    sensitive: Sequence[str],
    level: Ints,
) -> RowPool:
    """All rows, none in a cluster yet; level: the columns in the order of the index."""
    shift = shifts(cells)
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
    return RowPool(
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
        shift,
    )


def copied(pool: RowPool) -> RowPool:
    """The same rows, to be taken without taking them from the pool that was given."""
    trie = pool.trie
    return pool._replace(
        head=pool.head.copy(),
        alive=pool.alive.copy(),
        taken=pool.taken.copy(),
        left=pool.left.copy(),
        distinct=pool.distinct.copy(),
        trie=trie._replace(**{name: np.array(getattr(trie, name)) for name in trie._fields}),
    )


def growing_cluster(columns: Columns, pool: RowPool, nodes: int) -> GrowingCluster:
    """Room for a growing cluster and for searches in an index of so many nodes."""
    d, codes = len(columns.kind), int(columns.base[-1])
    keys = ((columns.size - 1) >> pool.shift) + 1
    base = np.concatenate([[0], np.cumsum(keys)]).astype(np.int64)
    return GrowingCluster(
        label=empty_labels(columns, 1),
        widths=np.zeros(codes),
        own=np.zeros(codes),
        others=np.zeros(codes),
        key=np.zeros(base[-1]),
        near=np.zeros(base[-1]),
        inside=np.zeros(base[-1], np.bool_),
        key_base=base[:-1],
        rest=np.zeros(d + 1),
        stack=np.zeros(nodes + 1, np.int32),
        sums=np.zeros(nodes + 1),
    )


def shifts(cells: Cells) -> Ints:
    """(d,) per column, how many codes share a key: 1 << shift."""
    most = (MOST_KEYS - 1).bit_length()
    return np.array([max(0, (d.size - 1).bit_length() - most) for d in cells.domains], np.int64)
