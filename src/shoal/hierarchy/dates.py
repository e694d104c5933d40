"""Parts of a date: month, quarter, year, decade.

Every date is read from its ISO text, so files and frames of any kind give the same tree.
"""

from collections.abc import Callable
from dataclasses import dataclass as plain_dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Codes, Ints
from shoal.errors import HierarchyError, listed
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.tree import HierarchyTree, changes, from_starts, leaves_of

Part = Literal["day", "month", "quarter", "year", "decade"]
PARTS: tuple[Part, ...] = get_args(Part)
"""Each one is inside one of the next."""
TIME = r"([T ][0-2]\d:[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?"
DATE = rf"^(\d{{4}}-\d\d-\d\d|\d{{4}}/\d\d/\d\d){TIME}$"


@plain_dataclass(frozen=True)
class _Days:
    """The dates among some texts, ascending."""

    where: npt.NDArray[np.intp]
    """(m,) the place of each among the texts."""
    year: Ints
    month: Ints
    day: Ints
    timed: bool
    """Whether some text has more than a date."""


KEYS: dict[Part, Callable[[_Days], Ints]] = {
    "day": lambda d: (d.year * 12 + d.month) * 32 + d.day,
    "month": lambda d: d.year * 12 + d.month,
    "quarter": lambda d: d.year * 4 + (d.month - 1) // 3,
    "year": lambda d: d.year,
    "decade": lambda d: d.year // 10,
}
LABELS: dict[Part, Callable[[int, int, int], str]] = {
    "day": lambda year, month, day: f"{year:04}-{month:02}-{day:02}",
    "month": lambda year, month, day: f"{year:04}-{month:02}",  # noqa: ARG005
    "quarter": lambda year, month, day: f"{year:04}-Q{(month + 2) // 3}",  # noqa: ARG005
    "year": lambda year, month, day: f"{year:04}",  # noqa: ARG005
    "decade": lambda year, month, day: f"{year // 10 * 10:04}s",  # noqa: ARG005
}


@dataclass(frozen=True, repr=False)
class DateParts(Hierarchy):
    """Dates by their parts: `1964-03-07`, `1964-03`, `1964-Q1`, `1964`, `1960s`, then `*`."""

    parts: tuple[Part, ...]
    """The levels, ascending. `day` is a level only where values have a time of day."""

    policy_keys: ClassVar = {"date": "parts"}
    allowed: ClassVar = f"a list out of {listed(PARTS)}, in this order, such as [month, year]"
    choices: ClassVar = PARTS
    uncovered: ClassVar = (
        "are not dates such as 1964-03-07, which its hierarchy of date parts needs"
    )
    from_values: ClassVar = True
    reads: ClassVar = "date"

    def __post_init__(self) -> None:
        ranks = [PARTS.index(part) for part in self.parts]
        if not ranks or any(high <= low for low, high in pairwise(ranks)):
            raise HierarchyError(
                f"date: found [{', '.join(self.parts)}]; allowed are one or more of "
                f"{', '.join(PARTS)}, in this order."
            )

    def build(
        self,
        values: pa.Array,
        column: str,  # noqa: ARG002 - the signature of every hierarchy
        folder: Path,  # noqa: ARG002
    ) -> tuple[HierarchyTree, Codes]:
        """The hierarchy over the values that are dates, and the leaf of each value or -1."""
        leaves = leaves_of(values)
        days = _read_days(leaves.texts)
        parts = [part for part in self.parts if part != "day" or days.timed]

        def label(level: int, firsts: npt.NDArray[np.intp]) -> list[str]:
            fields = (days.year[firsts], days.month[firsts], days.day[firsts])
            return list(map(LABELS[parts[level - 1]], *(f.tolist() for f in fields)))

        texts = leaves.texts.take(pa.array(days.where)).to_pylist()
        starts = [changes(KEYS[part](days)) for part in parts]
        return from_starts(texts, starts, label), leaves.codes(days.where)

    def __repr__(self) -> str:
        return f"Hierarchy.dates({list(self.parts)})"


def _read_days(texts: pa.Array) -> _Days:
    where = np.flatnonzero(pc.match_substring_regex(texts, DATE).to_numpy(zero_copy_only=False))
    dates = texts.take(pa.array(where))
    year, month, day = (_digits(dates, *at) for at in ((0, 4), (5, 7), (8, 10)))
    real = np.flatnonzero(_real(year, month, day))
    number = KEYS["day"](_Days(where, year, month, day, timed=False))[real]
    # stable: texts of one day keep their own order, which for ISO times is that of time
    order = real[np.argsort(number, kind="stable")]
    timed = bool(np.any(pc.binary_length(dates).to_numpy()[order] > len("1964-03-07")))
    return _Days(where[order], year[order], month[order], day[order], timed)


def _digits(texts: pa.Array, start: int, stop: int) -> Ints:
    digits: Ints = pc.utf8_slice_codeunits(texts, start, stop).cast(pa.int64()).to_numpy()
    return digits


def _real(year: Ints, month: Ints, day: Ints) -> Bools:
    """Whether the calendar has such a day."""
    known = (year >= 1) & (month >= 1) & (month <= 12)
    count = np.where(known, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    first = count.astype("datetime64[D]")
    length = ((count + 1).astype("datetime64[D]") - first).astype(np.int64)
    real: Bools = known & (day >= 1) & (day <= length)
    return real
