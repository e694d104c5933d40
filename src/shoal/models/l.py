"""Distinct l-diversity: nobody's sensitive value is given away by their group."""

from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.cells.counts import Counts


@dataclass(frozen=True)
class L:
    """Distinct l-diversity: every group holds at least l different values of a sensitive column.

    Protects against reading a person's sensitive value off a group that shares one value. Does not
    bound how common a value may be in a group, so a good guess may still be likely.

    Source: Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2007.
    """

    l: Annotated[int, Field(ge=1)]  # noqa: E741 - the field's own letter
    """The fewest different values in a group; a missing value is not one."""
    of: str
    """The sensitive column it speaks of."""

    @property
    def min_rows(self) -> int:
        """No group with fewer rows can hold."""
        return self.l

    def holds(self, counts: Counts) -> npt.NDArray[np.bool_]:
        """(g,) whether each group holds."""
        return counts.distinct() >= self.l

    def reached(self, counts: Counts) -> int:
        """The largest l that every group holds."""
        return int(counts.distinct().min(initial=np.iinfo(np.int64).max))
