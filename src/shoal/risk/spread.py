"""How the numbers of a column are spread, as far as it matters for intervals and constraints."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.arrays import Ints

ENDS = 0.05
"""The share of rows at each end that `inner_low` and `inner_high` leave out."""


@dataclass(frozen=True)
class Spread:
    """The range of numbers, all of them and most of them."""

    low: float
    high: float
    inner_low: float
    """Below it are 5 % of the rows."""
    inner_high: float
    """Above it are 5 % of the rows."""
    middle: float
    """The median."""
    whole: bool
    """Whether all are whole numbers."""


def spread_of(numbers: pa.Array, rows: Ints) -> Spread | None:
    """The spread of distinct numbers, with (n,) the rows of each; None where there are none."""
    values = numbers.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    known = np.isfinite(values) & (rows > 0)
    values, rows = values[known], rows[known]
    if not len(values):
        return None
    order = np.argsort(values, kind="stable")
    values, below = values[order], np.cumsum(rows[order])
    at = np.searchsorted(below, below[-1] * np.array([ENDS, 0.5, 1 - ENDS]))
    inner_low, middle, inner_high = values[np.minimum(at, len(values) - 1)].tolist()
    whole = bool((np.floor(values) == values).all())
    return Spread(float(values[0]), float(values[-1]), inner_low, inner_high, middle, whole)
