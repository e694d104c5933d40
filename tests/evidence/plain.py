"""What a run's evidence must be, counted row by row from the raw and the published table."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

from tests import naive

Text = str | None
Covers = Callable[[Text, Text], bool]
"""Whether a published label covers a raw value."""


def guessed(values: Sequence[Text], labels: Sequence[Text], covers: Covers) -> dict[Text, Fraction]:
    """Rows of each of the values as a reader would guess: those of a label spread evenly over it."""
    found: dict[Text, Fraction] = dict.fromkeys(values, Fraction(0))
    under: dict[Text, list[Text]] = {}
    for label in labels:
        if label not in under:
            under[label] = [value for value in values if covers(label, value)]
        for value in under[label]:
            found[value] += Fraction(1, len(under[label]))
    return found


def number(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


def in_bin(bar: str, raw: str) -> bool:
    """Whether a number lies in a bin, as its words say."""
    at = Decimal(raw)
    if bar == "any value":
        return True
    if found := re.fullmatch(r"under (\S+)", bar):
        return at < number(found[1])
    if found := re.fullmatch(r"(\S+) and over", bar):
        return at >= number(found[1])
    if found := re.fullmatch(r"(\S+) to under (\S+)", bar):
        return number(found[1]) <= at < number(found[2])
    if found := re.fullmatch(r"(\S+) to (\S+)", bar):
        return number(found[1]) <= at <= number(found[2])
    return number(bar) == at


def in_dates(bar: str, raw: str) -> bool:
    """Whether a day lies in a bin of years, months or days, as its words say."""
    if bar == "any value":
        return True
    if found := re.fullmatch(r"before (\S+)", bar):
        return raw < found[1]
    if found := re.fullmatch(r"(\S+) and later", bar):
        return raw >= found[1]
    first, _, last = bar.partition(" to ")
    return first <= raw and raw[: len(first)] <= (last or first)


def width_words(label: Text, low: Fraction, high: Fraction) -> str:
    """How coarse a range is beside the whole column, low..high."""
    if label == "*":
        return "anything (*)"
    if label is None or not label.startswith("["):
        return "as it was"
    first, last = (Fraction(end) for end in label[1:-1].split("~"))
    share = (last - first) / (high - low)
    for most, words in ((5, "up to 5 %"), (20, "up to 20 %"), (50, "up to half")):
        if share <= Fraction(most, 100):
            return f"{words} of the range"
    return "more than half of the range"


def set_words(label: Text) -> str:
    """How coarse a set is."""
    if label is None or not label.startswith("{"):
        return "as it was"
    many = len(naive.members(naive.pieces(label)[1:-1]))
    for most, words in ((2, "2 values"), (5, "3 to 5 values"), (10, "6 to 10 values")):
        if many <= most:
            return f"one of {words}"
    return "one of more than 10 values"


def sizes(rows: Sequence[tuple[Text, ...]]) -> list[tuple[int, int]]:
    """How many classes of equal rows have each size."""
    return sorted(Counter(Counter(rows).values()).items())
