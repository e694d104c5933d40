"""Recursive (c, l)-diversity: the commonest value is not too common, the rarer ones not too rare."""

from fractions import Fraction
from math import floor
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Ints
from shoal.encoding.counts import Counts
from shoal.models.shares import no_value, owners


@dataclass(frozen=True)
class RecursiveL:
    """Recursive (c,l)-diversity: common values are not too common, rare ones not too rare.

    Protects against a person's value becoming near certain to someone who can rule out up to l - 2
    other values. Does not bound the share of the commonest value where c is large, nor compare with
    the whole table.

    The commonest value occurs less than c times as often as all from the l-th commonest on: with the
    counts r1 >= r2 >= … >= rm of a group's values: r1 < c (rl + … + rm). Missing values are
    none of them.

    Source: Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2007.
    """

    recursive_l: Annotated[int, Field(ge=1)]
    """From which value on, by falling frequency, the rarer ones are counted."""
    of: str
    """The sensitive column it speaks of."""
    c: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """The commonest value must occur less than c times as often as the rarer ones together."""

    high_is_strong: ClassVar[bool] = True
    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = False

    @property
    def min_rows(self) -> int:
        """No group with fewer rows can hold: even if all its values differ, 1 < c (m - l + 1)."""
        return floor(self.recursive_l - 1 + 1 / Fraction(str(self.c))) + 1

    def holds(self, counts: Counts) -> Bools:
        """(g,) whether each group holds."""
        return self._largest(counts) >= self.recursive_l

    def reached(self, counts: Counts) -> int:
        """The largest l that every group holds with this c; 0 where there is none."""
        return int(self._largest(counts).min(initial=np.iinfo(np.int64).max))

    def advice(self, everyone: Counts) -> str:
        """Why not even one group of all rows holds, and the nearest figure that can."""
        most = self.reached(everyone)
        if words := no_value(everyone, self.of):
            return words
        asked = f"recursive-l = {self.recursive_l} with c = {self.c:g} of {self.of} was asked, but"
        if most < 1:
            return f"{asked} no l holds for the whole table with this c: raise c."
        return (
            f"{asked} the largest l of the whole table with this c is {most}: lower it or raise c."
        )

    def _largest(self, counts: Counts) -> Ints:
        """(g,) the largest l of each group: how many of its values may stand first in the sum."""
        owner = owners(counts)
        falling = counts.counts[np.lexsort((-counts.counts, owner))]
        summed = np.append(0, np.cumsum(falling))
        first, end = counts.starts[owner], counts.starts[owner + 1]
        rest = summed[end] - summed[:-1]
        held = falling[first] / rest < self.c
        return np.bincount(owner[held], minlength=counts.n_groups).astype(np.int64)
