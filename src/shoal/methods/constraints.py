"""Sets of constraints: what implies what, what hangs together, what covers all.

Source: Yang et al., k-anonymisation that supports multiple constraints (Classfly+), accepted 2005;
theorem numbers are the paper's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping
from shoal.errors import PolicyError, listed
from shoal.methods.base import QuasiColumns
from shoal.models.k import K
from shoal.models.requirement import Requirement


@dataclass(frozen=True)
class Constraint:
    """`<QI, K>`: every published combination of these columns occurs at least k times."""

    columns: tuple[int, ...]
    """Quasi-identifiers, by their place in the policy; ascending."""
    k: int


def implies(strong: Constraint, weak: Constraint) -> bool:
    """Whether `weak` is contained in `strong`: fewer columns and no larger K (Theorem 1)."""
    return set(weak.columns) <= set(strong.columns) and weak.k <= strong.k


def without_implied(
    constraints: Sequence[Constraint],
) -> tuple[tuple[Constraint, ...], dict[Constraint, Constraint]]:
    """The constraints that no other one implies, and each implied one with one that implies it.

    Of equal constraints the first is kept. Leaving out implied ones changes no result (Theorem 1).
    """
    implied: dict[Constraint, Constraint] = {}
    kept: list[Constraint] = []
    for i, one in enumerate(constraints):
        others = [
            other
            for j, other in enumerate(constraints)
            if i != j and implies(other, one) and (other != one or j < i)
        ]
        if others:
            implied[one] = max(others, key=lambda c: (len(c.columns), c.k))
        else:
            kept.append(one)
    return tuple(kept), implied


def components(constraints: Sequence[Constraint]) -> tuple[tuple[Constraint, ...], ...]:
    """The independent subsets: constraints that share columns, directly or by way of others.

    The partition is unique (Theorem 2). Subsets come in the order of their first column, the
    constraints inside one by rising K, then columns.
    """
    parts: list[tuple[set[int], list[Constraint]]] = []
    for constraint in constraints:
        columns, members = set(constraint.columns), [constraint]
        apart = []
        for part in parts:
            if part[0] & columns:
                columns |= part[0]
                members += part[1]
            else:
                apart.append(part)
        parts = [*apart, (columns, members)]
    parts.sort(key=lambda part: min(part[0]))
    return tuple(tuple(sorted(part, key=lambda c: (c.k, c.columns))) for _, part in parts)


def union(constraints: Sequence[Constraint]) -> Constraint:
    """`<all columns, largest K>`: meeting it meets every one of them (Theorem 3), not vice versa."""
    columns = sorted({column for constraint in constraints for column in constraint.columns})
    return Constraint(tuple(columns), max(constraint.k for constraint in constraints))


# The largest anonymous subset of rows (Theorem 4), all constraints at once or one after another.


SWEEPS = 4
"""Sweeps that drop little before the drops are followed one by one. Most subsets settle in a few
sweeps, which are cheap; only a long chain of drops is worth the lists that following it needs."""
LITTLE = 1 / 8


def largest_subset(
    keys: Sequence[Codes] | Codes,
    least: Sequence[int],
    weights: Ints,
    one_by_one: bool = False,
) -> Bools:
    """(n,) which cells belong to the unique largest subset that meets every constraint within itself.

    keys[c] (n,): the key of each cell under constraint c, numbered 0, 1, 2, …, in a list or one
    array; weights: rows of each cell. `one_by_one` adds the constraints in the order given, each time
    down to a fixpoint: the same subset by another way.
    """
    from shoal.kernels.climbing import add_counts

    n, m = len(weights), len(keys)
    alive = np.zeros(n, np.bool_)
    if n == 0:
        return alive
    table = np.asarray(keys)
    base = np.cumsum([0, *(table.max(axis=1) + 1)]).astype(np.int64)
    # rows are numbered in 32 bits everywhere, so counts of them fit
    counts, rows = np.zeros(base[m], np.int32), weights.astype(np.int32)
    floor = np.array(least, np.int64)
    left = np.arange(n, dtype=np.int32)
    counted = 0
    for active in range(1 if one_by_one else m, m + 1):
        # a constraint is first counted when it is added, over what the others have left
        for c in range(counted, active):
            add_counts(table[c], rows, left, counts[base[c] : base[c + 1]])
        counted = active
        left = _fixpoint(table[:active], base[: active + 1], counts, floor[:active], rows, left)
    alive[left] = True
    return alive


def _fixpoint(
    keys: Codes, base: Ints, counts: Codes, least: Ints, weights: Codes, left: Codes
) -> Codes:
    """Those of the cells `left` that remain when nothing fails any more; `counts` go along.

    A sweep that drops much pays for itself; of the others there are few: the whole is linear.
    """
    from shoal.kernels.climbing import chase, sweep

    idle = 0
    while idle < SWEEPS:
        kept, fell = sweep(keys, base, counts, least, weights, left)
        idle += len(left) - kept < LITTLE * len(left)
        left = left[:kept]
        if not fell:
            return left
    return left[: chase(keys, base, counts, least, weights, left)]


# What the climbing methods share: reading the constraints, refusing what they cannot honour.


def constraints_of(requirement: Requirement, names: Sequence[str]) -> tuple[Constraint, ...]:
    """The k constraints, by the places of their columns among `names`."""
    return tuple(
        Constraint(tuple(sorted(names.index(name) for name in model.on or names)), model.k)
        for model in requirement.models
        if isinstance(model, K)
    )


def check_climbable(method: str, requirement: Requirement, columns: QuasiColumns) -> None:
    """Raise unless every model is k, every column has a hierarchy and some constraint names it."""
    others = {model.name: 1 for model in requirement.models if not isinstance(model, K)}
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
