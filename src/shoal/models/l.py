"""l-diversity: the values of a sensitive column differ inside every group.

Distinct l-diversity counts the values, entropy l-diversity weighs how evenly they are spread, and
recursive (c,l)-diversity bounds the commonest value by the rarer ones.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Floats, Ints
from shoal.encoding.counts import Counts
from shoal.models.base import SensitiveModel
from shoal.models.shares import commonest, owners, sums, with_value

CLOSE = 1e-9
"""Logarithms are never exact: an entropy this little below ln l counts as reached, so that l equally
common values hold l."""


@dataclass(frozen=True)
class L(SensitiveModel):
    """Distinct l-diversity: every group holds at least l different values of a sensitive column.

    Protects against reading a person's sensitive value off a group that shares one value. Does not
    bound how common a value may be in a group, so a good guess may still be likely.

    Source: Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2007.
    """

    l: Annotated[int, Field(ge=1)]  # noqa: E741 - the field's own letter
    """The fewest different values in a group; a missing value is not one."""
    of: str
    """The sensitive column."""

    high_is_strong: ClassVar[bool] = True
    stricter_when_folded: ClassVar[bool] = True
    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = True
    accepts_wider_values: ClassVar[bool] = True
    holds_with_values: ClassVar[bool] = True

    @property
    def min_rows(self) -> int:
        """No group with fewer rows can hold."""
        return self.l

    @property
    def min_values(self) -> int:
        """The different values that every group must have."""
        return self.l

    @property
    def promises_nothing(self) -> bool:
        """With 1, as every class has a value."""
        return self.l == 1

    def strengths(self, counts: Counts) -> Ints:
        """(g,) the number of different values in each group.

        Where people are counted, somebody may have several of them: at most one more than the people
        who do not have the commonest value.
        """
        distinct = counts.distinct()
        if counts.known is None:
            return distinct
        return np.minimum(distinct, counts.known - commonest(counts) + (distinct > 0))

    def advice(self, everyone: Counts) -> str:
        """Explain why not even one group of all rows holds, with the largest l that can."""
        values = self.reached(everyone)
        if values < 1:
            return super().advice(everyone)
        if values < int(everyone.distinct()[0]):  # people are counted, and many have one value
            return (
                f"l = {self.l} of {self.of} was required, but the largest l that the table's people "
                f"allow is {values}: all but {values - 1:,} of them have the commonest value. Lower l "
                "or add people."
            )
        return (
            f"The table has {values} distinct values of {self.of}, but l = {self.l} was required. "
            f"The largest l it allows is {values}: lower l or add {everyone.units}."
        )


@dataclass(frozen=True)
class EntropyL(SensitiveModel):
    """Entropy l-diversity: every group's sensitive values have an entropy of at least ln l.

    Protects against a good guess at a person's sensitive value where a few values are far more common
    in a group than others. Does not see which values are close in meaning, nor what is rare in the
    whole table.

    Shares are taken of the rows that have a value; a group without any does not hold.

    Source: Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2007.
    """

    entropy_l: Annotated[float, Field(ge=1, allow_inf_nan=False)]
    """The number of equally common values that would be as hard to guess from; 2.5 is allowed."""
    of: str
    """The sensitive column."""

    high_is_strong: ClassVar[bool] = True
    stricter_when_folded: ClassVar[bool] = True
    holds_when_merged: ClassVar[bool] = True

    @property
    def min_rows(self) -> int:
        """No group with fewer rows can hold."""
        return math.ceil(self.entropy_l - 1e-6)

    @property
    def min_values(self) -> int:
        """So many values, equally common, are needed at least."""
        return self.min_rows

    @property
    def promises_nothing(self) -> bool:
        """With 1, the entropy of a single value."""
        return self.entropy_l == 1

    def strengths(self, counts: Counts) -> Floats:
        """(g,) how many equally common values are as hard to guess from; 0 without any value."""
        return np.exp(_entropies(counts) + CLOSE)

    def holds(self, counts: Counts) -> Bools:
        """(g,) whether each group holds."""
        return _entropies(counts) >= math.log(self.entropy_l) - CLOSE


def _entropies(counts: Counts) -> Floats:
    """(g,) in nats; -inf for a group without any value."""
    rows = with_value(counts)
    n = np.maximum(rows, 1)
    spread = sums(counts, counts.counts * np.log(counts.counts)) / n
    return np.where(rows > 0, np.log(n) - spread, -np.inf)


@dataclass(frozen=True)
class RecursiveL(SensitiveModel):
    """Recursive (c,l)-diversity: common values are not too common, rare ones not too rare.

    Protects against a person's value becoming near certain to an attacker who can rule out up to
    l - 2 other values. Does not bound the share of the commonest value where c is large, nor compare
    with the whole table.

    The commonest value occurs less than c times as often as all from the l-th commonest on: with the
    counts r1 >= r2 >= … >= rm of a group's values: r1 < c (rl + … + rm). Missing values are
    none of them.

    Source: Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2007.
    """

    recursive_l: Annotated[int, Field(ge=1)]
    """From which value on, by falling frequency, the rarer ones are counted."""
    of: str
    """The sensitive column."""
    c: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """The commonest value must occur less than c times as often as the rarer ones together."""

    high_is_strong: ClassVar[bool] = True
    stricter_when_folded: ClassVar[bool] = True
    holds_when_merged: ClassVar[bool] = True

    @property
    def min_rows(self) -> int:
        """No group with fewer rows can hold: even if all its values differ, 1 < c (m - l + 1)."""
        return math.floor(self.recursive_l - 1 + 1 / Fraction(str(self.c))) + 1

    @property
    def min_values(self) -> int:
        """The l-th commonest value must be there."""
        return self.recursive_l

    @property
    def promises_nothing(self) -> bool:
        """With 1, as a single value is rarer than c times itself."""
        return self.recursive_l == 1 and self.c > 1

    def strengths(self, counts: Counts) -> Ints:
        """(g,) the largest l of each group with this c; 0 where there is none."""
        owner = owners(counts)
        falling = counts.counts[np.lexsort((-counts.counts, owner))]
        summed = np.append(0, np.cumsum(falling))
        first, end = counts.starts[owner], counts.starts[owner + 1]
        rest = summed[end] - summed[:-1]
        held = falling[first] / rest < self.c
        return np.bincount(owner[held], minlength=counts.n_groups).astype(np.int64)

    @classmethod
    def examples(cls, column: str = "ill") -> Iterator[Self]:
        """Yield a few instances for tests."""
        for figure in (1, 2, 3):
            yield from (cls(figure, column, c) for c in (0.5, 1, 2))
