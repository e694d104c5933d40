"""β-likeness: no sensitive value is much more common in a group than in the whole table."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Floats
from shoal.encoding.counts import Counts
from shoal.models.base import SensitiveModel
from shoal.models.shares import everyone, known, largest, owners, totals_of


@dataclass(frozen=True)
class Beta(SensitiveModel):
    """β-likeness: no sensitive value's share grows by more than β times from table to group.

    Protects against growing sure that a person has some value, rare values above all, far beyond what
    the whole table says. Does not stop learning that a value is unlikely, or ruled out.

    With q the share in the group and p that in the table: (q - p) / p is at most β for every value
    that grew. Shares are taken of the rows that have a value; a group without any does not hold.

    Source: Cao and Karras, "Publishing microdata with a robust privacy guarantee", 2012.
    """

    beta: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """The largest relative growth: 1 lets a share double."""
    of: str
    """The sensitive column."""
    enhanced: bool = False
    """Whether growth is also at most -ln p, which binds where a common value would near certainty."""

    high_is_strong: ClassVar[bool] = False
    holds_when_merged: ClassVar[bool] = True
    compares_with_table: ClassVar[bool] = True

    def strengths(self, counts: Counts) -> Floats:
        """(g,) the largest growth; infinite where a value grew beyond -ln p, if that counts."""
        rows, total = known(counts)[owners(counts)], totals_of(counts)[counts.values]
        of_all, expected = everyone(counts), total * rows
        growth = (counts.counts * of_all - expected) / expected
        if self.enhanced:
            growth = np.where(growth <= -np.log(total / of_all), growth, np.inf)
        return largest(counts, growth, without=np.inf)

    @classmethod
    def examples(cls, column: str = "ill") -> Iterator[Self]:
        """Yield a few instances for tests."""
        for figure in (0, 0.5, 1, 3):
            yield from (cls(figure, column, enhanced) for enhanced in (False, True))
