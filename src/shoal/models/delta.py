"""δ-disclosure privacy: every value is about as common in a group as in the whole table."""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Floats
from shoal.encoding.counts import Counts
from shoal.models.base import SensitiveModel, rounded_up
from shoal.models.shares import everyone, known, largest, owners, totals_of


@dataclass(frozen=True)
class Delta(SensitiveModel):
    """δ-disclosure privacy: every value's shares of group and table differ by a factor below e^δ.

    Protects against learning that a person has a value, or does not have it, far beyond what the
    whole table says. Does not hide the whole table's shares; and since every group must hold every
    value, columns with rare values leave few groups.

    With q the share in the group and p that in the table: |ln(q / p)| < δ for every value of the
    table. Shares are taken of the rows that have a value.

    Source: Brickell and Shmatikov, "The cost of privacy: destruction of data-mining utility in
    anonymized data publishing", 2008.
    """

    delta: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """What |ln(q / p)| must stay below: 0.7 is a factor of about two."""
    of: str
    """The sensitive column."""

    high_is_strong: ClassVar[bool] = False
    holds_when_merged: ClassVar[bool] = True
    compares_with_table: ClassVar[bool] = True

    def strengths(self, counts: Counts) -> Floats:
        """(g,) the largest |ln(q / p)| of each group; infinite where it lacks a value of the table."""
        totals, rows = totals_of(counts), known(counts)[owners(counts)]
        times = counts.counts * everyone(counts) / (totals[counts.values] * rows)
        found = largest(counts, np.abs(np.log(times)), without=np.inf)
        return np.where(np.diff(counts.starts) == np.count_nonzero(totals), found, np.inf)

    def holds(self, counts: Counts) -> Bools:
        """(g,) whether each group holds."""
        return self.strengths(counts) < self.delta

    def reached(self, counts: Counts) -> float:
        """Return the smallest δ that every group holds; infinite where a group lacks a value."""
        return rounded_up(float(self.strengths(counts).max(initial=0.0)), above=True)
