"""Random hierarchies, tables and sets of constraints, once as cells and once as plain lists."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from shoal.encoding.cells import Cells
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import Grouping
from shoal.hierarchy.tree import HierarchyTree
from shoal.models.k import K
from shoal.models.requirement import Requirement
from tests import naive
from tests.coded import coded, trees
from tests.naive_constraints import Answer, Cell, Constraint, Row, Tree

NAMES = "abcde"


@dataclass(frozen=True)
class Constrained:
    """The same table and constraints twice."""

    cells: Cells
    trees: list[Tree]
    rows: list[Row]
    constraints: list[Constraint]

    @property
    def requirement(self) -> Requirement:
        """The constraints as a policy states them."""
        return asked(self.constraints)

    @property
    def feasible(self) -> bool:
        """Whether the table has as many rows as the largest K."""
        return len(self.rows) >= max(k for _, k in self.constraints)

    def answer(self, groupings: Sequence[Grouping]) -> Answer:
        """What a method decided, cell by cell."""
        cells: list[list[Cell]] = [[None] * len(self.trees) for _ in self.rows]
        seen = [column for grouping in groupings for column in grouping.columns]
        assert sorted(seen) == sorted(set(seen))
        for grouping in groupings:
            assert grouping.levels is not None
            for i, group in enumerate(grouping.group.tolist()):
                for j, column in enumerate(grouping.columns):
                    if group >= 0:
                        level = int(grouping.levels[group, j])
                        node = self.trees[column][level][self.rows[i][column]]
                        cells[i][column] = (level, node)
        return cells


def asked(constraints: Sequence[Constraint]) -> Requirement:
    """Constraints over NAMES as a policy states them."""
    return Requirement(tuple(K(k, tuple(NAMES[c] for c in columns)) for columns, k in constraints))


@st.composite
def crossing_trees(draw: st.DrawFn) -> tuple[Domain, naive.Column]:
    """Levels that need not nest: a node may lie under two others."""
    size = draw(st.integers(2, 8))
    levels = [list(range(size))]
    for _ in range(draw(st.integers(0, 3))):
        starts = draw(st.lists(st.booleans(), min_size=size - 1, max_size=size - 1))
        levels.append(np.cumsum([0, *starts]).tolist())
    levels.append([0] * size)
    labels = tuple(
        tuple(f"n{level}.{node}" for node in range(max(row) + 1))
        for level, row in enumerate(levels)
    )
    tree = HierarchyTree(labels, np.array(levels, np.int32))
    domain = Domain("tree", Kind.TREE, pa.array(list(labels[0]), pa.string()), -1, hierarchy=tree)
    return domain, naive.tree_column(levels)


@st.composite
def constraint_sets(
    draw: st.DrawFn, n_columns: int, max_k: int = 5, max_size: int = 5
) -> list[Constraint]:
    """Different constraints that name every column."""
    places = st.lists(st.integers(0, n_columns - 1), min_size=1, max_size=3, unique=True)
    one = st.tuples(places.map(lambda c: tuple(sorted(c))), st.integers(1, max_k))
    found = draw(st.lists(one, min_size=1, max_size=max_size, unique=True))
    left = sorted(set(range(n_columns)) - {c for columns, _ in found for c in columns})
    if left:
        found.append((tuple(left), draw(st.integers(1, max_k))))
    return found


@st.composite
def constrained_tables(draw: st.DrawFn, max_rows: int = 30, max_columns: int = 4) -> Constrained:
    """Any table over trees, with ties and repeated rows, under any set of constraints."""
    kind = trees() | crossing_trees()
    pairs = draw(st.lists(kind, min_size=1, max_size=max_columns))
    pairs = [(replace(d, name=NAMES[i]), column) for i, (d, column) in enumerate(pairs)]
    row = st.tuples(*(st.integers(0, domain.size - 1) for domain, _ in pairs))
    pool = draw(st.lists(row, min_size=1, max_size=15))
    rows = sorted(draw(st.lists(st.sampled_from(pool), min_size=1, max_size=max_rows)))
    return Constrained(
        coded(rows, pairs).cells,
        [column["nodes"] for _, column in pairs],
        rows,
        draw(constraint_sets(len(pairs))),
    )
