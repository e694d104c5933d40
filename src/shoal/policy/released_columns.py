"""Which columns of a release a policy covers, and which of its rows are exempt from the models."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shoal.errors import PolicyError, VerificationFailed, listed
from shoal.methods.constraints import Constraint, components, union

if TYPE_CHECKING:
    from shoal.policy.policy import Policy


def exempt_columns(policy: "Policy", columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns in which an exempt row reads `*`; none where there can be no such rows.

    Exempt are rows suppressed in the component of the constraints that `columns` belong to, with
    their sensitive and plain cells suppressed too. No other row is ever left out.
    """
    for component in suppressible_components(policy):
        if columns[0] in component:
            return [*component, *_not_quasi(policy, names)]
    return []


def suppressible_components(policy: "Policy") -> list[list[str]]:
    """The sets of columns in which a row may be suppressed; none where it would be withheld."""
    place = {name: j for j, name in enumerate(policy.quasi)}
    constraints = [
        Constraint(tuple(place[name] for name in model.quasi_of(policy.quasi)), 1)
        for model in policy.constraints
    ]
    found = [[policy.quasi[j] for j in union(each).columns] for each in components(constraints)]
    return found if len(found) > 1 or policy.suppressed == "starred" else []


def columns_to_verify(policy: "Policy", names: Sequence[str]) -> list[str]:
    """The columns that a model or an exemption depends on."""
    others = _not_quasi(policy, names) if suppressible_components(policy) else policy.sensitive
    ruled = [name for name in names if _has_rule(policy, name)]
    weights = [policy.weight] if any(model.needs_weights for model in policy.constraints) else []
    needed = {*policy.quasi, *others, *ruled, *weights}
    return [name for name in names if name in needed]


def _has_rule(policy: "Policy", name: str) -> bool:
    column = policy.columns.get(name)
    return column is not None and (column.has_rule or column.role == "pseudonym")


def check_released_columns(policy: "Policy", names: Sequence[str]) -> None:
    """Refuse a release that lacks columns of the policy, or has columns it does not publish."""
    expected = [*policy.quasi, *policy.sensitive]
    there = set(names)
    missing = [name for name in expected if name not in there]
    if len(missing) == len(expected):
        raise PolicyError(
            f"The release has none of the policy's columns ({listed(expected)}), but {len(names)} "
            "others. Is this the policy it was made with, and does the file begin with a header?"
        )
    if missing:
        raise PolicyError(
            f"The release has no column {listed(repr(name) for name in missing)}, which the policy "
            f"lists; it has {listed(names)}. Is this the policy it was made with?"
        )
    published = set(policy.published(names))
    if forbidden := [name for name in names if name not in published]:
        raise VerificationFailed(
            f"The release has the columns {listed(repr(name) for name in forbidden)}, which must "
            "not be published according to the policy."
        )


def _not_quasi(policy: "Policy", names: Sequence[str]) -> list[str]:
    """The published columns other than the quasi-identifiers."""
    quasi = set(policy.quasi)
    return [name for name in names if name in policy.columns and name not in quasi]
