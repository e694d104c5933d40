"""k-map: nobody stands out among fewer than k people of the population."""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools
from shoal.encoding.counts import Counts


@dataclass(frozen=True)
class KMap:
    """k-map: every published combination fits at least k people of a population table.

    Protects against picking a person out by someone who does not know who is in the table. Does not
    protect against someone who does know: a class may hold a single row.

    The policy's `population` names the table. While groups are formed only people equal to one of the
    group's rows count, in the check of the release all whom its label covers.

    Source: Sweeney, "Computational disclosure control: a primer on data privacy protection", 2001.
    """

    k_map: Annotated[int, Field(ge=1)]
    """The fewest people of the population whom a combination fits."""

    high_is_strong: ClassVar[bool] = True
    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = True
    needs_population: ClassVar[bool] = True

    @property
    def min_rows(self) -> int:
        """Even one row may hold."""
        return 1

    def holds(self, counts: Counts) -> Bools:
        """(g,) whether each group holds."""
        assert counts.population is not None
        return counts.population >= self.k_map

    def reached(self, counts: Counts) -> int:
        """The largest k that every group holds."""
        assert counts.population is not None
        return int(counts.population.min(initial=np.iinfo(np.int64).max))

    def advice(self, everyone: Counts) -> str:
        """Why not even one group of all rows holds, and the nearest figure that can."""
        people = self.reached(everyone)
        if not people:
            return (
                f"k-map = {self.k_map} was asked, but no row of the population table equals any row of "
                "the table in the quasi columns. Are their values written the same way in both, as in "
                "02138 and 2138?"
            )
        return (
            f"The population table has {people:,} rows that equal rows of the table, but k-map = "
            f"{self.k_map} was asked. The largest it allows is {people}: lower k-map, or see that "
            "both tables spell their values alike."
        )
