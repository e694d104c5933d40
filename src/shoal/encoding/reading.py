"""How the texts of a column are read: as numbers, as dates, or as texts.

Numbers with a decimal point and ISO dates need no help. Other ways to write numbers and dates are
recognised if every value fits one of them and no other: a decimal comma, marks between thousands,
percent signs, days before months. Where two readings fit and differ, as in 03/04/2020, nothing is
guessed: `Ambiguous` says what to ask. The answer depends on the distinct values alone, so it is the same
on every engine.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.values import (
    is_padded,
    ordered_values,
    parse_dates,
    parse_numbers,
    parse_times,
)
from shoal.hierarchy.text import text_of

NEARLY_ALL = 0.9
"""From this share of distinct values on, a column is meant to be numbers or dates."""
FEWEST = 10
"""With fewer distinct values that can be read, texts beside them are no mistake."""
ORDERS = {
    "/": ("%d/%m/{y}", "%m/%d/{y}", "{y}/%m/%d"),
    "-": ("%d-%m-{y}", "%m-%d-{y}", "{y}-%m-%d"),
    ".": ("%d.%m.{y}", "{y}.%m.%d"),
    " ": ("%d %m {y}", "{y} %m %d"),
}
"""Formats of dates by the mark between their parts; months come before days in some countries, but not
with dots or blanks between them."""
NAMED = (
    "%d %b %Y",
    "%d-%b-%Y",
    "%d/%b/%Y",
    "%d%b%Y",
    "%d. %b %Y",
    "%b %d, %Y",
    "%b %d %Y",
    "%d %B %Y",
    "%d. %B %Y",
    "%d-%B-%Y",
    "%B %d, %Y",
    "%B %d %Y",
    "%d %b %y",
    "%d-%b-%y",
)
"""Formats of dates with the name of a month."""
CLOCKS = {
    r"[ T]\d{1,2}:\d\d$": "%H:%M",
    r"[ T]\d{1,2}:\d\d:\d\d$": "%H:%M:%S",
    r"[ T]\d{1,2}:\d\d:\d\d\.\d{1,6}$": "%H:%M:%S.%f",
}
NUMERIC_DATE = r"^\s*\d{1,4}([/. -])\d{1,2}[/. -]\d{1,4}([ T][\d:.]+)?\s*$"
NAMED_DATE = r"(?i)^\s*(\d{1,2}[-/. ]*[a-z]{3,9}|[a-z]{3,9}\.? \d{1,2})"
NUMBER_MARKS = ",.'_ \u00a0\u202f\u2019"
MARKED_NUMBER = rf"^\s*[+-]?[\d{re.escape(NUMBER_MARKS)}]*\d([eE][+-]?\d+)?\s?%?\s*$"
THREE_PLACES = r"^[+-]?([1-9]\d{0,2}\.\d{3}|[1-9]\d{0,2}|0)$"
ROUND_PLACES = r"\.\d\d0$"
NAMES_OF_MARKS = {
    " ": "a blank",
    "\u00a0": "a no-break blank",
    "\u202f": "a narrow no-break blank",
    "'": "an apostrophe",
    "\u2019": "an apostrophe",
    ".": "a point",
    ",": "a comma",
    "_": "an underscore",
}


@dataclass(frozen=True)
class ValueReading:
    """How values are written; what is None is detected."""

    type: str | None = None
    """`number`, `date` or `text`."""
    dates: str | None = None
    """The format of dates, such as `%d/%m/%Y`."""
    decimal: str | None = None
    """The decimal mark."""
    thousands: str | None = None
    """The mark between groups of three digits."""
    percent: bool = False
    """Whether every number has a percent sign; found, never declared."""

    @property
    def needed(self) -> dict[str, str]:
        """What a policy must say of a column that is not written in a standard way."""
        given = {"dates": self.dates, "decimal": self.decimal, "thousands": self.thousands}
        return {key: value for key, value in given.items() if value is not None}


AS_FOUND = ValueReading()
"""Everything is detected."""


@dataclass(frozen=True)
class Ordered:
    """Texts that were read as numbers, dates or times."""

    values: pa.Array
    """(m,) null where a text could not be read."""
    reading: ValueReading = AS_FOUND
    """How they are written, where that is not with a decimal point or as ISO dates."""

    @property
    def is_standard(self) -> bool:
        """Whether the texts are plain numbers or ISO dates, which any program reads so."""
        return not self.reading.needed and not self.reading.percent

    @property
    def words(self) -> str:
        """`dates written as %d/%m/%Y`, `numbers with a decimal comma`."""
        if self.reading.dates is not None:
            return f"dates written as {self.reading.dates}"
        marks = []
        if self.reading.decimal is not None:
            marks.append("a decimal comma" if self.reading.decimal == "," else "a decimal point")
        if self.reading.thousands is not None:
            marks.append(f"{NAMES_OF_MARKS[self.reading.thousands]} between thousands")
        if self.reading.percent:
            marks.append("a percent sign")
        return f"numbers with {' and '.join(marks)}" if marks else ""


class AmbiguousError(Exception):
    """Texts that can be read in several ways."""

    def __init__(self, why: str, answers: Sequence[ValueReading]) -> None:
        super().__init__(why)
        self.why, self.answers = why, tuple(answers)

    @property
    def lines(self) -> list[str]:
        """What to add to a policy, one of these."""
        return [read_line(answer) for answer in self.answers]


def read_line(reading: ValueReading) -> str:
    """`read: {dates: "%d/%m/%Y"}`."""
    inside = ", ".join(f'{key}: "{value}"' for key, value in reading.needed.items())
    return f"read: {{{inside}}}"


class StrayError(Exception):
    """Texts of which nearly all are numbers or dates, but not all."""

    def __init__(self, nearly: Ordered) -> None:
        super().__init__("some values cannot be read as the others can")
        self.nearly = nearly


def read_ordered(values: pa.Array, guess: bool, reading: ValueReading = AS_FOUND) -> Ordered | None:
    """The distinct values as numbers, dates or times, null where one cannot be read.

    With `guess` the result is None if the values are texts, such as zip codes with leading zeros.
    Without it the reading with the most values is taken.

    Raises
    ------
    AmbiguousError
        If every value can be read in several ways that differ.
    StrayError
        If with `guess` nearly all values, but not all, are numbers or dates.
    """
    if not is_text(values.type):
        parsed = ordered_values(values, guess)
        return None if parsed is None else Ordered(parsed)
    texts = values.cast(pa.string())
    if reading.type == "text":
        return None if guess else Ordered(pa.nulls(len(texts), pa.int64()))
    guess = guess and reading.type is None
    if guess and reading == AS_FOUND and len(texts) and _share(texts, "[0-9]") < NEARLY_ALL:
        return None  # too few of them can be numbers or dates
    best = Ordered(pa.nulls(len(texts), pa.int64()))
    for found in _readings(texts, guess, reading):
        if guess and is_padded(texts, found.values.type):
            continue
        if not found.values.null_count:
            return found
        if found.values.null_count < best.values.null_count:
            best = found
    if not guess:
        return best
    strays = best.values.null_count
    if len(texts) - strays >= FEWEST and strays <= (1 - NEARLY_ALL) * len(texts):
        raise StrayError(best)
    return None


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type has texts."""
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _readings(texts: pa.Array, guess: bool, reading: ValueReading) -> Iterator[Ordered]:
    """The ways to read some texts, the most usual first."""
    declared = reading.decimal is not None or reading.thousands is not None
    if reading.type != "date":
        if declared:
            yield from _declared_numbers(texts, guess, reading)
        if not declared or reading.decimal != ",":
            _check_point(texts, reading)
            yield Ordered(parse_numbers(texts, guess))
    if reading.type != "number":
        if reading.dates is not None:
            found = parse_dates(texts, reading.dates)
            yield Ordered(found, ValueReading(dates=reading.dates))
        if reading.dates is None or reading.type is None:
            yield Ordered(parse_dates(texts, "%Y-%m-%d"))
            yield Ordered(parse_times(texts))
            yield from _detected_dates(texts)
    if reading.type != "date":
        yield from _detected_numbers(texts, guess, reading)


def _mostly(texts: pa.Array, pattern: str) -> bool:
    """Whether nearly every text matches."""
    return bool(len(texts)) and _share(texts, pattern) >= NEARLY_ALL


def _share(texts: pa.Array, pattern: str) -> float:
    matching = pc.sum(pc.match_substring_regex(texts, pattern)).as_py() or 0
    return float(matching / len(texts))


def _any(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())


def _reads_nearly_all(found: Ordered) -> bool:
    return bool(found.values.null_count <= (1 - NEARLY_ALL) * len(found.values))


def _best(readings: Sequence[Ordered]) -> list[Ordered]:
    """Those that read the most values, without those that mean the same as one before them."""
    fewest = min((one.values.null_count for one in readings), default=0)
    kept: list[Ordered] = []
    for one in readings:
        same = any(one.values.equals(other.values) for other in kept)
        if one.values.null_count == fewest and fewest < len(one.values) and not same:
            kept.append(one)
    return kept


def _detected_dates(texts: pa.Array) -> Iterator[Ordered]:
    """Dates in the format that most texts fit."""
    for pattern in (NUMERIC_DATE, NAMED_DATE):
        if not _mostly(texts, pattern):
            continue
        like = texts.filter(pc.match_substring_regex(texts, pattern))
        one = like[0].as_py().strip()
        clock = next((form for each, form in CLOCKS.items() if re.search(each, one)), "")
        if clock:
            clock = ("T" if re.search(r"\dT\d", one) else " ") + clock
        forms: Sequence[str] = NAMED
        if pattern == NUMERIC_DATE:
            mark = re.match(NUMERIC_DATE, one)
            assert mark is not None, "it matches"
            year = "%Y" if re.search(r"\d{4}", one) else "%y"
            forms = [form.format(y=year) for form in ORDERS[mark[1]]]
        readings = [
            Ordered(parse_dates(texts, form + clock), ValueReading(dates=form + clock))
            for form in forms
        ]
        fitting = _best(readings)
        if fitting and not _reads_nearly_all(fitting[0]):
            yield fitting[0]
            return
        if fitting and "%y" in str(fitting[0].reading.dates):
            raise AmbiguousError(
                "its dates have years of two digits, so the century is not certain",
                [found.reading for found in fitting],
            )
        if len(fitting) > 1:
            raise AmbiguousError(
                "its dates can be read with the day first or with the month first",
                [found.reading for found in fitting],
            )
        yield from fitting


def _check_point(texts: pa.Array, reading: ValueReading) -> None:
    """Refuse to guess whether 12.500 is twelve and a half, or twelve thousand and five hundred."""
    if reading.decimal is not None or not _mostly(texts, THREE_PLACES):
        return
    if _share(texts, THREE_PLACES) == 1 and _any(texts, ROUND_PLACES):
        raise AmbiguousError(
            "the point in its numbers can be the decimal point or stand between thousands",
            [ValueReading(decimal="."), ValueReading(decimal=",", thousands=".")],
        )


def _declared_numbers(texts: pa.Array, guess: bool, reading: ValueReading) -> Iterator[Ordered]:
    decimal = reading.decimal or ("," if reading.thousands == "." else ".")
    marks = [reading.thousands] if reading.thousands else _possible_marks(texts, decimal)
    for thousands in (None, *marks):
        found = marked_numbers(texts, guess, decimal, thousands)
        if found is not None:
            yield found


def _possible_marks(texts: pa.Array, decimal: str) -> list[str]:
    """The marks between thousands that occur."""
    return [
        mark
        for mark in NUMBER_MARKS
        if mark != decimal and pc.any(pc.match_substring(texts, mark)).as_py()
    ]


def _detected_numbers(texts: pa.Array, guess: bool, reading: ValueReading) -> Iterator[Ordered]:
    """Numbers with marks or percent signs that most texts fit."""
    if reading.thousands is not None or not _mostly(texts, MARKED_NUMBER):
        return
    decimals = [reading.decimal] if reading.decimal else [".", ","]
    tried = (
        marked_numbers(texts, guess, decimal, thousands)
        for decimal in decimals
        for thousands in (None, *_possible_marks(texts, decimal))
    )
    fitting = _best([found for found in tried if found is not None])
    if len(fitting) > 1 and _reads_nearly_all(fitting[0]):
        raise AmbiguousError(
            "the comma in its numbers can be the decimal mark or stand between thousands",
            _answers(fitting),
        )
    yield from fitting[:1]


def _answers(fitting: Sequence[Ordered]) -> list[ValueReading]:
    """What would decide between readings: both marks, so that either is certain."""
    answers = []
    for found in fitting:
        given = found.reading
        decimal = given.decimal or ("," if given.thousands == "." else ".")
        answers.append(replace(given, decimal=decimal))
    return list(dict.fromkeys(answers))


def marked_numbers(
    texts: pa.Array, guess: bool, decimal: str, thousands: str | None
) -> Ordered | None:
    """Numbers with these marks; None where no number has one of them, or a percent sign."""
    trimmed = pc.utf8_trim_whitespace(texts)
    percent = bool(len(texts)) and bool(pc.all(pc.match_substring_regex(trimmed, r"\s?%$")).as_py())
    if percent:
        signed = pc.match_substring_regex(trimmed, "%$")
        bare = pc.replace_substring_regex(trimmed, r"\s?%$", "")
        trimmed = pc.if_else(signed, bare, "no percent sign")
    point = re.escape(decimal)
    whole, used = r"\d+", False
    if thousands is not None:
        mark = re.escape(thousands)
        used = bool(pc.any(pc.match_substring(trimmed, thousands)).as_py())
        whole = rf"(?:\d{{1,3}}(?:{mark}\d{{3}})+|\d+)"
    pattern = rf"^[+-]?(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?$"
    fits = pc.match_substring_regex(trimmed, pattern)
    plain = pc.if_else(fits, trimmed, None)
    if thousands is not None:
        plain = pc.replace_substring(plain, thousands, "")
    if decimal != ".":
        plain = pc.replace_substring(plain, decimal, ".")
    comma = decimal == "," and bool(pc.any(pc.match_substring(trimmed, ",")).as_py())
    if thousands is not None and not used:
        return None
    reading = ValueReading(
        decimal="," if comma else None, thousands=thousands if used else None, percent=percent
    )
    if guess and pc.any(pc.match_substring_regex(plain, r"^[+-]?0\d")).as_py():
        return None  # leading zeros are part of a code
    return Ordered(parse_numbers(plain, guess), reading)


def standard_texts(values: pa.Array, found: Ordered) -> pa.Array:
    """The texts as a release writes them: ISO dates, a decimal point. What could not be read stays."""
    return pc.coalesce(text_of(found.values), text_of(values))


def declared_texts(texts: pa.Array, reading: ValueReading) -> pa.Array:
    """The texts with dates and numbers in the form that the policy declares in standard form: ISO
    dates, a decimal point. Each is read by itself; nothing is detected."""
    if reading.type == "text":
        return texts
    found = texts
    if reading.dates is not None and reading.type != "number":
        found = pc.coalesce(text_of(parse_dates(texts, reading.dates)), found)
    if reading.type != "date" and (reading.decimal is not None or reading.thousands is not None):
        decimal = reading.decimal or ("," if reading.thousands == "." else ".")
        for thousands in dict.fromkeys((None, reading.thousands)):
            numbers = marked_numbers(texts, False, decimal, thousands)
            if numbers is not None and not numbers.reading.percent:
                found = pc.coalesce(text_of(numbers.values), found)
    return found
