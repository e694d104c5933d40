"""α: no sensitivity level, or no value, makes up too much of a group."""

import math
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Floats, Ints
from shoal.encoding.counts import Counts
from shoal.models.base import SensitiveModel
from shoal.models.shares import known

NAMED = 10
"""A value is named only if at least so many rows share it."""


@dataclass(frozen=True)
class Alpha(SensitiveModel):
    """α: in every group each sensitivity level makes up at most the share α of the known values.

    Where the column has no `levels`, each value; with `k` that is the (α,k) model, with `k` and `l`
    (α,l)-diversity k-anonymity. Shares are taken of the rows that have a value; a group without any
    holds.

    Protects against a likely guess at how sensitive somebody's value is. Does not require several
    values inside a level: combine it with `l`.

    Source: Wong et al., "(α,k)-anonymity: an enhanced k-anonymity model for privacy-preserving data
    publishing", 2006; on levels: Cao et al., "Personalized (α,l)-diversity k-anonymity model for
    privacy preservation", 2018.
    """

    alpha: Annotated[float, Field(gt=0, le=1)]
    """The largest share of a group's known values that one level (or value) may have."""
    of: str
    """The sensitive column."""

    high_is_strong: ClassVar[bool] = False
    stricter_when_folded: ClassVar[bool] = True
    holds_when_merged: ClassVar[bool] = True
    holds_without_values: ClassVar[bool] = True
    accepts_wider_values: ClassVar[bool] = True

    @property
    def min_rows(self) -> int:
        """No group with fewer rows can hold, unless all its values are missing."""
        rows = max(1, math.floor(1 / self.alpha))
        return rows if 1 / rows <= self.alpha else rows + 1

    @property
    def min_values(self) -> int:
        """With fewer values one of them has a larger share."""
        return self.min_rows

    @property
    def max_share(self) -> float:
        """No value may have a larger share."""
        return self.alpha

    @property
    def promises_nothing(self) -> bool:
        """With 1, the share of a single value."""
        return self.alpha == 1

    def strengths(self, counts: Counts) -> Floats:
        """(g,) the largest share of each group's known values that one level (or value) has."""
        # a person with two values of one level counts for each, but no share is above 1
        return np.minimum(counts.largest() / np.maximum(known(counts), 1), 1.0)

    def least_suppressed(self, everyone: Counts) -> int | None:
        """Return the fewest rows without which all others, as one group, hold."""
        return None if everyone.counts_people else self._least_suppressed(everyone)

    def _least_suppressed(self, everyone: Counts) -> int:
        rows = _rows_by_class(everyone)
        n = int(rows.sum())  # a row without a value changes no share
        kept = np.arange(1, n + 1)
        # the most rows of one level among `kept` rows
        most = np.floor(self.alpha * kept).astype(np.int64)
        most += (most + 1) / kept <= self.alpha
        most -= most / kept > self.alpha
        ascending = np.sort(rows)
        below = np.concatenate([[0], np.cumsum(ascending)])
        smaller = np.searchsorted(ascending, most)
        fits = below[smaller] + (len(rows) - smaller) * most >= kept
        return n - int(kept[fits].max(initial=0))

    def advice(self, everyone: Counts) -> str:
        """Explain why not even one group of all rows holds, with the smallest α that can."""
        share = self.reached(everyone)
        least = math.ceil(share * 1000) / 1000
        whom = "people" if everyone.counts_people else "rows"
        words = (
            f"{self._commonest(everyone)} makes up {share:.1%} of the {whom} with a known value, but "
            f"alpha = {self.alpha:g} was required of {self.of}. Without suppressing rows the least "
            f"alpha it allows is {least:g}"
        )
        if everyone.counts_people:
            return f"{words}: raise alpha."
        rows, out = int(known(everyone)[0]), self._least_suppressed(everyone)
        if out == rows:
            return f"{words}; with {self.alpha:g} not one row could be published: raise alpha."
        return (
            f"{words}; with {self.alpha:g} at least {out:,} of {rows:,} rows would have to be "
            "suppressed: raise alpha, or allow that with `suppression` and a method that can "
            "suppress rows, such as top-down."
        )

    def _commonest(self, everyone: Counts) -> str:
        rows = _rows_by_class(everyone)
        place = int(rows.argmax())
        assert everyone.domain is not None
        if everyone.domain.levels is not None:
            return f"Sid {place + 1}"
        if (
            rows[place] < NAMED or everyone.domain.spellings is not None
        ):  # a rare spelling may name it
            return "One value"
        return f"'{everyone.domain.texts[int(everyone.values[place])].as_py()}'"


def _rows_by_class(everyone: Counts) -> Ints:
    """Rows of each level from 1 on, or of each published value, in the one group of all."""
    if everyone.domain is not None and everyone.domain.levels is not None:
        return everyone.by_level()[0, 1:]
    return everyone.counts
