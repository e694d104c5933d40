"""Numbers taken exactly as written: 0.3 is three tenths, not the nearest binary fraction.

Nearly all numbers go through Arrow's 38-digit decimals at once; where those are too small, through
Python's, one by one.
"""

import re
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

PLAIN = r"^[+-]?[0-9]+(\.[0-9]+)?$"
ANY = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
LARGEST_EXPONENT = 400
"""Floats end at 1e308; a number beyond this exponent or length would only eat memory."""


@dataclass(frozen=True)
class Numbers:
    """The texts that are numbers, in rising order."""

    order: npt.NDArray[np.integer]
    """(m,) where each stands among the texts; equal numbers in the order of the texts."""
    floors: npt.NDArray[np.int64] | npt.NDArray[np.object_]
    """(m,) each number, rising, in units of 10**-places, rounded down."""


def read_numbers(texts: pa.Array, places: int) -> Numbers:
    """The numbers among the texts, with floors at so many decimal places."""
    trimmed = pc.utf8_trim_whitespace(texts)
    short = pc.less_equal(pc.binary_length(trimmed), LARGEST_EXPONENT)
    plain = pc.and_(short, pc.match_substring_regex(trimmed, PLAIN)).to_numpy(zero_copy_only=False)
    others = [i for i in np.flatnonzero(~plain).tolist() if _read(trimmed[i].as_py()) is not None]
    where = np.flatnonzero(plain)
    numbers = trimmed.take(pa.array(where))
    scale = max(places, _most(pc.replace_substring_regex(numbers, r"^[^.]*\.?", "")))
    digits = _most(pc.replace_substring_regex(numbers, r"\..*$", ""))
    if others or digits + scale > 37:
        return _read_slowly(trimmed, np.union1d(where, others).astype(np.intp), places)
    exact = numbers.cast(pa.decimal128(38, scale))
    order = pc.sort_indices(exact).to_numpy()
    down = pc.round(exact.take(pa.array(order)), ndigits=places, round_mode="down")
    return Numbers(where[order], _unscaled(down.cast(pa.decimal128(38, places)), digits + places))


def _most(texts: pa.Array) -> int:
    """The length of the longest text."""
    return pc.max(pc.binary_length(texts)).as_py() or 0


def _unscaled(numbers: pa.Array, digits: int) -> npt.NDArray[np.int64] | npt.NDArray[np.object_]:
    """The whole numbers behind decimals of 16 bytes; the lower 8 hold up to 18 digits."""
    if not len(numbers):
        return np.zeros(0, dtype=np.int64)
    cells = np.frombuffer(numbers.buffers()[1], dtype=np.int64).reshape(-1, 2)
    cells = cells[numbers.offset : numbers.offset + len(numbers)]
    low: npt.NDArray[np.int64] = cells[:, 0].copy()
    if digits <= 17:
        return low
    high = cells[:, 1].astype(object) * (1 << 64)
    both: npt.NDArray[np.object_] = high + low.view(np.uint64).astype(object)
    return both


def _read(text: str) -> Decimal | None:
    if len(text) > LARGEST_EXPONENT or not ANY.fullmatch(text):
        return None
    number = Decimal(text)
    return number if not number or abs(number.adjusted()) <= LARGEST_EXPONENT else None


def _read_slowly(texts: pa.Array, where: npt.NDArray[np.intp], places: int) -> Numbers:
    found = [(Decimal(texts[int(i)].as_py()), int(i)) for i in where]
    found.sort()
    floors = np.empty(len(found), dtype=object)
    with localcontext() as context:
        context.prec = 4 * LARGEST_EXPONENT + places
        for row, (number, _) in enumerate(found):
            floors[row] = int(number.scaleb(places).to_integral_value(ROUND_FLOOR))
    return Numbers(np.array([i for _, i in found], dtype=np.intp), floors)
