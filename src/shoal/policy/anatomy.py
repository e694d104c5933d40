"""Anatomy releases (`publish: anatomy`): what their policies may contain, and the columns they add."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shoal import plugins
from shoal.errors import listed
from shoal.models.base import SIZES_ONLY, SensitiveModel
from shoal.policy.messages import Problem
from shoal.seeds import LARGE

if TYPE_CHECKING:
    from shoal.policy.policy import Policy

GROUP, COUNT = "group", "count"
"""The names of the two added columns, unless a column of the table has the same name."""


def group_name(policy: "Policy") -> str:
    """The column that links the tables."""
    return _unused_name(GROUP, policy)


def count_name(policy: "Policy") -> str:
    """The column of a sensitive table with the number of times a value occurs in a group."""
    return _unused_name(COUNT, policy)


def problems(policy: "Policy") -> Iterator[Problem]:
    """Everything in a policy that an Anatomy release cannot meet."""
    if policy.publish != "anatomy":
        return
    if not policy.sensitive:
        yield Problem(
            ("publish",),
            "anatomy separates sensitive values from the rows, but no column has the role sensitive; "
            "give it to one, or write `publish: generalised`",
        )
    allowed = [
        name for name, model in plugins.models().items() if issubclass(model, SensitiveModel)
    ]
    for place, model in enumerate(policy.constraints):
        if model.column == SIZES_ONLY:
            yield Problem(
                ("constraints", place),
                f"{model.name} is about quasi-identifiers, which `publish: anatomy` leaves exact, "
                f"so it cannot hold; allowed are models of a sensitive column: {listed(allowed)}",
            )
    for name in policy.preferences:
        yield Problem(
            ("columns", name, "preference"),
            "an Anatomy release publishes sensitive values unchanged, so personal preferences cannot "
            "be met; leave `preference` out, or write `publish: generalised`",
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
    """What a careful publisher should reconsider."""
    if policy.publish == "anatomy" and policy.seed is not None and policy.seed < LARGE:
        yield (
            "publish: anatomy shows who is in which group, and rows with equal quasi-identifiers "
            "were spread over groups by the seed and their values. A seed as small as this one can "
            "be found by trying: leave it out, and one is drawn at random."
        )


def _unused_name(base: str, policy: "Policy") -> str:
    """`group`, or `group_2`, `group_3`, ... where that is a published column."""
    # SQL does not distinguish names that differ in case only
    published = {name.lower() for name, column in policy.columns.items() if column.is_published}
    name, number = base, 1
    while name in published:
        number += 1
        name = f"{base}_{number}"
    return name
