"""Average risk: how likely the average person is picked out by someone who knows them."""

from fractions import Fraction
from math import ceil
from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.cells.counts import Counts
from shoal.models._shares import rounded_up


@dataclass(frozen=True)
class AverageRisk:
    """Average re-identification risk: published classes over published rows is at most a threshold.

    Protects most people against being picked out by what is known of them, on average over all
    rows. Does not protect any single one: a few people may stand alone in their classes, so ask for a
    small k beside it.

    It is judged over the whole release. While groups are formed each one must have at least 1 /
    threshold rows, which is enough.

    Source: El Emam and Dankar, "Protecting privacy using k-anonymity", 2008 (the marketer's risk).
    """

    average_risk: Annotated[float, Field(gt=0, le=1)]
    """The largest average risk: 0.05 asks for classes of 20 rows on average."""

    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = True

    @property
    def min_rows(self) -> int:
        """No single group with fewer rows holds."""
        return ceil(1 / Fraction(str(self.average_risk)))

    def holds(self, counts: Counts) -> npt.NDArray[np.bool_]:
        """(g,) whether each group is large enough by itself."""
        return counts.sizes >= self.min_rows

    def holds_over(self, counts: Counts) -> bool:
        """Whether a release of these classes holds."""
        return _risk(counts) <= self.average_risk

    def reached(self, counts: Counts) -> float:
        """The smallest threshold that a release of these classes holds."""
        return rounded_up(_risk(counts))

    def advice(self, everyone: Counts) -> str:
        """Why not even one group of all rows holds, and the nearest figure that can."""
        least = self.reached(everyone)
        return (
            f"The table has {int(everyone.sizes.sum()):,} rows, but average-risk = "
            f"{self.average_risk:g} was asked. The smallest it allows is {least:g}: raise it or add "
            "rows."
        )


def _risk(counts: Counts) -> float:
    return counts.n_groups / max(1, int(counts.sizes.sum()))
