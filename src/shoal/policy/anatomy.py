"""What a policy that publishes two linked tables (`publish: anatomy`) may ask, and their names."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from shoal import plugins
from shoal.errors import listed
from shoal.models.requirement import SIZES_ONLY, column_of, name_of
from shoal.policy.wording import Problem

if TYPE_CHECKING:
    from shoal.policy.policy import Policy

GROUP, COUNT = "group", "count"
"""How the two columns that are added are called, unless a column of the table is called so."""


def group_name(policy: "Policy") -> str:
    """The column that links the tables."""
    return _free(GROUP, _published(policy))


def count_name(policy: "Policy") -> str:
    """The column of a sensitive table that says how often a value occurs in a group."""
    return _free(COUNT, _published(policy))


def problems(policy: "Policy") -> Iterator[Problem]:
    """All that an Anatomy release cannot keep to."""
    if policy.publish != "anatomy":
        return
    if not policy.sensitive:
        yield Problem(
            ("publish",),
            "anatomy parts sensitive values from the rows of people, but no column has the role "
            "sensitive; give it to one, or write `publish: generalised`",
        )
    allowed = [name for name, model in plugins.models().items() if _speaks_of_a_column(model)]
    for place, model in enumerate(policy.constraints):
        if column_of(model) == SIZES_ONLY:
            yield Problem(
                ("constraints", place),
                f"{name_of(model)} speaks of quasi-identifiers, which `publish: anatomy` leaves exact, "
                f"so it cannot hold; allowed are models of a sensitive column: {listed(allowed)}",
            )
    for name in policy.preferences:
        yield Problem(
            ("columns", name, "preference"),
            "an Anatomy release publishes sensitive values as they are, so nobody's wish can be heard "
            "in it; leave `preference` out, or write `publish: generalised`",
        )
    if policy.suppressed != "withheld":
        yield Problem(
            ("suppressed",),
            "found 'starred'; with `publish: anatomy` a suppressed row is in no group, so it can "
            "only be left out: write `suppressed: withheld`",
        )
    if policy.order != "sorted":
        yield Problem(
            ("order",),
            "found 'kept'; with `publish: anatomy` the order of the input could link people to "
            "their values again: write `order: sorted`",
        )


def warnings(policy: "Policy") -> Iterator[str]:
    """What a careful publisher should look at again."""
    if policy.publish == "anatomy" and policy.seed == 0:
        yield (
            "publish: anatomy shows who is in which group, and rows with equal quasi-identifiers "
            "were spread over groups by the seed and their values. Choose a seed of your own, a "
            "large one, and keep it to yourself: 0 is easy to guess."
        )


def _speaks_of_a_column(model: type) -> bool:
    return any(option.name == "of" for option in plugins.describe(model).options)


def _published(policy: "Policy") -> set[str]:
    # SQL takes names that differ in case only for one
    return {name.lower() for name, column in policy.columns.items() if column.is_published}


def _free(wanted: str, taken: Iterable[str]) -> str:
    """`group`, or `group_2`, `group_3`, ... where that is taken."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name
