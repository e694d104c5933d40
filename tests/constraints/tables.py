"""Random tables with a policy of several constraints, beside what the twins need to know of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import assume
from hypothesis import strategies as st

from tests.constrained import NAMES, constraint_sets
from tests.naive_constraints import STAR, Answer, Constraint, Row, Tree, all_columns, components

OTHERS = ("illness", "n")
"""A sensitive and a plain column."""


@dataclass(frozen=True)
class Released:
    """A table, its policy, and the same in codes."""

    table: pa.Table
    policy: dict[str, Any]
    trees: list[Tree]
    labels: list[list[list[str | None]]]
    """Per column and level the text of each node."""
    rows: list[Row]
    constraints: list[Constraint]

    @property
    def named(self) -> list[tuple[list[str], int]]:
        """The constraints with the names of their columns."""
        return [([NAMES[c] for c in columns], k) for columns, k in self.constraints]

    @property
    def feasible(self) -> bool:
        """Whether the table has as many rows as the largest K."""
        return len(self.rows) >= max(k for _, k in self.constraints)

    def expected(self, answer: Answer) -> list[dict[str, str | None]]:
        """What is published of an answer, in the table's order, suppressed rows starred."""
        parts = [all_columns(part) for part in components(self.constraints)]
        found = []
        for given, line in zip(self.table.to_pylist(), answer, strict=True):
            row: dict[str, str | None] = {}
            for c, cell in enumerate(line):
                row[NAMES[c]] = STAR if cell is None else self.labels[c][cell[0]][cell[1]]
            hidden = any(all(line[c] is None for c in part) for part in parts)
            for name in OTHERS:
                row[name] = STAR if hidden else str(given[name])
            found.append(row)
        return found


def texts(table: pa.Table) -> list[dict[str, str | None]]:
    """A published table as a reader sees it."""
    return [
        {name: None if value is None else str(value) for name, value in row.items()}
        for row in table.to_pylist()
    ]


@st.composite
def hierarchies(draw: st.DrawFn, name: str) -> tuple[Any, Tree, list[list[str | None]]]:
    """A tree as a policy writes it, as nodes, and the labels of the nodes; the last code is the
    missing value, alone until the top."""
    size = draw(st.integers(2, 6))
    levels = [list(range(size))]
    for _ in range(draw(st.integers(0, 2))):
        starts = draw(st.lists(st.booleans(), min_size=size - 1, max_size=size - 1))
        above = np.cumsum([0, *starts]).tolist()
        # a level nests in the one below when it groups whole nodes of it
        levels.append([above[levels[-1].index(node)] for node in levels[-1]])
        levels[-1] = np.unique(levels[-1], return_inverse=True)[1].tolist()
    labels = [
        [f"{name}{level}.{node}" for node in range(max(row) + 1)]
        for level, row in enumerate(levels)
    ]
    parts: dict[str, Any] = {}
    for leaf in range(size):
        at = parts
        for level in range(len(levels) - 1, 0, -1):
            at = at.setdefault(labels[level][levels[level][leaf]], {})
        at[labels[0][leaf]] = None
    nodes = [[*row, max(row) + 1] for row in levels] + [[0] * (size + 1)]
    return {"tree": {STAR: parts}}, nodes, [*([*one, None] for one in labels), [STAR]]


@st.composite
def released_tables(draw: st.DrawFn, max_rows: int = 25) -> Released:
    """Texts with hierarchies and missing values, a sensitive and a plain column, any constraints."""
    n_columns = draw(st.integers(1, 4))
    made = [draw(hierarchies(NAMES[c])) for c in range(n_columns)]
    row = st.tuples(*(st.integers(0, len(labels[0]) - 1) for _, _, labels in made))
    pool = draw(st.lists(row, min_size=1, max_size=12))
    rows = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=max_rows))
    # a column of nothing but missing values is refused
    assume(
        all(min(r[c] for r in rows) < len(labels[0]) - 1 for c, (_, _, labels) in enumerate(made))
    )
    columns: dict[str, Any] = {
        NAMES[c]: pa.array([labels[0][r[c]] for r in rows], pa.string())
        for c, (_, _, labels) in enumerate(made)
    }
    columns["illness"] = [f"i{i % 3}" for i in range(len(rows))]
    columns["n"] = list(range(len(rows)))
    constraints = draw(constraint_sets(n_columns))
    policy = {
        "columns": {
            **{
                NAMES[c]: {"role": "quasi", "hierarchy": spec}
                for c, (spec, _, _) in enumerate(made)
            },
            "illness": "sensitive",
            "n": "plain",
        },
        "constraints": [{"k": k, "on": [NAMES[c] for c in cs]} for cs, k in constraints],
        "method": draw(METHODS),
    }
    return Released(
        pa.table(columns), policy, [m[1] for m in made], [m[2] for m in made], rows, constraints
    )


METHODS = st.sampled_from(
    [
        {"name": "datafly"},
        {"name": "classfly-plus", "variant": "naive"},
        {"name": "classfly-plus", "variant": "complete"},
        {"name": "classfly-plus", "variant": "partial"},
    ]
)
