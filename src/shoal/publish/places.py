"""Where a text stands among its like: as a number, a moment or a time of day.

Numbers are exact, moments are whole nanoseconds. Places of one sort compare with each other; no range
holds places of two sorts.
"""

import re
from datetime import date
from decimal import Decimal

Place = tuple[int, Decimal | int]
"""The sort (number, moment, time of day), and where it stands."""
NUMBER, MOMENT, CLOCK = range(3)

IS_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,6})?", re.ASCII)
_CLOCK = r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
IS_CLOCK = re.compile(_CLOCK, re.ASCII)
IS_DAY = re.compile(r"(\d{1,4})([-/])(\d{1,2})\2(\d{1,2})", re.ASCII)
IS_GERMAN_DAY = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{1,4})", re.ASCII)
IS_MOMENT = re.compile(
    rf"(\d{{4}}-\d\d-\d\d)[T ]{_CLOCK}(Z|[+-]\d\d:?\d\d)?",
    re.ASCII,
)
NANOSECONDS = 10**9
DAY = 86_400 * NANOSECONDS


def place_of(text: str) -> Place | None:
    """The place of a text, None where it has none."""
    text = text.strip()
    if IS_NUMBER.fullmatch(text):
        return NUMBER, Decimal(text)
    day = day_of(text)
    if day is not None:
        return MOMENT, day * DAY
    if found := IS_CLOCK.fullmatch(text):
        return CLOCK, _nanoseconds(*found.groups())
    found = IS_MOMENT.fullmatch(text)
    day = day_of(found[1]) if found else None
    if found is None or day is None:
        return None
    _, *clock, zone = found.groups()
    return MOMENT, day * DAY + _nanoseconds(*clock) - _offset(zone)


def day_of(text: str) -> int | None:
    """The number of a day that is written as 1964-03-07, 1964/03/07 or 07.03.1964."""
    if found := IS_DAY.fullmatch(text):
        year, month, day = found[1], found[3], found[4]
    elif found := IS_GERMAN_DAY.fullmatch(text):
        day, month, year = found.groups()
    else:
        return None
    try:
        return date(int(year), int(month), int(day)).toordinal()
    except ValueError:
        return None


def _nanoseconds(hour: str, minute: str, second: str | None, part: str | None) -> int:
    seconds = (int(hour) * 60 + int(minute)) * 60 + int(second or 0)
    return seconds * NANOSECONDS + int((part or "").ljust(9, "0"))


def _offset(zone: str | None) -> int:
    if zone in (None, "Z"):
        return 0
    assert zone is not None
    digits = zone[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:])
    return (-1 if zone[0] == "-" else 1) * minutes * 60 * NANOSECONDS
