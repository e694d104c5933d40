"""Models that compare published classes with a population table: k-map and δ-presence.

The policy's `population` names the table of all people, those of the table among them. While groups
are formed only people equal to one of the group's rows count; in the verification of the release,
all whom its label covers.
"""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Floats, Ints
from shoal.encoding.counts import Counts
from shoal.models.base import Model

SPELLING = "Both tables must spell their values alike, as in 02138 and 2138."


@dataclass(frozen=True)
class KMap(Model):
    """k-map: every published combination fits at least k people of a population table.

    Protects against picking a person out by an attacker who does not know who is in the table. Does
    not protect against one who does: a class may hold a single row.

    Source: Sweeney, "Computational disclosure control: a primer on data privacy protection", 2001.
    """

    k_map: Annotated[int, Field(ge=1)]
    """The fewest people of the population whom a combination fits."""

    high_is_strong: ClassVar[bool] = True
    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = True
    merges_with_people: ClassVar[bool] = True
    needs_population: ClassVar[bool] = True

    @property
    def promises_nothing(self) -> bool:
        """With 1: everybody is in the population."""
        return self.k_map == 1

    def strengths(self, counts: Counts) -> Ints:
        """(g,) the people whom each group fits."""
        return _people(counts)

    def advice(self, everyone: Counts) -> str:
        """Explain why not even one group of all rows holds, with the largest figure that can."""
        people = self.reached(everyone)
        if not people:
            return (
                f"k-map = {self.k_map} was required, but no row of the population table equals any row "
                f"of the table in the quasi columns. {SPELLING}"
            )
        return (
            f"The population table has {people:,} rows that equal rows of the table, but k-map = "
            f"{self.k_map} was required. The largest it allows is {people}: lower k-map. {SPELLING}"
        )


@dataclass(frozen=True)
class DeltaPresence(Model):
    """δ-presence: at most the share δ of the people whom a combination fits is in the table.

    Protects against learning that a person is in the table at all, such as a register of an illness.
    Does not hide anything else about those who are; nor does it add up what several classes that fit
    one person say together.

    Source: Nergiz, Atzori and Clifton, "Hiding the presence of individuals from shared databases",
    2007.
    """

    delta_presence: Annotated[float, Field(gt=0, le=1)]
    """The largest share, above 0 and up to 1."""
    least: Annotated[float, Field(ge=0, le=1)] = 0
    """The smallest share, against learning that a person is not in the table; above 0 it can be
    verified, but no method promises it."""

    high_is_strong: ClassVar[bool] = False
    needs_population: ClassVar[bool] = True

    @property
    def promises_nothing(self) -> bool:
        """With 1, where presence is certain."""
        return self.delta_presence == 1 and self.least == 0

    def strengths(self, counts: Counts) -> Floats:
        """(g,) rows over people; infinite where there are too few people, or rows."""
        people = _people(counts)
        none = people == 0
        shares = np.where(none, np.inf, counts.sizes / np.where(none, 1, people))
        return np.where((shares > 1) | (shares < self.least), np.inf, shares)

    def advice(self, everyone: Counts) -> str:
        """Explain why not even one group of all rows holds, with the smallest figure that can."""
        people, rows = int(_people(everyone).sum()), int(everyone.sizes.sum())
        least = self.reached(everyone)
        nearest = f"The smallest it allows is {least:g}." if least <= 1 else "That allows none."
        return (
            f"The table has {rows:,} rows and the population table {people:,} that equal some of "
            f"them, but delta-presence = {self.delta_presence:g} was required. {nearest} The "
            f"population must hold everybody of the table. {SPELLING}"
        )


def _people(counts: Counts) -> Ints:
    """(g,) people of the population whom each group fits."""
    assert counts.population is not None, "the policy names a population"
    return counts.population
