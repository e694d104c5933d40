"""Average risk: how likely the average person is picked out by someone who knows them."""

from fractions import Fraction
from math import ceil
from typing import Annotated, ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools
from shoal.encoding.counts import Counts
from shoal.models.shares import rounded_up


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

    high_is_strong: ClassVar[bool] = False
    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = True

    @property
    def min_rows(self) -> int:
        """No single group with fewer rows holds."""
        return ceil(1 / Fraction(str(self.average_risk)))

    def holds(self, counts: Counts) -> Bools:
        """(g,) whether each group is large enough by itself."""
        return counts.sizes >= self.min_rows

    def holds_over(self, counts: Counts) -> bool:
        """Whether a release of these classes holds."""
        return self.over(counts.n_groups, int(counts.sizes.sum()))[0]

    def reached(self, counts: Counts) -> float:
        """The smallest threshold that a release of these classes holds."""
        return self.over(counts.n_groups, int(counts.sizes.sum()))[1]

    def over(self, classes: int, rows: int) -> tuple[bool, float]:
        """Whether a release of so many classes and rows holds, and the smallest threshold it does."""
        risk = classes / max(1, rows)
        return risk <= self.average_risk, rounded_up(risk)

    def advice(self, everyone: Counts) -> str:
        """Why not even one group of all rows holds, and the nearest figure that can."""
        least = self.reached(everyone)
        return (
            f"The table has {int(everyone.sizes.sum()):,} rows, but average-risk = "
            f"{self.average_risk:g} was asked. The smallest it allows is {least:g}: raise it or add "
            "rows."
        )
