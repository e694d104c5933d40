"""What sampling weights say about a release: the risk in the population, before and after."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from shoal.evidence.estimated_risk import EstimatedRisk, at_least, two_digits

NORMALISED = 1.05
"""Weights that add up to less than so many times the rows are likely to be relative ones."""


@dataclass(frozen=True)
class Weighted:
    """The population behind a release, estimated from its weights."""

    column: str
    """The column of sampling weights."""
    before: EstimatedRisk
    """By the quasi-identifiers of the input."""
    after: EstimatedRisk | None
    """By the published classes; None where quasi-identifiers are published as they are (Anatomy)."""
    below_one: int
    """Rows of the input with a weight below 1."""
    rows: int
    """Rows of the input."""

    def without_weights(self, few: bool) -> "Weighted":
        """The same so that no weight follows from it, where weights are not published.

        few: whether the populations before and after differ by those of a few suppressed rows.
        """
        after = None if self.after is None else self.after.without_weights()
        if after is not None and few:
            after = replace(after, population=at_least(after.population))
        return replace(self, before=self.before.without_weights(), after=after)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)

    def warnings(self) -> Iterator[str]:
        """Weights that are not what they should be."""
        population, sample = self.before.population, self.before.sample
        if population < NORMALISED * sample:
            yield (
                f"The weights of {self.column} add up to about {two_digits(population):,.0f} people, "
                f"as many as the sample has ({sample:,}): they look like relative weights with a mean "
                "of 1. "
                "The population and its risks are then not estimated but those of the sample; use the "
                "weights that gross up to the population."
            )
        elif self.below_one:
            yield (
                f"{self.below_one:,} of {self.rows:,} rows have a weight of {self.column} below 1: a "
                "row stands for at least one person, itself. Such rows make the estimated population "
                "smaller and the risk higher; check the weights."
            )
