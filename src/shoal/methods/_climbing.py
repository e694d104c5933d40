"""Climb hierarchies until constraints are met: the loop behind Datafly, Classfly and Classfly+."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.cells.cells import Cells
from shoal.cells.encode import pack
from shoal.cells.grouping import Grouping
from shoal.constraints.sets import Constraint
from shoal.hierarchy.tree import Hierarchy
from shoal.methods.base import Progress

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Filter = Callable[["Rows"], npt.NDArray[np.bool_]]
"""Given the open rows: which of them are settled as they are."""


@dataclass
class Rows:
    """The open rows of a subtable: cells over its columns, all at the same levels."""

    trees: list[Hierarchy]
    """One per column of the subtable."""
    constraints: list[Constraint]
    """Columns counted within the subtable."""
    codes: Codes
    """(n, columns) leaf codes of the open cells."""
    weights: Ints
    """(n,) rows of each open cell."""
    number: Ints
    """(n,) which cell of the subtable each one is."""
    levels: Ints
    """(columns,) how far the open rows have climbed."""

    def __post_init__(self) -> None:
        self._nodes = [self._climbed(j) for j in range(len(self.trees))]
        self._keys: dict[int, Codes] = {}

    @property
    def n_rows(self) -> int:
        """Open rows."""
        return int(self.weights.sum())

    def _climbed(self, j: int) -> Codes:
        return self.trees[j].nodes[self.levels[j]][self.codes[:, j]]

    def key(self, constraint: Constraint) -> Codes:
        """(n,) the combination each cell has in the constraint's columns, numbered 0, 1, 2, …"""
        at = self.constraints.index(constraint) if constraint in self.constraints else -1
        if at not in self._keys or at < 0:
            columns = [self._nodes[j] for j in constraint.columns]
            sizes = [len(self.trees[j].labels[self.levels[j]]) for j in constraint.columns]
            self._keys[at] = number_rows(columns, sizes)
        return self._keys[at]

    def climb(self) -> None:
        """One column one level up: the one with most different values; of equals the one that has
        climbed least, then the first. A column at its top is never chosen."""
        best, rank = -1, (0, 0)
        for j, tree in enumerate(self.trees):
            if self.levels[j] < tree.height:
                distinct = len(np.unique(self._nodes[j]))
                if best < 0 or (-distinct, self.levels[j]) < rank:
                    best, rank = j, (-distinct, int(self.levels[j]))
        self.levels[best] += 1
        self._nodes[best] = self._climbed(best)
        changed = [i for i, c in enumerate(self.constraints) if best in c.columns]
        for at in (-1, *changed):
            self._keys.pop(at, None)

    def combinations(self, chosen: npt.NDArray[np.bool_]) -> Codes:
        """(chosen,) the combination over all columns of each chosen cell, numbered 0, 1, 2, …"""
        sizes = [len(tree.labels[level]) for tree, level in zip(self.trees, self.levels, strict=True)]
        return number_rows([nodes[chosen] for nodes in self._nodes], sizes)

    def keep(self, left: npt.NDArray[np.bool_]) -> None:
        """Leave out the rows that are settled."""
        self.codes, self.weights = self.codes[left], self.weights[left]
        self.number = self.number[left]
        self._nodes = [nodes[left] for nodes in self._nodes]
        self._keys = {at: _dense(key[left]) for at, key in self._keys.items()}


def number_rows(columns: Sequence[Codes], sizes: Sequence[int]) -> Codes:
    """(n,) equal rows get equal numbers 0, 1, 2, …"""
    words = pack(columns, sizes)
    numbers = None
    for word, bits in words:
        if numbers is None and 1 << bits <= 4 * len(word) + 1024:
            return _dense(word.astype(np.int64), 1 << bits)
        found = np.unique(word, return_inverse=True)[1].astype(np.int64)
        numbers = found if numbers is None else np.unique(
            numbers * (int(found.max(initial=0)) + 1) + found, return_inverse=True
        )[1]
    assert numbers is not None
    return numbers.astype(np.int32)


def _dense(numbers: npt.NDArray[np.integer], size: int | None = None) -> Codes:
    """The same numbering without gaps."""
    used = np.zeros(size if size is not None else int(numbers.max(initial=-1)) + 1, np.bool_)
    used[numbers] = True
    return (np.cumsum(used) - 1).astype(np.int32)[numbers]


def open_rows(
    cells: Cells, columns: Sequence[int], constraints: Sequence[Constraint]
) -> tuple[Rows, Ints]:
    """All rows of the subtable over some columns, and (n_rows,) the cell of each canonical row."""
    codes = [np.ascontiguousarray(cells.codes[:, j]) for j in columns]
    of_cell = number_rows(codes, [cells.domains[j].size for j in columns])
    first = np.unique(of_cell, return_index=True)[1]
    place = {column: i for i, column in enumerate(columns)}
    trees = []
    for j in columns:
        tree = cells.domains[j].hierarchy
        assert tree is not None, "checked before any work"
        trees.append(tree)
    rows = Rows(
        trees=trees,
        constraints=[Constraint(tuple(place[c] for c in one.columns), one.k) for one in constraints],
        codes=cells.codes[np.ix_(first, list(columns))],
        weights=np.bincount(of_cell, cells.counts).astype(np.int64),
        number=np.arange(len(first)),
        levels=np.zeros(len(columns), np.int64),
    )
    return rows, np.repeat(of_cell, cells.counts)


def settle_and_climb(
    cells: Cells,
    columns: Sequence[int],
    constraints: Sequence[Constraint],
    accept: Filter,
    progress: Progress,
) -> Grouping:
    """While enough rows are open: settle those the filter accepts, climb one column of the others.

    Settled rows are never touched again. What is left at the end, fewer than the largest K, is
    suppressed.
    """
    rows, cell_of_row = open_rows(cells, columns, constraints)
    group = np.full(len(rows.number), -1, np.int32)
    levels: list[Ints] = []
    most = max(constraint.k for constraint in constraints)
    while rows.n_rows >= most:
        settled = accept(rows)
        if settled.any():
            combination = rows.combinations(settled)
            group[rows.number[settled]] = len(levels) + combination
            levels += [rows.levels.copy()] * (int(combination.max()) + 1)
            rows.keep(~settled)
        progress(1 - rows.n_rows / cells.n_rows)
        if rows.n_rows >= most:
            rows.climb()
    return Grouping(
        group[cell_of_row],
        len(levels),
        tuple(columns),
        np.array(levels, np.int32).reshape(len(levels), len(columns)),
        least=most,
    )


def climb_together(
    cells: Cells,
    columns: Sequence[int],
    constraints: Sequence[Constraint],
    accept: Filter,
    may_suppress: int,
    progress: Progress,
) -> Grouping:
    """Climb all rows alike until at most `may_suppress` of them fail; suppress those."""
    rows, cell_of_row = open_rows(cells, columns, constraints)
    top = sum(tree.height for tree in rows.trees)
    while True:
        accepted = accept(rows)
        if rows.weights[~accepted].sum() <= may_suppress:
            break
        rows.climb()
        progress(float(rows.levels.sum()) / top)
    group = np.full(len(rows.number), -1, np.int32)
    n_groups = 0
    if accepted.any():
        group[accepted] = rows.combinations(accepted)
        n_groups = int(group.max()) + 1
    levels = np.tile(rows.levels.astype(np.int32), (n_groups, 1))
    return Grouping(group[cell_of_row], n_groups, tuple(columns), levels)
