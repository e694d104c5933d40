"""How wide a range is in whole units, where a loss counts values and not shares.

The loss of L-clustering gives a range the width `b - a + 1`, so that one value is 1 wide. That only
means something where neighbours are 1 apart: whole numbers are measured as they are, dates in days.
Decimals, times of day and ordered labels are measured on their rank among the column's values, and
so are whole numbers that lie further apart than a float can count.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.cells.domain import Domain, Kind

DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
FARTHEST = float(1 << 53)
"""A float counts whole units up to here."""


def units_of(values: pa.Array) -> npt.NDArray[np.float64]:
    """(m,) the place of each of these rising values in whole units, the first being 0."""
    place = _in_units(values)
    if place is not None and place[-1] <= FARTHEST and (np.diff(place) > 0).all():
        return place
    return np.arange(len(values), dtype=np.float64)


def places(domain: Domain) -> npt.NDArray[np.float64]:
    """(size,) RANGE, TREE: the place of each code in whole units, leaves being 1 apart.

    In a RANGE the missing value stands where the largest one does: a label over it and others spans
    the column, and the column is as wide as its known values.
    """
    if domain.units is not None:
        return domain.units
    place = np.arange(domain.size, dtype=np.float64)
    if domain.kind == Kind.RANGE and domain.missing > 0:
        place[domain.missing] -= 1
    return place


def whole(domain: Domain) -> float:
    """How wide the whole column is: the units of a RANGE, else the number of values."""
    return float(places(domain)[-1]) + 1.0


def _in_units(values: pa.Array) -> npt.NDArray[np.float64] | None:
    kind = values.type
    if pa.types.is_date32(kind):
        return _from_first(values.view(pa.int32()), 1)
    if pa.types.is_date64(kind):
        return _from_first(values.view(pa.int64()), DAY["ms"])
    if pa.types.is_timestamp(kind):
        return _from_first(values.view(pa.int64()), DAY[kind.unit])
    if pa.types.is_integer(kind):
        return _from_first(values, 1)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
        if np.abs(numbers).max() <= FARTHEST and (numbers == np.rint(numbers)).all():
            return numbers - numbers[0]
    return None


def _from_first(values: pa.Array, unit: int) -> npt.NDArray[np.float64] | None:
    """How many units each value lies above the first, None where some lies between two units."""
    whole = values.to_numpy(zero_copy_only=False)
    if whole.itemsize < 8:
        whole = whole.astype(np.int64)
    if unit > 1 and (whole % unit).any():
        return None
    # exact differences first: large numbers lie closer together than a float can tell
    above = (whole - whole[0]).view(np.uint64)
    return (above // np.uint64(unit)).astype(np.float64)
