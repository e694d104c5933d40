"""What a policy may not ask where no memory holds the table; to be asked before any work."""

from collections.abc import Iterator

from shoal.errors import PolicyError, listed
from shoal.models.requirement import name_of, needs_population
from shoal.policy import Policy

INSTEAD = "Leave it out, or run on one machine (`--engine local`)."


def check_large(policy: Policy) -> None:
    """Raise `PolicyError` with everything that a large run cannot do."""
    if wrong := list(_problems(policy)):
        raise PolicyError("\n".join(wrong))


def _problems(policy: Policy) -> Iterator[str]:
    if policy.preferences:
        yield (
            f"Column {listed(map(repr, policy.preferences))} has a `preference`: people's own wishes "
            f"are not read on large engines. {INSTEAD}"
        )
    if policy.publish == "anatomy":
        yield (
            "`publish: anatomy` makes linked tables, which large engines do not write. Choose "
            "`publish: generalised`, or run on one machine (`--engine local`)."
        )
    if policy.order == "kept":
        yield (
            "`order: kept` asks for rows as they came, but rows of a large table have no order. "
            "Choose `order: sorted`, or run on one machine (`--engine local`)."
        )
    people = [name_of(model) for model in policy.constraints if needs_population(model)]
    if people or policy.population is not None:
        what = f"{listed(people)} compares" if people else "A `population` is there to compare"
        yield f"{what} groups with a second table, which large engines do not read. {INSTEAD}"
    for model in policy.constraints:
        in_pieces = hasattr(model, "high_is_strong") and (
            not hasattr(model, "holds_over") or hasattr(model, "over")
        )
        if not in_pieces:
            yield (
                f"{name_of(model)} does not say how classes that are judged apart are judged "
                f"together (`high_is_strong`, `over`), so large engines cannot verify it. {INSTEAD}"
            )
