"""The scale of an ordered column: its numbers or dates as whole numbers, and its grain.

Statistics of a group are computed in whole numbers, exactly, and rounded once, to the grain of the
column: as many decimals as its values have, whole days for dates, seconds for times of day; where the
policy rounds the column, multiples of that base. Of decimals no more are kept than give the span of the
column 100,000 steps, so that a mean of measurements does not repeat all of their digits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.encoding.rules import plain_number
from shoal.publish.label_parser import DAY, IS_MOMENT, MOMENT, NANOSECONDS, NUMBER, place_of

MOST_STEPS = 100_000
"""Steps of the grain that the span of a column of decimals has at most."""
PRECISION = 1_000
"""Digits of the arithmetic, more than any number of a table has."""
SAFE = 1 << 62
FLOAT_DIGITS = 15
"""Digits that every float keeps."""

Whole = npt.NDArray[Any]
"""Whole numbers of any size: 64 bits where they suffice, else Python's."""


@dataclass(frozen=True)
class Scale:
    """How the values of a column of numbers or dates are counted, and how a count is written."""

    sort: int
    """NUMBER or MOMENT."""
    digits: int
    """Numbers: decimals of a unit; values are whole multiples of 10**-digits. Moments are counted in
    nanoseconds."""
    step: int
    """The grain, in units."""
    rounds: bool = False
    """Whether the policy rounds the column to the grain."""

    @property
    def is_discrete(self) -> bool:
        """Whether values are whole multiples of the grain: whole numbers, days, rounded numbers."""
        return self.digits == 0 or self.rounds

    @property
    def least(self) -> int:
        """How far apart two different values are at least, in units."""
        return self.step if self.is_discrete else 1

    def count(self, text: str) -> int | None:
        """The place of a text in whole units; None where it has none, or one between two units."""
        place = place_of(text)
        if place is None or place[0] != self.sort:
            return None
        if self.sort == MOMENT:
            return int(place[1])
        with localcontext() as context:
            context.prec = PRECISION
            scaled = _as_kept(Decimal(place[1])).scaleb(self.digits)
            whole = scaled.to_integral_value()
        return int(whole) if whole == scaled else None

    def counts(self, texts: Sequence[str | None]) -> Whole:
        """(n,) the places of texts, all of which have one; 0 for a missing value."""
        found = [0 if text is None else self.count(text) for text in texts]
        small = all(one is not None and abs(one) < SAFE for one in found)
        return np.array(found, np.int64 if small else object)

    def rounded(self, numerator: Whole, denominator: Whole) -> Whole:
        """(n,) quotients in units, rounded to the grain; half a step is rounded up."""
        divisor = denominator.astype(object) * (2 * self.step)
        return (2 * numerator.astype(object) + denominator * self.step) // divisor * self.step

    def write(self, place: int) -> str:
        """A place as it is published."""
        if self.sort == NUMBER:
            with localcontext() as context:
                context.prec = PRECISION
                return plain_number(Decimal(place).scaleb(-self.digits))
        day, rest = divmod(place, DAY)
        text = date.fromordinal(day).isoformat()
        if not rest:
            return text
        seconds, part = divmod(rest, NANOSECONDS)
        clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return f"{text}T{clock}" + (f".{part:09}".rstrip("0") if part else "")


def scale_of(texts: Sequence[str], base: Decimal | None = None) -> Scale | None:
    """The scale of a column with these values; None where they are not all numbers, or all dates and
    times without a zone.

    base: what the policy rounds the column to.
    """
    places = [place_of(text) for text in texts]
    sorts = {None if place is None else place[0] for place in places}
    if sorts == {MOMENT}:
        return _of_moments(texts, [int(place[1]) for place in places if place is not None])
    if sorts != {NUMBER}:
        return None
    with localcontext() as context:
        context.prec = PRECISION
        numbers = [_as_kept(Decimal(one[1])).normalize() for one in places if one is not None]
        digits = max(_decimals(number) for number in numbers)
        if base is not None:
            digits = max(digits, _decimals(base.normalize()))
            return Scale(NUMBER, digits, int(base.scaleb(digits)), rounds=True)
        span = max(numbers) - min(numbers)
        kept = digits
        while kept > 0 and span * 10**kept > MOST_STEPS:
            kept -= 1
    return Scale(NUMBER, digits, 10 ** (digits - kept))


def _of_moments(texts: Sequence[str], places: Sequence[int]) -> Scale | None:
    zones = [found[6] for text in texts if (found := IS_MOMENT.fullmatch(text.strip()))]
    if any(zones):
        return None
    step = DAY if all(place % DAY == 0 for place in places) else NANOSECONDS
    return Scale(MOMENT, 0, step)


def _as_kept(number: Decimal) -> Decimal:
    """A number as a table keeps it: decimals of many digits are floats."""
    digits, exponent = number.as_tuple()[1:]
    if int(exponent) >= 0 or len(digits) <= FLOAT_DIGITS:
        return number
    return Decimal(repr(float(number)))


def _decimals(number: Decimal) -> int:
    return max(0, -int(number.as_tuple().exponent))
