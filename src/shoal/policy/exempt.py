"""Which columns of a release a policy speaks of, and which of its rows are exempt from the models."""

from collections.abc import Sequence

from shoal.constraints.sets import Constraint, components, union
from shoal.errors import PolicyError, VerificationFailed, listed
from shoal.policy.policy import Policy


def exempt(policy: Policy, columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns in which an exempt row reads `*`; none where there can be no such rows.

    Exempt are rows suppressed in the part of the constraints that `columns` belong to, with their
    sensitive and plain cells hidden too. Nothing else is ever left out.
    """
    for part in exempt_parts(policy):
        if columns[0] in part:
            return [*part, *_others(policy, names)]
    return []


def exempt_parts(policy: Policy) -> list[list[str]]:
    """The sets of columns in which a row may be suppressed; none where it would be withheld."""
    place = {name: j for j, name in enumerate(policy.quasi)}
    asked = [
        Constraint(tuple(place[name] for name in getattr(model, "on", None) or policy.quasi), 1)
        for model in policy.constraints
    ]
    parts = [[policy.quasi[j] for j in union(part).columns] for part in components(asked)]
    return parts if len(parts) > 1 or policy.suppressed == "starred" else []


def _others(policy: Policy, names: Sequence[str]) -> list[str]:
    """The published columns beside the quasi-identifiers."""
    return [name for name in names if name in policy.columns and name not in policy.quasi]


def needed(names: Sequence[str], policy: Policy) -> list[str]:
    """The columns that any model or exemption speaks of."""
    others = _others(policy, names) if exempt_parts(policy) else policy.sensitive
    speaks = {*policy.quasi, *others}
    return [name for name in names if name in speaks]


def check_columns(names: Sequence[str], policy: Policy) -> None:
    """Refuse a release without columns that the policy speaks of, or with others than it lets out."""
    wanted = [*policy.quasi, *policy.sensitive]
    missing = [name for name in wanted if name not in names]
    if len(missing) == len(wanted):
        raise PolicyError(
            f"The release has none of the columns the policy speaks of ({listed(wanted)}), but "
            f"{len(names)} others. Is this the policy it was made by, and has the file a line of "
            "column names?"
        )
    if missing:
        raise PolicyError(
            f"The release has no column {listed(repr(name) for name in missing)}, which the policy "
            f"speaks of; it has {listed(names)}. Is this the policy it was made by?"
        )
    hidden = [name for name in names if name not in policy.published(names)]
    if hidden:
        raise VerificationFailed(
            f"The release holds {listed(repr(name) for name in hidden)}, which the policy does not "
            "let be published."
        )
