"""The two tables of an Anatomy release, by hand: the slow twin, and tables to try it on."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping
from shoal.methods.base import Method, Progress
from shoal.models.requirement import Requirement
from tests.releases import raw_text

Row = tuple[str | None, ...]
COLUMNS = {"age": "quasi", "town": "quasi", "ill": "sensitive", "pay": "sensitive", "ward": "plain"}


def policy(**keys: Any) -> dict[str, Any]:
    """A policy over the columns above."""
    asked = [{"l": 2, "of": "ill"}, {"l": 1, "of": "pay"}]
    return {"columns": COLUMNS, "constraints": asked, "publish": "anatomy", "seed": 5, **keys}


def people(n: int) -> pa.Table:
    """Many rows that share quasi-identifiers, with gaps."""
    return pa.table(
        {
            "age": [20 + i * 7 % 11 for i in range(n)],
            "ill": [("flu", "gout", None, "cold", "flu")[i * 7 // 3 % 5] for i in range(n)],
            "town": [f"t{i % 3}" if i % 7 else None for i in range(n)],
            "ward": [f"w{i % 4}" for i in range(n)],
            "pay": [i * 37 % 5 * 100 for i in range(n)],
        }
    )


def twin(
    table: pa.Table, groups: Sequence[int], shown: Sequence[str], sensitive: Sequence[str]
) -> tuple[list[Row], dict[str, list[Row]]]:
    """The rows of the table of people and of the sensitive tables, as text.

    groups: by input row, below 0 for a suppressed one; shown: quasi columns, then plain ones by name.
    """
    rows = [{name: raw_text(value) for name, value in row.items()} for row in table.to_pylist()]
    members: dict[int, list[dict[str, str | None]]] = {}
    for row, group in zip(rows, groups, strict=True):
        if group >= 0:
            members.setdefault(group, []).append(row)

    def place(text: str | None) -> tuple[bool, str]:
        return text is None, text or ""

    made = []
    for inside in members.values():
        of_people = sorted([place(row[name]) for name in shown] for row in inside)
        of_values = []
        for name in sorted(sensitive):
            counts = Counter(row[name] for row in inside)
            of_values.append(sorted((place(value), n) for value, n in counts.items()))
        made.append((of_people, of_values))
    made.sort()
    first: list[Row] = []
    others: dict[str, list[Row]] = {name: [] for name in sensitive}
    for number, (of_people, of_values) in enumerate(made, 1):
        first += [(*(back(cell) for cell in row), str(number)) for row in of_people]
        for name, values in zip(sorted(sensitive), of_values, strict=True):
            others[name] += [(str(number), back(value), str(n)) for value, n in values]
    return first, others


def back(cell: tuple[bool, str]) -> str | None:
    return None if cell[0] else cell[1]


@dataclass(frozen=True)
class Watched(Method):
    """A method that remembers the groups of another, by input row."""

    method: Any
    seen: tuple[list[int], ...] = ([],)

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        (found,) = self.method.group(cells, requirement, seed, progress)
        by_row = dict(zip(cells.rows.tolist(), found.group.tolist(), strict=True))
        self.seen[0][:] = [by_row[row] for row in range(cells.n_rows)]
        return (found,)
