"""What the climbing methods share: reading the constraints, refusing what they cannot honour."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

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
    others = [name_of(model) for model in requirement.models if not isinstance(model, K)]
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
    """The groupings with notes on what was done with the constraints."""
    names = [domain.name for domain in cells.domains]
    kept, implied = without_implied(constraints)
    notes = [
        f"{words(weak, names)} is implied by {words(strong, names)}."
        for weak, strong in implied.items()
    ]
    parts = [kept] if together else components(kept)
    for part, grouping in zip(parts, groupings, strict=True):
        asked = " and ".join(words(one, names) for one in part)
        notes.append(f"{asked}: {_climbed(grouping, cells)}")
    return (replace(groupings[0], notes=tuple(notes)), *groupings[1:])


def _climbed(grouping: Grouping, cells: Cells) -> str:
    """How many levels each column climbed, and for how many rows."""
    assert grouping.levels is not None
    sizes = np.bincount(grouping.group[grouping.group >= 0], minlength=grouping.n_groups)
    told = []
    for j, column in enumerate(grouping.columns):
        rows = _rows_by_level(grouping.levels[:, j], sizes)
        moved = [f"{level} for {n:,} rows" for level, n in enumerate(rows) if level and n]
        told.append(f"{cells.domains[column].name} climbed {' and '.join(moved) or 'nowhere'}")
    hidden = int((grouping.group < 0).sum())
    return "; ".join(told) + f"; {hidden:,} rows suppressed."


def _rows_by_level(
    levels: npt.NDArray[np.int32], sizes: npt.NDArray[np.integer]
) -> npt.NDArray[np.int64]:
    return np.bincount(levels, sizes).astype(np.int64)
