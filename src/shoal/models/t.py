"""t-closeness: the values of a group are spread much as those of the whole table."""

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Floats
from shoal.encoding.counts import Counts
from shoal.models.distances import equal, hierarchical, ordered
from shoal.models.shares import no_value, rounded_up, with_value

DISTANCES = {"equal": equal, "ordered": ordered, "hierarchical": hierarchical}


@dataclass(frozen=True)
class T:
    """t-closeness: every group's sensitive values are at most t away from those of the whole table.

    Protects against learning much about a person beyond what the whole table tells of everybody. Does
    not hide the whole table's shares, and a rare value may grow many times over within a small t.

    The distance is the earth mover's. Shares are taken of the rows that have a value; no t
    holds for a group without any.

    Source: Li, Li and Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity",
    2007.
    """

    t: Annotated[float, Field(ge=0, le=1)]
    """The largest distance, 0 to 1."""
    of: str
    """The sensitive column it speaks of."""
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"
    """Between two values: all the same, by their places in the column's order, or by the height of
    their lowest common node in the column's hierarchy."""

    high_is_strong: ClassVar[bool] = False
    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = False

    @property
    def min_rows(self) -> int:
        """Even one row may hold."""
        return 1

    def holds(self, counts: Counts) -> Bools:
        """(g,) whether each group holds."""
        return np.asarray(self._distances(counts) <= self.t)

    def reached(self, counts: Counts) -> float:
        """The smallest t that every group holds."""
        return rounded_up(float(self._distances(counts).max(initial=0.0)))

    def advice(self, everyone: Counts) -> str:
        """Why not even one group of all rows holds: they are at distance 0 of themselves."""
        return no_value(everyone, self.of)

    def _distances(self, counts: Counts) -> Floats:
        # of a group without values nothing can be said, so no t holds for it
        if not counts.n_groups:  # of no groups nothing is known, not even a hierarchy
            return np.zeros(0)
        return np.where(with_value(counts) > 0, DISTANCES[self.distance](counts), np.inf)
