"""Which values a column holds and how often: all that its numbering needs to know."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.plain import plain
from shoal.errors import HierarchyError, listed
from shoal.hierarchy.text import text_of

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
SINGULAR = (
    ("have", "has"),
    ("are not dates", "is not a date"),
    ("are not numbers", "is not a number"),
    ("are no whole numbers", "is no whole number"),
    ("are", "is"),
)
"""How what is wrong begins with several values, and with one."""
COMMON = 10
"""A value may be named in an error only if at least so many rows share it."""


@dataclass(frozen=True)
class Tally:
    """The distinct values of one column, from rows in memory or counted elsewhere."""

    name: str
    values: pa.Array
    """(m,) each value once, none missing, in any order."""
    counts: Ints
    """(m,) rows that hold each."""
    missing: int
    """Rows without a value."""
    index: Codes | None = None
    """(n,) where the rows are at hand: each row's place among the values, -1 where it has none."""

    def only(self, kept: npt.NDArray[np.bool_]) -> "Tally":
        """The same with some of the values; rows of the others count as missing."""
        index = self.index
        if index is not None:
            place = np.where(kept, np.cumsum(kept) - 1, -1)
            index = np.append(place, -1).astype(np.int32)[index]
        return Tally(
            self.name,
            self.values.filter(pa.array(kept)),
            self.counts[kept],
            self.missing + int(self.counts[~kept].sum()),
            index,
        )

    def rows(self, codes: npt.NDArray[np.integer], missing: int) -> Codes:
        """(n,) the code of each row, from the codes of the values and of the missing value."""
        assert self.index is not None, "rows that were counted elsewhere are numbered there"
        # index -1 reads the last entry: the missing value's code
        return np.append(codes, missing).astype(np.int32)[self.index]

    def where(self, chosen: npt.NDArray[np.integer]) -> str:
        """The first few rows that hold some values, in words; nothing where rows are not at hand."""
        if self.index is None:
            return ""
        rows = np.flatnonzero(np.isin(self.index, chosen))
        few = ", ".join(f"{row + 1:,}" for row in rows[:5]) + (", …" if len(rows) > 5 else "")
        return f" (data rows {few})"


def tally_of(name: str, column: pa.Array) -> Tally:
    """The distinct values of a column in memory."""
    values, index = distinct(name, column)
    counts = np.bincount(index + 1, minlength=len(values) + 1).astype(np.int64)
    return Tally(name, values, counts[1:], int(counts[0]), index)


def tally_of_counts(name: str, values: pa.Array, counts: Ints) -> Tally:
    """The same from values that were counted elsewhere; equal and missing ones may come apart."""
    once, index = distinct(name, values)
    total = np.zeros(len(once) + 1, np.int64)
    np.add.at(total, index, counts)  # index -1 is the last place: the missing ones
    return Tally(name, once, total[:-1], int(total[-1]))


def distinct(name: str, column: pa.Array) -> tuple[pa.Array, Codes]:
    """The distinct values without nulls, and (n,) each row's place among them, -1 where missing."""
    encoded = known(plain(name, column)).dictionary_encode()
    index = encoded.indices
    if index.null_count:
        index = pc.fill_null(index, -1)
    return encoded.dictionary, index.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)


def known(column: pa.Array) -> pa.Array:
    """The column with one way to write each value, and one for none."""
    if not pa.types.is_floating(column.type):
        return column
    # not a number means not known; adding nothing makes one zero of 0 and -0
    return pc.if_else(pc.is_nan(column), None, pc.add(column, pa.scalar(0, column.type)))


def require_covered(what: str, covered: npt.NDArray[np.bool_], tally: Tally) -> None:
    """Raise, naming values that many rows share and the row numbers of the others."""
    found = uncovered(what, covered, tally)
    if found:
        raise HierarchyError(
            f"{found} Correct them in the table, add them to the hierarchy or list if there is one, "
            "or choose another treatment for the column."
        )


def uncovered(what: str, covered: npt.NDArray[np.bool_], tally: Tally) -> str:
    """What is wrong, with values that many rows share and the row numbers of the others; or nothing."""
    if covered.all():
        return ""
    bad = np.flatnonzero(~covered)
    rows = int(tally.counts[bad].sum())
    common = bad[tally.counts[bad] >= COMMON]
    named = [f"'{text}'" for text in text_of(tally.values.take(pa.array(common[:5]))).to_pylist()]
    which = f" Among them: {listed(named)}." if named else ""
    if len(bad) == 1:
        what = next(what.replace(many, one, 1) for many, one in SINGULAR if what.startswith(many))
    return (
        f"Column '{tally.name}': {len(bad):,} distinct value{'s' if len(bad) > 1 else ''} in "
        f"{rows:,} row{'s' if rows > 1 else ''} {what}{tally.where(bad)}.{which}"
    )
