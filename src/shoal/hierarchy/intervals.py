"""Intervals of growing width, all counted from one number.

Everything is done in whole numbers of the smallest decimal place that a width or the start has, so
0.3 lies in [0.3-0.4) whatever a binary fraction makes of it.
"""

from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from shoal.errors import HierarchyError
from shoal.hierarchy.exact import read_numbers
from shoal.hierarchy.leaves import leaves_of
from shoal.hierarchy.tree import Hierarchy, changes, from_starts

Number = Annotated[int | float, Field(allow_inf_nan=False)]
SAFE = 10**17
"""Widths and starts below this cannot overflow 64 bits when added to a number of 17 digits."""


@dataclass(frozen=True, config=ConfigDict(validate_by_name=True, validate_by_alias=True))
class Intervals:
    """Numbers by intervals `[30-35)`, wider on every level, then `*`."""

    intervals: tuple[Number, ...]
    """The widths, rising; each a multiple of the one before."""
    from_: Annotated[Number | None, Field(alias="from")] = 0
    """A number where an interval of every width begins; left out or null it is 0."""

    def __post_init__(self) -> None:
        if not self.intervals or min(self.intervals) <= 0:
            raise HierarchyError(
                f"intervals: found {list(self.intervals)}; allowed is a list of widths above 0, "
                "such as [5, 10, 20]."
            )
        widths, start, places = self._whole()
        for narrow, wide in pairwise(widths):
            _check_fit(narrow, wide, start, places)

    def _whole(self) -> tuple[list[int], int, int]:
        """Widths and start in units of 10**-places, and the places."""
        given = [Decimal(str(number)).as_tuple() for number in (*self.intervals, self.from_ or 0)]
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
        column: str,  # noqa: ARG002 - every kind of hierarchy is asked the same way
        folder: Path,  # noqa: ARG002
    ) -> tuple[Hierarchy, npt.NDArray[np.int32]]:
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


def _check_fit(narrow: int, wide: int, start: int, places: int) -> None:
    """Each narrow interval must lie in one wide interval."""
    low, high = _plain(narrow, places), _plain(wide, places)
    if wide <= narrow:
        raise HierarchyError(
            f"intervals: width {high} comes after {low}; widths must rise. Put the smallest first."
        )
    if wide % narrow:
        node = _label(start + wide // narrow * narrow, narrow, places)
        parents = [_label(start + begin, wide, places) for begin in (0, wide)]
        more = _plain((wide // narrow + 1) * narrow, places)
        raise HierarchyError(
            f"intervals: width {high} is no multiple of width {low}, so '{node}' has two parents, "
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
