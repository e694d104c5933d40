"""Round edges for numbers and dates, so that bins show no value of the table."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.cells.parse import ordered_values

Floats = npt.NDArray[np.float64]
MOST_BINS = 10
"""About so many bins between the ends."""
ENDS = (0.02, 0.98)
"""The rows outside of these shares fall into the open bins at the ends."""
FAR = Decimal(10) ** 15
"""Numbers from here on are written with an exponent."""
EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Axis:
    """A line on which the values of a column stand, with edges that bins may begin at."""

    at: Floats
    """(values,) where each value stands, in units."""
    step: Decimal
    """Edges are multiples of it."""
    whole: bool
    """Whether values only stand at whole units."""
    say: Callable[[Decimal], str]
    """An edge in words."""
    words: tuple[str, str] = ("under {}", "{} and over")

    def label(self, low: Decimal | None, high: Decimal | None) -> str:
        """A bin in words; its upper edge does not belong to it."""
        if low is None and high is None:
            return "any value"
        if low is None:
            assert high is not None
            return self.words[0].format(self.say(high))
        if high is None:
            return self.words[1].format(self.say(low))
        if not self.whole:
            return f"{self.say(low)} to under {self.say(high)}"
        first, last = self.say(low), self.say(high - 1)
        return first if first == last else f"{first} to {last}"


def axis_of(texts: pa.Array, rows: npt.NDArray[np.integer], guess: bool) -> Axis | None:
    """The axis of a column's values, None where they are neither numbers nor dates."""
    values = ordered_values(texts, guess)
    if values is None or values.null_count:
        return None
    kind = values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _dates(values.cast(pa.date32(), safe=False), rows)
    if pa.types.is_temporal(kind):
        return None
    numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    if not np.isfinite(numbers).all():
        return None
    low, high = ends_of(numbers, rows)
    if not np.isfinite(high - low):
        return None
    whole = bool((numbers == np.rint(numbers)).all())
    step = _round_step((high - low) / MOST_BINS)
    return Axis(numbers, max(step, Decimal(1)) if whole else step, whole, _number)


def _dates(days: pa.Array, rows: npt.NDArray[np.integer]) -> Axis:
    """In years, months or days, whatever the values spread over."""
    number = days.view(pa.int32()).to_numpy(zero_copy_only=False).astype(np.int64)
    moments = number.astype("datetime64[D]")
    months = moments.astype("datetime64[M]").astype(np.int64) + 1970 * 12
    words = ("before {}", "{} and later")
    low, high = ends_of(months.astype(np.float64), rows)
    if high - low >= 5 * 12:
        step = max(_round_step((high - low) / 12 / MOST_BINS), Decimal(1))
        return Axis((months // 12).astype(np.float64), step, True, lambda y: f"{y:04f}", words)
    if high - low >= 3:
        step = next(Decimal(n) for n in (1, 3, 6) if (high - low) / n <= MOST_BINS + 2)
        return Axis(months.astype(np.float64), step, True, _month, words)
    low, high = ends_of(number.astype(np.float64), rows)
    step = next(Decimal(n) for n in (1, 7, 14) if (high - low) / n <= MOST_BINS + 2)
    return Axis(number.astype(np.float64), step, True, _day, words)


def ends_of(at: Floats, rows: npt.NDArray[np.integer]) -> tuple[float, float]:
    """Between which places most rows stand."""
    order = np.argsort(at, kind="stable")
    upto = np.cumsum(rows[order])
    low, high = (at[order[np.searchsorted(upto, share * upto[-1])]] for share in ENDS)
    return (float(low), float(high)) if low < high else (float(at.min()), float(at.max()))


def _round_step(width: float) -> Decimal:
    """The next of 1, 2, 5, 10, 20, 50 and so on, or of such parts of 1."""
    if width <= 0:
        return Decimal(1)
    power = Decimal(1).scaleb(int(np.floor(np.log10(width))))
    steps = (power * first for first in (1, 2, 5))
    return next((step for step in steps if float(step) >= width), power * 10)


def _number(edge: Decimal) -> str:
    if abs(edge) >= FAR:
        return f"{edge:.6g}"
    return f"{edge + 0:,f}" if edge == edge.to_integral() else f"{edge.normalize():,f}"


def _month(edge: Decimal) -> str:
    year, month = divmod(int(edge), 12)
    return f"{year:04}-{month + 1:02}"


def _day(edge: Decimal) -> str:
    return (EPOCH + timedelta(days=int(edge))).isoformat()
