"""What the climbing methods share: reading the constraints, refusing what they cannot honour."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.constraints.sets import Constraint, components, without_implied
from shoal.errors import PolicyError, listed
from shoal.methods.base import QuasiColumns
from shoal.models.k import K
from shoal.models.requirement import Requirement, name_of


def constraints_of(requirement: Requirement, names: Sequence[str]) -> tuple[Constraint, ...]:
    """The k constraints, by the places of their columns among `names`."""
    return tuple(
        Constraint(tuple(sorted(names.index(name) for name in model.on or names)), model.k)
        for model in requirement.models
        if isinstance(model, K)
    )


def check_climbable(method: str, requirement: Requirement, columns: QuasiColumns) -> None:
    """Raise unless every model is k, every column has a hierarchy and some constraint names it."""
    others = {name_of(model): 1 for model in requirement.models if not isinstance(model, K)}
    if others:
        raise PolicyError(
            f"method: {method} honours k alone, but the policy also asks for {listed(others)}. "
            "Use least-loss-partition, flexible-partition, mondrian or bottom-up, which honour "
            "every model."
        )
    bare = [name for name, has_tree in columns.items() if not has_tree]
    if bare:
        raise PolicyError(
            f"method: {method} climbs hierarchies, but {listed(bare)} "
            f"{'has' if len(bare) == 1 else 'have'} none. Give each a `hierarchy`, or use "
            "least-loss-partition."
        )
    names = list(columns)
    named = {j for one in constraints_of(requirement, names) for j in one.columns}
    left = [name for j, name in enumerate(names) if j not in named]
    if left:
        raise PolicyError(
            f"method: {method} generalises the columns that constraints name, and none names "
            f"{listed(left)}. Add {'it' if len(left) == 1 else 'them'} to a constraint's `on`, or "
            "give another role."
        )


def words(constraint: Constraint, names: Sequence[str]) -> str:
    """A constraint as a reader writes it: k = 3 on race, birth."""
    return f"k = {constraint.k} on {', '.join(names[j] for j in constraint.columns)}"


def explained(
    groupings: Sequence[Grouping], constraints: Sequence[Constraint], cells: Cells, together: bool
) -> tuple[Grouping, ...]:
    """The groupings with notes on what was done with the constraints.

    together: one grouping meets all of them; else each independent set has its own.
    """
    names = [domain.name for domain in cells.domains]
    kept, implied = without_implied(constraints)
    notes = [
        f"{words(weak, names)} is implied by {words(strong, names)}."
        for weak, strong in implied.items()
    ]
    parts = [kept] if together else components(kept)
    if len(parts) > 1:
        notes.append(
            f"The constraints fall into {len(parts)} parts that share no column, each treated apart."
        )
    for part, grouping in zip(parts, groupings, strict=True):
        asked = "; ".join(words(one, names) for one in part)
        notes.append("\n".join([f"How columns climbed for {asked}:", *climbs(grouping, names)]))
    return (replace(groupings[0], notes=tuple(notes)), *groupings[1:])


def climbs(grouping: Grouping, names: Sequence[str]) -> list[str]:
    """A line for each column, how many levels it climbed in how many rows; then what is starred."""
    wide = max(len(names[column]) for column in grouping.columns)
    lines = []
    for column, rows in zip(grouping.columns, _rows_by_level(grouping), strict=True):
        moved = [
            f"{_counted(level, 'level')} in {_counted(n, 'row')}"
            for level, n in enumerate(rows)
            if level and n
        ]
        lines.append(f"  {names[column]:<{wide}}  {', '.join(moved) or 'stays as it is'}")
    if hidden := int((grouping.group < 0).sum()):
        lines.append(f"  {_counted(hidden, 'row')} suppressed in these columns")
    return lines


def _rows_by_level(grouping: Grouping) -> list[list[int]]:
    """Per column the rows published at level 0, 1, 2, …"""
    levels = grouping.levels
    assert levels is not None
    if not len(levels):
        return [[] for _ in grouping.columns]
    sizes = np.bincount(grouping.group[grouping.group >= 0], minlength=len(levels))
    # groups that were settled together stand together, with the same levels
    first = np.flatnonzero(np.append(True, (levels[1:] != levels[:-1]).any(axis=1)))
    rows = np.add.reduceat(sizes, first)
    return [np.bincount(column, rows).astype(int).tolist() for column in levels[first].T]


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
