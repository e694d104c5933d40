"""Texts of other people's tables, made fit for a chart or a page."""

import re
import unicodedata
from functools import cache
from typing import Any

NARROW, WIDE = 0.62, 1.05
"""How wide a letter is, as a share of the font's size; East Asian letters and emoji are wide."""
LONGEST = 160
"""Letters of a text in a page's tables; more would tell a reader nothing."""
NOTHING = "(empty)"
_HIDDEN = re.compile(r"[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")
"""Line breaks, other controls, and what turns the direction of the text around it."""


def shown(text: object, longest: int = LONGEST) -> str:
    """A text on one line, cut where it is too long."""
    line = _HIDDEN.sub(" ", str(text)).strip() or NOTHING
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def clean(value: Any) -> Any:
    """All texts in a certificate without what turns or breaks the page; line breaks stay."""
    if isinstance(value, dict):
        return {clean(key): clean(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [clean(one) for one in value]
    if isinstance(value, str):
        return "\n".join(_HIDDEN.sub(" ", line) for line in value.split("\n"))
    return value


def width(text: str, size: float) -> float:
    """About how wide a text is, never less than it really is, in the unit of `size`."""
    return size * sum(map(_letter, text))


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


@cache
def _letter(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return WIDE
    if letter in " .,:;|!'()[]{}/iljtfrI-":
        return 0.42
    return 0.92 if letter in "mwMW%@—…" else 0.78 if letter.isupper() else NARROW + 0.02
