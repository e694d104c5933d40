"""Entropy l-diversity: the values of a group are as spread as l equally common ones."""

import math
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Floats
from shoal.encoding.counts import Counts
from shoal.models.shares import no_value, rounded_down, sums, with_value

CLOSE = 1e-9
"""Logarithms are never exact: an entropy this little below ln l counts as reached, so that l equally
common values hold l."""


@dataclass(frozen=True)
class EntropyL:
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
    """The sensitive column it speaks of."""

    high_is_strong: ClassVar[bool] = True
    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = False

    @property
    def min_rows(self) -> int:
        """No group with fewer rows can hold."""
        return math.ceil(self.entropy_l - 1e-6)

    def holds(self, counts: Counts) -> Bools:
        """(g,) whether each group holds."""
        return _entropies(counts) >= math.log(self.entropy_l) - CLOSE

    def reached(self, counts: Counts) -> float:
        """The largest l that every group holds; 0 where a group has no value."""
        least = float(_entropies(counts).min(initial=np.inf))
        return rounded_down(math.exp(least + CLOSE))

    def advice(self, everyone: Counts) -> str:
        """Why not even one group of all rows holds, and the nearest figure that can."""
        most = self.reached(everyone)
        return no_value(everyone, self.of) or (
            f"The values of {self.of} in the whole table are as spread as {most:g} equally common "
            f"ones, but entropy-l = {self.entropy_l:g} was asked. The largest it allows is {most:g}: "
            "lower entropy-l."
        )


def _entropies(counts: Counts) -> Floats:
    """(g,) in nats; -inf for a group without any value."""
    rows = with_value(counts)
    n = np.maximum(rows, 1)
    spread = sums(counts, counts.counts * np.log(counts.counts)) / n
    return np.where(rows > 0, np.log(n) - spread, -np.inf)
