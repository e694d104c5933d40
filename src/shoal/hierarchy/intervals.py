"""Intervals of growing width, all counted from one number.

Numbers are taken exactly as written: 0.3 is three tenths, not the nearest binary fraction, and lies in
[0.3-0.4). Everything is computed in whole numbers of the smallest decimal place of a width or the start.
Nearly all numbers go through Arrow's 38-digit decimals at once; where those are too small, through
Python's, one by one.
"""

import dataclasses
import re
from decimal import ROUND_FLOOR, Decimal, localcontext
from itertools import pairwise
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Codes, Ints
from shoal.errors import HierarchyError
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.tree import HierarchyTree, changes, from_starts, leaves_of

Number = Annotated[int | float, Field(allow_inf_nan=False)]
SAFE = 10**17
"""Widths and starts below this cannot overflow 64 bits when added to a number of 17 digits."""


PLAIN_NUMBER = r"^[+-]?[0-9]+(\.[0-9]+)?$"
ANY_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
LARGEST_EXPONENT = 400
"""Floats end at 1e308; a number beyond this exponent or length would only waste memory."""


@dataclass(frozen=True, repr=False)
class Intervals(Hierarchy):
    """Numbers in intervals `[30-35)`, wider on every level, then `*`."""

    widths: tuple[Number, ...]
    """Ascending; each a multiple of the one before."""
    start: Number | None = 0
    """A number where an interval of every width begins; None is 0."""

    policy_keys: ClassVar = {"intervals": "widths", "from": "start"}
    allowed: ClassVar = "a list of rising widths above 0, such as [5, 10, 20], with 'from' a number"
    uncovered: ClassVar = "are not numbers, which its hierarchy of intervals needs"
    from_values: ClassVar = True
    reads: ClassVar = "number"

    def __post_init__(self) -> None:
        if not self.widths or min(self.widths) <= 0:
            raise HierarchyError(
                f"intervals: found {list(self.widths)}; allowed is a list of widths above 0, "
                "such as [5, 10, 20]."
            )
        widths, start, places = self._whole()
        for narrow, wide in pairwise(widths):
            _check_fit(narrow, wide, start, places)

    def _whole(self) -> tuple[list[int], int, int]:
        """Widths and start in units of 10**-places, and the places."""
        given = [Decimal(str(number)).as_tuple() for number in (*self.widths, self.start or 0)]
        places = max(0, *(-int(number.exponent) for number in given))
        *widths, start = (
            (-1) ** number.sign
            * int("".join(map(str, number.digits)))
            * 10 ** (places + int(number.exponent))
            for number in given
        )
        return widths, start, places

    def build(
        self,
        values: pa.Array,
        column: str,  # noqa: ARG002 - the signature of every hierarchy
        folder: Path,  # noqa: ARG002
    ) -> tuple[HierarchyTree, Codes]:
        """The hierarchy over the values that are numbers, and the leaf of each value or -1."""
        leaves = leaves_of(values)
        widths, start, places = self._whole()
        numbers = read_numbers(leaves.texts, places)
        floors = numbers.floors
        if max(*widths, abs(start)) >= SAFE:
            floors = floors.astype(object)
        bins = [(floors - start) // width for width in widths]

        def label(level: int, firsts: npt.NDArray[np.intp]) -> list[str]:
            width = widths[level - 1]
            lows = (bins[level - 1][firsts] * width + start).tolist()
            return [_label(low, width, places) for low in lows]

        texts = leaves.texts.take(pa.array(numbers.order)).to_pylist()
        return from_starts(texts, [changes(b) for b in bins], label), leaves.codes(numbers.order)

    def __repr__(self) -> str:
        start = f", start={self.start:g}" if self.start else ""
        return f"Hierarchy.intervals([{', '.join(f'{width:g}' for width in self.widths)}]{start})"


def _check_fit(narrow: int, wide: int, start: int, places: int) -> None:
    """Each narrow interval must be inside one wide interval."""
    low, high = _plain(narrow, places), _plain(wide, places)
    if wide <= narrow:
        raise HierarchyError(
            f"intervals: width {high} comes after {low}; widths must increase. Put the smallest first."
        )
    if wide % narrow:
        node = _label(start + wide // narrow * narrow, narrow, places)
        parents = [_label(start + begin, wide, places) for begin in (0, wide)]
        more = _plain((wide // narrow + 1) * narrow, places)
        raise HierarchyError(
            f"intervals: width {high} is not a multiple of width {low}, so '{node}' has two parents, "
            f"'{parents[0]}' and '{parents[1]}'. Let each width be a multiple of the one before, "
            f"such as {low} and {more}."
        )


def _plain(number: int, places: int) -> str:
    """A count of 10**-places as a decimal, without zeros at its end."""
    if not places:
        return str(number)
    digits = str(abs(number)).zfill(places + 1)
    text = f"{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")
    return f"-{text}" if number < 0 else text


def _label(low: int, width: int, places: int) -> str:
    return f"[{_plain(low, places)}-{_plain(low + width, places)})"


@dataclasses.dataclass(frozen=True)
class Numbers:
    """The texts that are numbers, in rising order."""

    order: npt.NDArray[np.integer]
    """(m,) the place of each among the texts; equal numbers in the order of the texts."""
    floors: Ints | npt.NDArray[np.object_]
    """(m,) each number, rising, in units of 10**-places, rounded down."""


def read_numbers(texts: pa.Array, places: int) -> Numbers:
    """The numbers among the texts, with floors at so many decimal places."""
    trimmed = pc.utf8_trim_whitespace(texts)
    short = pc.less_equal(pc.binary_length(trimmed), LARGEST_EXPONENT)
    plain = pc.and_(short, pc.match_substring_regex(trimmed, PLAIN_NUMBER)).to_numpy(
        zero_copy_only=False
    )
    others = [
        i for i in np.flatnonzero(~plain).tolist() if _as_decimal(trimmed[i].as_py()) is not None
    ]
    where = np.flatnonzero(plain)
    numbers = trimmed.take(pa.array(where))
    scale = max(places, _longest(pc.replace_substring_regex(numbers, r"^[^.]*\.?", "")))
    digits = _longest(pc.replace_substring_regex(numbers, r"\..*$", ""))
    if others or digits + scale > 37:
        return _read_exactly(trimmed, np.union1d(where, others).astype(np.intp), places)
    exact = numbers.cast(pa.decimal128(38, scale))
    order = pc.sort_indices(exact).to_numpy()
    down = pc.round(exact.take(pa.array(order)), ndigits=places, round_mode="down")
    return Numbers(where[order], _unscaled(down.cast(pa.decimal128(38, places)), digits + places))


def _longest(texts: pa.Array) -> int:
    """The length of the longest text."""
    return pc.max(pc.binary_length(texts)).as_py() or 0


def _unscaled(numbers: pa.Array, digits: int) -> Ints | npt.NDArray[np.object_]:
    """The unscaled integers of decimals of 16 bytes; the lower 8 have up to 18 digits."""
    if not len(numbers):
        return np.zeros(0, dtype=np.int64)
    cells = np.frombuffer(numbers.buffers()[1], dtype=np.int64).reshape(-1, 2)
    cells = cells[numbers.offset : numbers.offset + len(numbers)]
    low: Ints = cells[:, 0].copy()
    if digits <= 17:
        return low
    high = cells[:, 1].astype(object) * (1 << 64)
    both: npt.NDArray[np.object_] = high + low.view(np.uint64).astype(object)
    return both


def _as_decimal(text: str) -> Decimal | None:
    if len(text) > LARGEST_EXPONENT or not ANY_NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    return number if not number or abs(number.adjusted()) <= LARGEST_EXPONENT else None


def _read_exactly(texts: pa.Array, where: npt.NDArray[np.intp], places: int) -> Numbers:
    numbers = [(Decimal(texts[int(i)].as_py()), int(i)) for i in where]
    numbers.sort()
    floors = np.empty(len(numbers), dtype=object)
    with localcontext() as context:
        context.prec = 4 * LARGEST_EXPONENT + places
        for row, (number, _) in enumerate(numbers):
            floors[row] = int(number.scaleb(places).to_integral_value(ROUND_FLOOR))
    return Numbers(np.array([i for _, i in numbers], dtype=np.intp), floors)
