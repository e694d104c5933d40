"""Formats of dates, such as `%d/%m/%Y`: what they may contain, and the texts that they match.

A format is read here and not by the C library, so that a text means the same on every machine and in
every locale: months are English, and a day that the calendar does not have is no date.
"""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
LONG_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
DIRECTIVES = {
    "%Y": r"(?P<year>[0-9]{4})",
    "%y": r"(?P<short>[0-9]{2})",
    "%m": r"(?P<month>[0-9]{1,2})",
    "%b": rf"(?P<name>(?i:{'|'.join(MONTHS)}))\.?",
    "%B": rf"(?P<name>(?i:{'|'.join(LONG_MONTHS)}))",
    "%d": r"(?P<day>[0-9]{1,2})",
    "%H": r"(?P<hour>[0-9]{1,2})",
    "%M": r"(?P<minute>[0-9]{2})",
    "%S": r"(?P<second>[0-9]{2})",
    "%f": r"(?P<fraction>[0-9]{1,6})",
}
"""What each part of a format matches."""
ALLOWED = (
    "%d day, %m month, %b or %B the English name of a month, %Y year, %y year of two digits, "
    "%H hour, %M minute, %S second, %f fraction of a second"
)
PIVOT = 69
"""Two-digit years from here on are in the 20th century, the others in the 21st (POSIX)."""


@dataclass(frozen=True)
class DateFormat:
    """How dates are written."""

    text: str
    """As in `%d/%m/%Y`."""

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Its directives, in order."""
        return tuple(re.findall(r"%.?", self.text))

    @cached_property
    def pattern(self) -> str:
        """A regular expression for Arrow, with a named group for each part."""
        pieces = re.split(r"(%.?)", self.text.strip())
        inside = (DIRECTIVES.get(piece) or re.escape(piece) for piece in pieces if piece)
        return f"^{''.join(inside)}$"

    @property
    def has_time(self) -> bool:
        """Whether there is a time of day."""
        return "%H" in self.parts

    @property
    def problem(self) -> str:
        """What is wrong with the format; empty if nothing is."""
        unknown = [part for part in self.parts if part not in DIRECTIVES]
        if unknown:
            return f"'{unknown[0]}' is unknown; allowed: {ALLOWED}"
        year = [part for part in self.parts if part in ("%Y", "%y")]
        month = [part for part in self.parts if part in ("%m", "%b", "%B")]
        if len(year) != 1 or len(month) != 1 or self.parts.count("%d") != 1:
            return (
                "a date needs a year, a month and a day, each once, as in %d/%m/%Y; "
                f"allowed: {ALLOWED}"
            )
        if len(set(self.parts)) < len(self.parts):
            return "every part may occur once"
        finer = ("%H", "%M", "%S", "%f")
        given = [part in self.parts for part in finer]
        if sorted(given, reverse=True) != given:
            return "minutes need hours, seconds need minutes, fractions need seconds"
        return ""


@lru_cache(maxsize=64)
def date_format(text: str) -> DateFormat:
    """The format of this text, which must be valid."""
    found = DateFormat(text)
    if found.problem:
        raise ValueError(found.problem)
    return found
