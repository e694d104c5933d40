"""Which constraint a sensitive column needs: by what its values are, and what they allow.

- Numbers of many values (an income): `t` on ordered distance. l counts 50,000 and 50,001 as two values,
  so three neighbours would be diverse and the income still known; t-closeness keeps the values of every
  group spread as those of the table (Li, Li and Venkatasubramanian, 2007, on similarity attacks).
- Categories: `l`, the largest up to 3 for which groups of k have enough values. A group has l values
  if l - 1 of its rows lie outside of the most frequent value, l - 2 outside of the two most frequent,
  and so on; on average a group of k has k times the share of rows there.
- Skewed columns, such as 92 % zeros or a rare illness: no l is possible without groups of dozens. `t`
  bounds how far the share of any value in a group lies above that in the table, which keeps people with
  the rare value apart, and costs little.
- Columns of two values: `l` of 2 if the rarer value has a share of 1/k or more, else `t`, as above.
Where a table has several rows per person, the share of a value is that of the people who have it in at
least one row: nearly everybody may have had no event in one of the rows.

- One value, or none: nothing can be hidden.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.arrays import Floats, Ints
from shoal.encoding.missing import is_missing
from shoal.errors import percent
from shoal.risk.columns import Contents, Type, is_nominal
from shoal.risk.undecided import K

LARGEST_L = 3
MANY_NUMBERS = 20
"""From this many different numbers on, a column is continuous."""
T_ORDERED = 0.3
"""A third of the way from one end of the values to the other: five values drawn at random are about 0.15
away from the table, five from its top tenth 0.45."""
T_EQUAL = 0.2
"""A group of 5 may have one person with a rare value, and no two."""


@dataclass(frozen=True)
class Protection:
    """A constraint on a sensitive column, and why it."""

    constraint: str
    """As a policy writes it, without the column: `l: 3`; empty where none is possible."""
    reason: str
    ordered: bool = False
    """Whether the column must be ordered for it."""

    def line(self, name: str) -> str:
        """The constraint as a line of a policy, a comment where there is none."""
        if not self.constraint:
            return f"# {name}"
        figure, _, more = self.constraint.partition(", ")
        return f"- {{{figure}, of: {name}{more and f', {more}'}}}"


def protection_of(
    column: Contents, k: int = K, people: Mapping[str, int] | None = None, units: int = 0
) -> Protection:
    """The constraint that a sensitive column needs.

    people: how many people have each value, where people are counted; units: how many there are.
    """
    rows = np.sort(_counts_of_values(column, people))[::-1]
    known = units if people else int(rows.sum())
    distinct = len(rows)
    if distinct < 2:
        return Protection("", f"it has {'one value' if distinct else 'no value'}: nothing to hide")
    shares = rows / known
    numeric = (
        column.spread is not None
        and column.type in (Type.WHOLE, Type.DECIMAL)
        and not is_nominal(column)
    )
    if numeric and distinct > MANY_NUMBERS:
        return Protection(
            f"t: {T_ORDERED}, distance: ordered",
            f"{distinct:,} different numbers: neighbours would count as different for l, so the spread "
            "of every group is kept near that of the table",
            ordered=True,
        )
    largest = _largest_l(shares, k)
    top = percent(float(shares[0])) + (" of the people" if people else "")
    if largest >= 2:
        values = f"{distinct:,} values, the most frequent with {top}"
        return Protection(
            f"l: {largest}", f"at least so many different values in every group ({values})"
        )
    return Protection(
        f"t: {T_EQUAL}",
        f"{top} have one value, so l would take large groups; in no group the shares of values may "
        "depart by more than this from those of the table",
    )


def _counts_of_values(column: Contents, people: Mapping[str, int] | None) -> Ints:
    """The rows or people of every value that is not missing; codes for missing ones are left out."""
    if people:
        gone = is_missing(pa.array(people, pa.string()), column.likely_missing)
        return np.array(list(people.values()), np.int64)[~gone]
    if column.listed:
        return np.array([rows for _, rows in column.listed], np.int64)
    if column.times is None:
        return column.counts[: len(column.counts) - bool(column.missing)]
    # counted by an engine, where missing values are one group among others
    times = column.times - ((column.counts == column.missing) & bool(column.missing))
    return np.asarray(np.repeat(column.counts, times), np.int64)


def _largest_l(shares: Floats, k: int) -> int:
    """The largest l up to `LARGEST_L` for which groups of k have enough values on average."""
    outside = 1 - np.cumsum(shares)  # of people with several values, no more than that
    for asked in range(min(LARGEST_L, len(shares)), 1, -1):
        if all(k * outside[j] >= asked - 1 - j - 1e-9 for j in range(asked - 1)):
            return asked
    return 1
