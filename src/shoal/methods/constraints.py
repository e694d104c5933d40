"""Sets of k-anonymity constraints: which implies which, which belong together, what covers all.

Source: Yang et al., k-anonymisation that supports multiple constraints (Classfly+), accepted 2005;
theorem numbers are the paper's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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
        separate = []
        for part in parts:
            if part[0] & columns:
                columns |= part[0]
                members += part[1]
            else:
                separate.append(part)
        parts = [*separate, (columns, members)]
    parts.sort(key=lambda part: min(part[0]))
    return tuple(tuple(sorted(part, key=lambda c: (c.k, c.columns))) for _, part in parts)


def union(constraints: Sequence[Constraint]) -> Constraint:
    """`<all columns, largest K>`: meeting it meets every one of them (Theorem 3), not vice versa."""
    columns = sorted({column for constraint in constraints for column in constraint.columns})
    return Constraint(tuple(columns), max(constraint.k for constraint in constraints))


def constraints_of(requirement: Requirement, names: Sequence[str]) -> tuple[Constraint, ...]:
    """The k constraints, by the places of their columns among `names`."""
    return tuple(
        Constraint(tuple(sorted(names.index(name) for name in model.on or names)), model.k)
        for model in requirement.models
        if isinstance(model, K)
    )


def words(constraint: Constraint, names: Sequence[str]) -> str:
    """A constraint in words: k = 3 on race, birth."""
    return f"k = {constraint.k} on {', '.join(names[j] for j in constraint.columns)}"
