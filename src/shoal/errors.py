"""What can go wrong, and whose turn it is then.

Every error a user can cause is a `ShoalError` with a message that says what was found, where, what
is allowed and what to do. Anything else that escapes is a bug of ours. Messages never hold a raw
value of a person's row: name columns, counts, line numbers and values that many rows share.
"""

import difflib
from collections.abc import Iterable


class ShoalError(Exception):
    """A mistake or a limit that the user can act on; `exit_code` is what the command line returns."""

    exit_code = 2


class InputError(ShoalError):
    """The table cannot be read, or does not fit the policy."""


class PolicyError(ShoalError):
    """The policy says something that cannot be meant."""


class HierarchyError(PolicyError):
    """A hierarchy is not a tree, or does not cover the table."""


class Infeasible(ShoalError):  # noqa: N818 - the field's own word
    """No release of this table can meet the policy; the message gives the nearest feasible figure."""

    exit_code = 3


class VerificationFailed(ShoalError):  # noqa: N818 - the field's own word
    """What was published does not hold what was promised; nothing was written."""

    exit_code = 4


def nearest(word: str, allowed: Iterable[str]) -> str:
    """' Did you mean 'x'?' when some allowed word is close to `word`, else nothing."""
    spelled = {a.lower(): a for a in allowed}
    close = difflib.get_close_matches(word.lower(), spelled, n=1, cutoff=0.6)
    return f" Did you mean '{spelled[close[0]]}'?" if close else ""


def listed(words: Iterable[str], limit: int = 12) -> str:
    """The words with commas, cut after `limit` with how many were left out."""
    every = list(words)
    shown = ", ".join(every[:limit])
    return shown if len(every) <= limit else f"{shown} and {len(every) - limit} more"


def percent(share: float) -> str:
    """`12.3 %`; never `0.0 %` or `100.0 %` for what is not quite so."""
    shown = f"{share * 100:.1f}"
    if shown == "0.0" and share > 0:
        return "<0.1 %"
    if shown == "100.0" and share < 1:
        return ">99.9 %"
    return f"{shown} %"
