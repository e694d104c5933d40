"""The forms a range can take in a label, ours and other tools'."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from shoal.hierarchy.dates import DATE
from shoal.publish.places import NUMBER, Place, day_of, place_of
from shoal.publish.unescape import enclosed, pieces, plain, split_at

IS_ISO = re.compile(DATE)
IS_PART = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?|-Q([1-4])|(s))?", re.ASCII)
IS_HALF_OPEN = re.compile(r"\[(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)\)", re.ASCII)
IN_BRACKETS = re.compile(r"([\[(])(.*)([\])])", re.S)
AT_ONE_END = re.compile(r"(<=|>=|<|>|≤|≥)\s*(.+)", re.S)
BETWEEN = ("..", "~", "–", " to ", "-")
"""What may stand between the ends of a range; inside brackets also a comma or semicolon."""


@dataclass(frozen=True)
class Range:
    """Two places and what lies between them."""

    low: Any
    high: Any
    with_low: bool = True
    with_high: bool = True


@dataclass(frozen=True)
class Axis:
    """What orders the values of a column."""

    of: Literal["places", "numbers", "days", "list"]
    """Numbers, dates and times; numbers alone, told apart by their text; the days of dates; a list."""
    order: Sequence[str] = ()

    def place(self, text: str) -> Place | None:
        """Where a text stands; None if nowhere."""
        if self.order:
            return (NUMBER, self.order.index(text)) if text in self.order else None
        if self.of == "days":
            day = day_of(text[:10]) if IS_ISO.search(text) else None
            return None if day is None else (NUMBER, day)
        found = place_of(text)
        return None if found and self.of == "numbers" and found[0] != NUMBER else found

    def rounds(self, texts: Sequence[str]) -> bool:
        """Whether a column of these texts may have been read as floats, which keep 15 digits."""
        scientific = any("e" in text or "E" in text for text in texts)
        return self.of == "places" and scientific and any(len(text) > 15 for text in texts)

    def rounded(self, text: str) -> Place | None:
        """Where a text stands as a float."""
        found = place_of(text)
        if found is None or found[0] != NUMBER:
            return found
        number = float(found[1])
        return (NUMBER, Decimal(repr(number))) if abs(number) != float("inf") else found


def our_range(label: str, axis: Axis) -> Range | None:
    """`[a~b]`."""
    if label[:1] != "[":
        return None
    found = pieces(label)
    ends = split_at(found[1:-1], "~") if enclosed(found, "[", "]") else []
    if len(ends) != 2:
        return None
    low, high = (axis.place(plain(end)) for end in ends)
    return None if low is None or high is None else Range(low, high)


def half_open(label: str) -> Range | None:
    """`[a-b)`, of a hierarchy of intervals."""
    found = IS_HALF_OPEN.fullmatch(label)
    if not found:
        return None
    low, high = (NUMBER, Decimal(found[1])), (NUMBER, Decimal(found[2]))
    return Range(low, high, with_high=False)


def date_part(label: str, days: bool) -> Range | None:
    """`1964-03`, `1964-Q1`, `1964` or `1960s`; `1964-03-07` if days are parts too."""
    found = IS_PART.fullmatch(label)
    if not found or (found[3] and not days):
        return None
    year, month = int(found[1]), int(found[2] or 1)
    if found[3]:
        day = day_of(label)
        return None if day is None else Range((NUMBER, day), (NUMBER, day))
    months = 1 if found[2] else 12
    if found[4]:
        month, months = int(found[4]) * 3 - 2, 3
    elif found[5]:
        year, months = year // 10 * 10, 120
    if not 1 <= month <= 12:
        return None
    return Range((NUMBER, _first(year, month)), (NUMBER, _first(year, month + months) - 1))


def _first(year: int, month: int) -> int:
    """The number of a month's first day, also beyond the years that a calendar has."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    if year < 1:
        return 0
    first = day_of(f"{min(year, 9999)}-{month:02}-01")
    assert first is not None
    return first + (366 if year > 9999 else 0)


def foreign_range(label: str, axis: Axis) -> Range | None:
    """`[20, 30)`, `20-30`, `20..30`, `>= 65`, `65+` and the like."""
    text = label.strip()
    if found := AT_ONE_END.fullmatch(text):
        end = axis.place(found[2])
        return None if end is None else _at_one_end(found[1], end)
    if text.endswith("+") and (end := axis.place(text[:-1])) is not None:
        return _at_one_end(">=", end)
    brackets = IN_BRACKETS.fullmatch(text)
    inner, separators = (brackets[2], (",", ";", *BETWEEN)) if brackets else (text, BETWEEN)
    with_low, with_high = (brackets[1] == "[", brackets[3] == "]") if brackets else (True, True)
    for left, right in _halves(inner, separators):
        low, high = axis.place(left.strip()), axis.place(right.strip())
        if low is not None and high is not None and low[0] == high[0] and low[1] <= high[1]:
            return Range(low, high, with_low, with_high)
    return None


def _at_one_end(sign: str, end: Place) -> Range:
    """Everything on one side of a place, of its own sort."""
    closed = sign not in ("<", ">")
    if sign in ("<", "<=", "≤"):
        return Range((end[0],), end, with_high=closed)
    return Range(end, (end[0] + 1,), with_low=closed)


def _halves(text: str, separators: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A text cut in two at each separator, wherever it stands."""
    for separator in separators:
        at = text.find(separator, 1)
        while at > 0:
            yield text[:at], text[at + len(separator) :]
            at = text.find(separator, at + 1)
