"""δ-disclosure privacy: every value is about as common in a group as in the whole table."""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Floats
from shoal.encoding.counts import Counts
from shoal.models.shares import largest, no_value, owners, rounded_up, totals_of, with_value


@dataclass(frozen=True)
class Delta:
    """δ-disclosure privacy: every value's shares of group and table differ by a factor below e^δ.

    Protects against learning that a person has a value, or has it not, far beyond what the whole
    table tells. Does not hide the whole table's shares; and since every group must hold every value,
    columns with rare values leave few groups.

    With q the share in the group and p that in the table: |ln(q / p)| < δ for every value of the
    table. Shares are taken of the rows that have a value.

    Source: Brickell and Shmatikov, "The cost of privacy: destruction of data-mining utility in
    anonymized data publishing", 2008.
    """

    delta: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """What |ln(q / p)| must stay below: 0.7 is a factor of about two."""
    of: str
    """The sensitive column it speaks of."""

    high_is_strong: ClassVar[bool] = False
    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = False

    @property
    def min_rows(self) -> int:
        """Even one row may hold."""
        return 1

    def holds(self, counts: Counts) -> Bools:
        """(g,) whether each group holds."""
        return _differences(counts) < self.delta

    def reached(self, counts: Counts) -> float:
        """The smallest δ that every group holds; infinite where a group lacks a value."""
        return rounded_up(float(_differences(counts).max(initial=0.0)), above=True)

    def advice(self, everyone: Counts) -> str:
        """Why not even one group of all rows holds: nothing differs in them."""
        return no_value(everyone, self.of)


def _differences(counts: Counts) -> Floats:
    """(g,) the largest |ln(q / p)| of each group; infinite where it lacks a value of the table."""
    totals, rows = totals_of(counts), with_value(counts)[owners(counts)]
    times = counts.counts * totals.sum() / (totals[counts.values] * rows)
    found = largest(counts, np.abs(np.log(times)), without=np.inf)
    return np.where(np.diff(counts.starts) == np.count_nonzero(totals), found, np.inf)
