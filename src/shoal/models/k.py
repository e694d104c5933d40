"""k-anonymity: nobody stands out among fewer than k."""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools
from shoal.encoding.counts import Counts


@dataclass(frozen=True)
class K:
    """k-anonymity: every published combination of quasi-identifiers occurs at least k times.

    Protects against picking out one person's row by what is known of them. Does not protect the
    sensitive value when the whole group shares it.

    Source: Samarati and Sweeney, "Protecting privacy when disclosing information", 1998.
    """

    k: Annotated[int, Field(ge=1)]
    """The fewest rows that may share a combination."""
    on: tuple[str, ...] | None = None
    """The quasi-identifiers it speaks of; all of them when left out."""

    high_is_strong: ClassVar[bool] = True
    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = True

    @property
    def min_rows(self) -> int:
        """No group with fewer rows can hold."""
        return self.k

    def holds(self, counts: Counts) -> Bools:
        """(g,) whether each group holds."""
        return counts.sizes >= self.k

    def reached(self, counts: Counts) -> int:
        """The largest k that every group holds."""
        return int(counts.sizes.min(initial=np.iinfo(np.int64).max))

    def advice(self, everyone: Counts) -> str:
        """Why not even one group of all rows holds, and the nearest figure that can."""
        rows = self.reached(everyone)
        return (
            f"The table has {rows:,} rows, but k = {self.k} was asked. "
            f"The largest k it allows is {rows}: lower k or add rows."
        )
