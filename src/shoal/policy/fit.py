"""Whether a policy and a table belong together: every column listed, every listed column there."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shoal.errors import listed, nearest
from shoal.policy.wording import Problem

if TYPE_CHECKING:
    from shoal.policy.policy import Policy


def problems(policy: "Policy", names: Sequence[str]) -> list[Problem]:
    """All that keeps the policy from being applied to a table with these columns."""
    if not any(name in policy.columns for name in names):
        return [Problem(("columns",), _stranger(policy, names))]
    return [*_unknown(policy, names), *_forgotten(policy, names)]


def _stranger(policy: "Policy", names: Sequence[str]) -> str:
    # the names are not shown: of a file without a header they would be somebody's row
    return (
        f"none of them is in the table, which has {len(names)} other columns. Is this the policy of "
        f"another table, or has the file no line of column names, or another separator? The policy "
        f"lists {listed(policy.columns)}"
    )


def _unknown(policy: "Policy", names: Sequence[str]) -> Iterator[Problem]:
    free = [name for name in names if name not in policy.columns]
    for name in policy.columns:
        if name not in names:
            # A column that no line of the policy speaks of is the likeliest to be meant.
            meant = nearest(name, free) or nearest(name, names)
            words = "the table has no such column"
            words += f".{meant}" if meant else f"; it has {listed(names, 30)}"
            yield Problem(("columns", name), words)


def _forgotten(policy: "Policy", names: Sequence[str]) -> Iterator[Problem]:
    left = [name for name in names if name not in policy.columns]
    if left and policy.default != "drop":
        yield Problem(
            ("columns",),
            f"the table also has {listed(left, 30)}; list each under `columns` with a role, or set "
            "`default: drop` to leave such columns out",
        )
