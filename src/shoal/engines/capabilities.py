"""What a policy may not ask where no memory holds the table; to be asked before any work."""

from collections.abc import Iterator

from shoal.errors import PolicyError, listed
from shoal.policy import Policy

IN_MEMORY = "work in memory, without --engine and --memory"
INSTEAD = f"Leave it out, or {IN_MEMORY}."


def check_large(policy: Policy) -> None:
    """Raise `PolicyError` with everything that a large run cannot do."""
    wrong = list(_problems(policy))
    if policy.order == "kept":
        wrong.append(
            "`order: kept` asks for rows as they came, but rows of a large table have no order. "
            f"Choose `order: sorted`, or {IN_MEMORY}."
        )
    if wrong:
        raise PolicyError("\n".join(wrong))


def check_verifiable(policy: Policy) -> None:
    """Raise `PolicyError` with everything that cannot be verified where no memory holds the table."""
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
            "`publish: anatomy` makes linked tables, which large engines neither read nor write. "
            f"Choose `publish: generalised`, or {IN_MEMORY}."
        )
    people = [model.name for model in policy.constraints if model.needs_population]
    if people or policy.population is not None:
        what = f"{listed(people)} compares" if people else "A `population` is there to compare"
        yield f"{what} groups with a second table, which large engines do not read. {INSTEAD}"
    for model in policy.constraints:
        if model.release_wide and model.over(1, 1) is None:
            yield (
                f"{model.name} judges the release as a whole and cannot be computed from its numbers "
                f"of classes and rows (`over`), so large engines cannot verify it. {INSTEAD}"
            )
