"""Distinct l-diversity: nobody's sensitive value is given away by their group."""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools
from shoal.encoding.counts import Counts


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

    high_is_strong: ClassVar[bool] = True
    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = True

    @property
    def min_rows(self) -> int:
        """No group with fewer rows can hold."""
        return self.l

    def holds(self, counts: Counts) -> Bools:
        """(g,) whether each group holds."""
        return counts.distinct() >= self.l

    def reached(self, counts: Counts) -> int:
        """The largest l that every group holds."""
        return int(counts.distinct().min(initial=np.iinfo(np.int64).max))

    def advice(self, everyone: Counts) -> str:
        """Why not even one group of all rows holds, and the nearest figure that can."""
        values = self.reached(everyone)
        if values < 1:
            return f"Every value of {self.of} is missing: no l can hold. Leave the constraint out."
        return (
            f"The table has {values} distinct values of {self.of}, but l = {self.l} was asked. "
            f"The largest l it allows is {values}: lower l or add rows."
        )
