"""δ-presence: nobody can be sure that a person of the population is in the table."""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Floats
from shoal.encoding.counts import Counts
from shoal.models.shares import rounded_up


@dataclass(frozen=True)
class DeltaPresence:
    """δ-presence: at most the share δ of the people whom a combination fits is in the table.

    Protects against learning that a person is in the table at all, such as a register of an illness.
    Does not hide anything else about those who are; nor does it add up what several classes that fit
    one person tell together.

    The policy's `population` names the table of all people, those of the table among them.

    Source: Nergiz, Atzori and Clifton, "Hiding the presence of individuals from shared databases",
    2007.
    """

    delta_presence: Annotated[float, Field(gt=0, le=1)]
    """The largest share, above 0 and up to 1."""
    least: Annotated[float, Field(ge=0, le=1)] = 0
    """The smallest share, against learning that a person is not in the table; above 0 it can be
    verified, but no method promises it."""

    high_is_strong: ClassVar[bool] = False
    holds_when_merged: ClassVar[bool] = False
    holds_when_joined: ClassVar[bool] = False
    needs_population: ClassVar[bool] = True

    @property
    def min_rows(self) -> int:
        """Even one row may hold."""
        return 1

    def holds(self, counts: Counts) -> Bools:
        """(g,) whether each group holds."""
        shares = _shares(counts)
        return (shares <= self.delta_presence) & (shares >= self.least)

    def reached(self, counts: Counts) -> float:
        """The smallest δ that every group holds; infinite where none does."""
        shares = _shares(counts)
        most = float(shares.max(initial=0.0))
        return np.inf if most > 1 or (shares < self.least).any() else rounded_up(most)

    def advice(self, everyone: Counts) -> str:
        """Why not even one group of all rows holds, and the nearest figure that can."""
        assert everyone.population is not None
        people, rows = int(everyone.population.sum()), int(everyone.sizes.sum())
        least = self.reached(everyone)
        nearest = f"The smallest it allows is {least:g}." if least <= 1 else "That allows none."
        return (
            f"The table has {rows:,} rows and the population table {people:,} that equal some of "
            f"them, but delta-presence = {self.delta_presence:g} was asked. {nearest} The population "
            "must hold everybody of the table, and both tables must spell their values alike."
        )


def _shares(counts: Counts) -> Floats:
    """(g,) rows over people; infinite where there are no people."""
    assert counts.population is not None
    none = counts.population == 0
    return np.where(none, np.inf, counts.sizes / np.where(none, 1, counts.population))
