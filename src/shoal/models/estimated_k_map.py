"""Estimated k-map: every published combination fits k people of the population, by sampling weights."""

from typing import Annotated, ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Ints
from shoal.encoding.counts import SCALE, Counts
from shoal.models.base import Model


@dataclass(frozen=True)
class EstimatedKMap(Model):
    """Estimated k-map: the sampling weights of every published combination add up to at least k people.

    Protects against picking a person out by an attacker who does not know who took part in the survey,
    as far as the weights are right: it is an estimate, not a count of people. Does not protect against
    one who knows who took part: a class may hold a single row. Use it beside `k`.

    Source: k-map as in Sweeney, "Computational disclosure control: a primer on data privacy
    protection", 2001, with the population of a class estimated as in Benedetti and Franconi,
    "Statistical and technological solutions for controlled data dissemination", 1998.
    """

    estimated_k_map: Annotated[int, Field(ge=1)]
    """The fewest people of the population that a combination stands for, by the sum of weights."""

    high_is_strong: ClassVar[bool] = True
    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = True
    merges_with_people: ClassVar[bool] = True
    needs_weights: ClassVar[bool] = True

    @property
    def promises_nothing(self) -> bool:
        """With 1, as every row stands for somebody."""
        return self.estimated_k_map == 1

    def strengths(self, counts: Counts) -> Ints:
        """(g,) the whole people that each group stands for."""
        assert counts.weights is not None, "the policy has a column of weights"
        return counts.weights // SCALE

    def advice(self, everyone: Counts) -> str:
        """Explain why not even one group of all rows holds, with the largest figure that can."""
        people = int(self.reached(everyone))
        return (
            f"The weights of the whole table add up to {people:,} people, but estimated-k-map = "
            f"{self.estimated_k_map} was required. The largest it allows is {people}: lower "
            "estimated-k-map, or use the weights that gross up to the population."
        )
