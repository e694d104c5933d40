"""One column's values as integers.

Numbers and dates are numbered in ascending order, hierarchy leaves depth first, anything else by its
text. An interval or a hierarchy node is then one unbroken range of codes. A missing value is a value
of its own: the last code.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.hierarchy.tree import Hierarchy

UNIT = 1 << 28
"""Loss is counted in whole numbers, UNIT being the loss of one fully generalised cell. Whole numbers
add up to the same sum in any order, so a choice between two cuts is the same on every machine."""


class Kind(IntEnum):
    """How a column generalises, and so what its label costs."""

    RANGE = 0
    """To an interval; the loss is its width over the column's width."""
    SET = 1
    """To a set of values; the loss is its size over the number of values."""
    TREE = 2
    """To a node of a hierarchy; the loss is its share of the leaves."""


@dataclass(frozen=True)
class Domain:
    """What the codes of one column mean."""

    name: str
    kind: Kind
    texts: pa.Array
    """(size,) string: the raw text of each code; null for the missing value."""
    missing: int
    """The code of the missing value (always the last one), or -1 when none is missing."""
    positions: npt.NDArray[np.int64] | None = None
    """RANGE only. (size,) each value's place in 0..UNIT between the smallest and the largest value.
    The missing value stands at 2 * UNIT, so a range that holds it and another costs UNIT or more."""
    units: npt.NDArray[np.float64] | None = None
    """RANGE only. (size,) each value's place in the column's own unit (`cells/units.py`): 1 for whole
    numbers, a day for dates; its rank for all others, and where None. The missing value stands at the
    largest one."""
    hierarchy: Hierarchy | None = None
    """TREE only. One leaf per code, the missing value being a leaf right under the root."""
    levels: npt.NDArray[np.int32] | None = None
    """Sensitive columns only, where the policy gives levels. (size,) the sensitivity level (Sid) of
    each code, 1 being the least; 0 for the missing value."""

    @property
    def size(self) -> int:
        """Number of codes, the missing value's included."""
        return len(self.texts)


def with_missing_text(texts: pa.Array, missing: int) -> pa.Array:
    """The texts of the known values, and a null where a value can be missing."""
    if missing < 0:
        return texts
    return pa.concat_arrays([texts.slice(0, missing), pa.nulls(1, pa.string())])
