"""Texts and figures of a report as people read them: on one line, of limited length, with units.

Names and values come from other people's tables, so they may be long, empty, or turn the direction of
the text around them.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any

from shoal import errors
from shoal.errors import counted

NARROW, WIDE = 0.62, 1.05
"""Width of a character, as a share of the font size; East Asian characters and emoji are wide."""
LONGEST = 160
"""Characters of a text in a page's tables."""
NOTHING = "(empty)"
_HIDDEN = re.compile(r"[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")
"""Line breaks, other control characters, and those that change the direction of text."""
EVEN = 0.5
"""From here on a chance is given in per cent: `1 in 1.4` means little to people."""
BLANK = "\u00a0"
"""A no-break space."""


def percent(share: float) -> str:
    """A percentage without line breaks."""
    return errors.percent(share).replace(" ", BLANK)


def figure(value: float | None) -> str:
    """A figure of a model or a metric."""
    if value is None:
        return "none"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 1_000 else f"{value:.4g}"


def chance(share: float) -> str:
    """`1 in 5`; per cent where the chance is even or better."""
    if share <= 0:
        return "none"
    if share >= 1:
        return "certain"
    return percent(share) if share >= EVEN else f"1{BLANK}in{BLANK}{1 / share:,.0f}"


def share_of(n: int, whole: int, what: str = "row", plural: str = "") -> str:
    """`120 of 1,000 rows (12.0 %)`."""
    part = f" ({percent(n / whole)})" if whole else ""
    return f"{n:,} of {counted(whole, what, plural)}{part}"


def names(words: Iterable[str], limit: int = 8) -> str:
    """`a, b and c`; many are cut, with how many were left out."""
    every = [shown(word, 40) for word in words]
    if len(every) > limit:
        return f"{', '.join(every[:limit])} and {len(every) - limit} more"
    return " and ".join(filter(None, [", ".join(every[:-1]), *every[-1:]]))


def shown(text: object, longest: int = LONGEST) -> str:
    """A text on one line, cut where it is too long."""
    line = _HIDDEN.sub(" ", str(text)).strip() or NOTHING
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def clean(value: Any) -> Any:
    """All texts of a certificate without control characters; line breaks stay."""
    if isinstance(value, dict):
        return {clean(key): clean(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [clean(one) for one in value]
    if isinstance(value, str):
        return "\n".join(_HIDDEN.sub(" ", line) for line in value.split("\n"))
    return value


def cut(text: object, room: float, size: float) -> str:
    """As much of a text as fits into some room."""
    line = shown(text)
    if width(line, size) <= room:
        return line
    taken = _letter("…") * size
    for i, letter in enumerate(line):
        taken += _letter(letter) * size
        if taken > room:
            return f"{line[:i].rstrip()}…"
    return line


def width(text: str, size: float) -> float:
    """About how wide a text is, never less than it really is, in the unit of `size`."""
    return size * sum(map(_letter, text))


@cache
def _letter(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return WIDE
    if letter in " .,:;|!'()[]{}/iljtfrI-":
        return 0.42
    return 0.92 if letter in "mwMW%@—…" else 0.78 if letter.isupper() else NARROW + 0.02
