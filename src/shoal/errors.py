"""The errors and the warnings of Shoal, and how their messages are worded.

Every error that a user can cause is a `ShoalError` whose message says what was found, where, what is
allowed and what to do. Any other exception is a bug. Messages never contain a raw value of a person's
row: they name columns, counts, line numbers and values that many rows share.
"""

import difflib
import sys
import warnings
from collections.abc import Iterable, Sequence


class ShoalError(Exception):
    """Base class: a mistake or a limit that the user can act on.

    `exit_code` is what the command line returns.
    """

    exit_code = 2


class InputError(ShoalError):
    """The table cannot be read, or does not fit the policy."""


class PolicyError(ShoalError):
    """The policy, or a keyword in its place, is not valid."""


class HierarchyError(PolicyError):
    """A hierarchy is not a tree, or does not cover the table."""


class Infeasible(ShoalError):  # noqa: N818 - the field's own word
    """No release of this table can meet the policy; the message gives the nearest feasible figure."""

    exit_code = 3


class VerificationFailed(ShoalError):  # noqa: N818 - the field's own word
    """What was to be published does not hold a guarantee of the policy; nothing was written."""

    exit_code = 4


class ShoalWarning(UserWarning):
    """Something about a release or a table that its publisher should think about."""


def warn(messages: Iterable[str]) -> None:
    """Emit each message as a `ShoalWarning` at the user's own line, and to the logger `shoal`."""
    import logging

    logger = logging.getLogger("shoal")
    if not logger.handlers:  # otherwise Python would print what the warning prints already
        logger.addHandler(logging.NullHandler())
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "shoal":
        frame, level = frame.f_back, level + 1
    for message in messages:
        logger.warning("%s", message)
        warnings.warn(message, ShoalWarning, stacklevel=level)


def nearest(word: str, allowed: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?` if some allowed word is close to `word`, else nothing."""
    spelled = {a.lower(): a for a in allowed}
    close = difflib.get_close_matches(word.lower(), spelled, n=1, cutoff=0.6)
    return f" Did you mean '{spelled[close[0]]}'?" if close else ""


LONGEST = 300
"""Characters of a word in a list: a name of a broken file may have thousands."""


def listed(words: Iterable[str], limit: int = 12) -> str:
    """Return the words with commas, cut after `limit` with how many were left out."""
    every = list(words)
    shown = ", ".join(
        word if len(word) <= LONGEST else f"{word[:LONGEST]}…" for word in every[:limit]
    )
    return shown if len(every) <= limit else f"{shown} and {len(every) - limit} more"


def data_rows(places: Sequence[int], of: int) -> str:
    """`data rows 3, 8, …`: where the first few of some rows are, counted from 1 below the header.

    places: their positions, from 0. of: how many rows there are in all.
    """
    few = [f"{row + 1:,}" for row in places] + ["…"] * (of > len(places))
    return f"data row{'' if of == 1 else 's'} {', '.join(few)}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return `1 row`, `2,000 rows`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def percent(share: float) -> str:
    """Return `12.3 %`; never `0.0 %` or `100.0 %` for a share that is not quite that."""
    shown = f"{share * 100:.1f}"
    if shown == "0.0" and share > 0:
        return "<0.1 %"
    if shown == "100.0" and share < 1:
        return ">99.9 %"
    return f"{shown} %"


def format_seconds(seconds: float) -> str:
    """Return `0.04 s`, `12.3 s`, `4 min`."""
    if seconds < 0.995:
        return f"{max(seconds, 0.01):.2f} s"
    if seconds < 99.5:
        return f"{seconds:.1f} s"
    return f"{seconds:,.0f} s" if seconds < 600 else f"{seconds / 60:,.0f} min"


def format_memory(memory: int) -> str:
    """Return `<1 MB`, `12 MB`, `1.3 GB`."""
    if memory < 1_000_000:
        return "<1 MB"
    if memory < 999.5 * 1_000_000:
        return f"{memory / 1_000_000:.0f} MB"
    return f"{memory / 1_000_000 / 1000:,.1f} GB"
