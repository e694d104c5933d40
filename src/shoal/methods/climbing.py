"""Climb hierarchies until constraints are met: the loop behind Datafly, Classfly and Classfly+."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import Cells, pack
from shoal.encoding.grouping import SUPPRESSED, Grouping
from shoal.hierarchy.tree import HierarchyTree
from shoal.methods.base import Progress
from shoal.methods.constraints import Constraint, largest_subset


@dataclass
class Rows:
    """The open rows of a subtable: cells over its columns, all at the same levels.

    A node is looked up from the leaf's code and never from the node below it, so levels need not
    nest.
    """

    trees: list[HierarchyTree]
    """One per column of the subtable."""
    constraints: list[Constraint]
    """Columns counted within the subtable."""
    codes: list[Codes]
    """Per column, (n,) the leaf codes of the open cells."""
    weights: Ints
    """(n,) rows of each open cell."""
    number: Codes
    """(n,) which cell of the subtable each one is."""
    levels: Ints
    """(columns,) how far the open rows have climbed."""
    _nodes: dict[int, Codes] = field(default_factory=dict)
    """What is known of the nodes, the different values and (below) the keys; a climb or a settled
    row makes some of it stale."""
    _distinct: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._forget_keys()

    def _forget_keys(self) -> None:
        self._keys = np.empty((len(self.constraints), len(self.weights)), np.int32)
        self._stale = set(range(len(self.constraints)))

    @property
    def n_rows(self) -> int:
        """Open rows."""
        return int(self.weights.sum())

    def settled(self, one_by_one: bool) -> Bools:
        """(n,) the largest subset that meets all constraints."""
        for i in range(len(self.constraints)):
            self._key(i)
        least = [constraint.k for constraint in self.constraints]
        return largest_subset(self._keys, least, self.weights, one_by_one)

    def fail_alone(self, limit: int) -> bool:
        """Whether more than `limit` rows fail one constraint, whatever the others say."""
        for i, constraint in enumerate(self.constraints):
            counts = np.bincount(self._key(i), self.weights)
            if counts[counts < constraint.k].sum() > limit:
                return True
        return False

    def climb(self) -> None:
        """One column one level up: the one with most different values; of equals the one that has
        climbed least, then the first. A column at its top is never chosen."""
        able = [j for j, tree in enumerate(self.trees) if self.levels[j] < tree.height]
        best = min(able, key=lambda j: (-self._values(j), self.levels[j]))
        self.levels[best] += 1
        self._nodes.pop(best, None)
        self._distinct.pop(best)
        self._stale |= {i for i, one in enumerate(self.constraints) if best in one.columns}

    def combinations(self, chosen: Bools) -> Codes:
        """(chosen,) the combination over all columns of each chosen cell, numbered 0, 1, 2, …"""
        return self._numbered(range(len(self.trees)), chosen)

    def keep(self, left: Bools) -> None:
        """Leave out the rows that are settled."""
        self.codes = [codes[left] for codes in self.codes]
        self.weights, self.number = self.weights[left], self.number[left]
        self._nodes = {j: nodes[left] for j, nodes in self._nodes.items()}
        self._distinct = {}
        # new numbers without gaps: what is counted by key shrinks with the open rows
        self._forget_keys()

    def _key(self, i: int) -> Codes:
        """(n,) the combination each cell has in the columns of one constraint, as a number."""
        if i in self._stale:
            self._keys[i] = self._numbered(self.constraints[i].columns)
            self._stale.remove(i)
        return self._keys[i]

    def _node(self, j: int) -> Codes:
        """(n,) the node of each cell in one column."""
        if j not in self._nodes:
            self._nodes[j] = self.trees[j].nodes[self.levels[j]][self.codes[j]]
        return self._nodes[j]

    def _size(self, j: int) -> int:
        return len(self.trees[j].labels[self.levels[j]])

    def _values(self, j: int) -> int:
        """Different values among the open rows in one column."""
        from shoal.kernels.climbing import count_distinct

        if j not in self._distinct:
            self._distinct[j] = count_distinct(self._node(j), self._size(j))
        return self._distinct[j]

    def _numbered(self, columns: Sequence[int], chosen: Bools | None = None) -> Codes:
        nodes = [self._node(j) for j in columns]
        if chosen is not None:
            nodes = [node[chosen] for node in nodes]
        return number_rows(nodes, [self._size(j) for j in columns])[0]


def number_rows(columns: Sequence[Codes], sizes: Sequence[int]) -> tuple[Codes, Codes]:
    """(n,) equal rows get equal numbers 0, 1, 2, … as they first appear; and where each does."""
    from shoal.kernels.climbing import number_pairs, number_small

    words = pack(columns, sizes)
    n, (word, bits) = len(columns[0]), words[0]
    if len(words) == 1 and 1 << bits <= 4 * n + 1024:
        return number_small(word, 1 << bits)
    numbers, first = np.zeros(n, np.int32), np.zeros(0, np.int32)
    for word, _ in words:
        numbers, first = number_pairs(numbers, word)
    return numbers, first


def open_rows(
    cells: Cells, columns: Sequence[int], constraints: Sequence[Constraint]
) -> tuple[Rows, Codes]:
    """All rows of the subtable over some columns, and (n_rows,) the cell of each canonical row."""
    codes = [np.ascontiguousarray(cells.codes[:, j]) for j in columns]
    if len(columns) == len(cells.domains):
        of_cell = first = np.arange(cells.n_cells, dtype=np.int32)
    else:
        of_cell, first = number_rows(codes, [cells.domains[j].size for j in columns])
    place = {column: i for i, column in enumerate(columns)}
    trees = []
    for j in columns:
        tree = cells.domains[j].hierarchy
        assert tree is not None, "checked before any work"
        trees.append(tree)
    rows = Rows(
        trees=trees,
        constraints=[
            Constraint(tuple(place[c] for c in one.columns), one.k) for one in constraints
        ],
        codes=codes if len(first) == cells.n_cells else [column[first] for column in codes],
        weights=np.bincount(of_cell, cells.counts, len(first)).astype(np.int64),
        number=np.arange(len(first), dtype=np.int32),
        levels=np.zeros(len(columns), np.int64),
    )
    return rows, np.repeat(of_cell, cells.counts)


def settle_and_climb(
    cells: Cells,
    columns: Sequence[int],
    constraints: Sequence[Constraint],
    one_by_one: bool,
    progress: Progress,
) -> Grouping:
    """While enough rows are open: settle those that meet the constraints, climb one column of the
    others.

    Settled rows are never touched again. What is left at the end, fewer than the largest K, is
    suppressed.
    """
    rows, cell_of_row = open_rows(cells, columns, constraints)
    group = np.full(len(rows.number), SUPPRESSED, np.int32)
    levels = [np.zeros((0, len(columns)), np.int32)]
    n_groups = 0
    most = max(constraint.k for constraint in constraints)
    progress(0.0)
    while rows.n_rows >= most:
        settled = rows.settled(one_by_one)
        if settled.any():
            combination = rows.combinations(settled)
            group[rows.number[settled]] = n_groups + combination
            levels.append(_same(rows.levels, int(combination.max()) + 1))
            n_groups += len(levels[-1])
            rows.keep(~settled)
        progress(1 - rows.n_rows / cells.n_rows)
        if rows.n_rows >= most:
            rows.climb()
    return Grouping(
        group[cell_of_row], n_groups, tuple(columns), np.concatenate(levels), least=most
    )


def climb_together(
    cells: Cells,
    columns: Sequence[int],
    constraints: Sequence[Constraint],
    may_suppress: int,
    progress: Progress,
) -> Grouping:
    """Climb all rows alike until at most `may_suppress` of them fail; suppress those."""
    rows, cell_of_row = open_rows(cells, columns, constraints)
    top = sum(tree.height for tree in rows.trees)
    progress(0.0)
    while True:
        # most passes are decided by the first constraint; the subset is not worth finding then
        if not rows.fail_alone(may_suppress):
            settled = rows.settled(one_by_one=False)
            if rows.weights[~settled].sum() <= may_suppress:
                break
        rows.climb()
        progress(float(rows.levels.sum()) / top)
    group = np.full(len(rows.number), SUPPRESSED, np.int32)
    n_groups = 0
    if settled.any():
        group[settled] = rows.combinations(settled)
        n_groups = int(group.max()) + 1
    return Grouping(group[cell_of_row], n_groups, tuple(columns), _same(rows.levels, n_groups))


def _same(levels: Ints, n_groups: int) -> Codes:
    """(n_groups, columns) the same levels for every group."""
    return np.tile(levels.astype(np.int32), (n_groups, 1))
