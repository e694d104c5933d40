"""Average risk: how likely the average person is to be picked out by what is known of them."""

from fractions import Fraction
from math import ceil
from typing import Annotated, ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Floats
from shoal.encoding.counts import Counts
from shoal.models.base import Model, rounded_up


@dataclass(frozen=True)
class AverageRisk(Model):
    """Average re-identification risk: published classes over published rows is at most a threshold.

    Protects most people against being picked out by what is known of them, on average over all
    rows. Does not protect any single one: a few people may stand alone in their classes, so require a
    small k with it.

    It is judged over the whole release. While groups are formed each one must have at least 1 /
    threshold rows, which is sufficient.

    Source: El Emam and Dankar, "Protecting privacy using k-anonymity", 2008 (the marketer's risk).
    """

    average_risk: Annotated[float, Field(gt=0, le=1)]
    """The largest average risk: 0.05 requires classes of 20 rows on average."""

    high_is_strong: ClassVar[bool] = False
    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = True
    merges_with_people: ClassVar[bool] = True
    release_wide: ClassVar[bool] = True

    @property
    def min_rows(self) -> int:
        """No single group with fewer rows holds."""
        return ceil(1 / Fraction(str(self.average_risk)))

    @property
    def promises_nothing(self) -> bool:
        """With 1, the risk of people who are alone."""
        return self.average_risk == 1

    def strengths(self, counts: Counts) -> Floats:
        """(g,) the risk of each group by itself."""
        return 1 / counts.sizes

    def holds(self, counts: Counts) -> Bools:
        """(g,) whether each group is large enough by itself."""
        return counts.sizes >= self.min_rows

    def holds_over(self, counts: Counts) -> bool:
        """Return whether a release of these classes holds."""
        return self.over(counts.n_groups, int(counts.sizes.sum()))[0]

    def reached(self, counts: Counts) -> float:
        """Return the smallest threshold that a release of these classes holds."""
        return self.over(counts.n_groups, int(counts.sizes.sum()))[1]

    def over(self, classes: int, rows: int) -> tuple[bool, float]:
        """Return whether a release of so many classes and rows holds, and what is reached."""
        risk = classes / max(1, rows)
        return risk <= self.average_risk, rounded_up(risk)
