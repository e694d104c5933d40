"""How many people of a population are unique, guessed from a sample of it.

Dankar's rule chooses between three estimators: Pitman's up to a sampling fraction of 0.1, above it the
smaller one of Zayatz's and the slid negative binomial. Where the one to be used has no answer,
Zayatz's is used.

Source: Dankar, El Emam, Neisa and Roffey, "Estimating the re-identification risk of clinical data
sets", BMC Medical Informatics and Decision Making 12:66, 2012.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.errors import InputError
from shoal.risk.pitman import pitman
from shoal.risk.slide_negative_binomial import slide_negative_binomial
from shoal.risk.zayatz import zayatz

Ints = npt.NDArray[np.int64]
Estimator = Literal["pitman", "zayatz", "slide-negative-binomial", "counted"]
SMALL = 0.1
"""The sampling fraction up to which the rule uses Pitman's estimator."""


@dataclass(frozen=True)
class PopulationUniques:
    """People who are alone in the population with what is known of them, by estimator."""

    fraction: float
    """The share of the population that is in the table."""
    population: int
    """People in the population, so far as the fraction tells."""
    pitman: float | None
    """By Pitman's formula; None where it cannot be fitted to the table."""
    zayatz: float | None
    """By Zayatz's."""
    slide_negative_binomial: float | None
    """By the slid negative binomial; None where it cannot be fitted to the table."""
    dankar: float | None
    """By Dankar's rule, which chooses one of them."""
    chosen: Estimator | None
    """Which one; `counted` where the table is the whole population."""
    share: float | None
    """What the rule gives, of the population."""


def population_uniques(sizes: Ints, fraction: float) -> PopulationUniques:
    """Estimate from the class sizes of a table that holds this fraction of a population."""
    if not 0 < fraction <= 1:
        raise InputError(
            f"fraction: found {fraction:g}; must be above 0 and at most 1, the share of the "
            "population that is in the table (10 % is 0.1)."
        )
    n = int(sizes.sum())
    people = round(n / fraction)
    if not n:
        return PopulationUniques(fraction, people, *[None] * 6)
    if people <= n:
        counted = float((sizes == 1).sum())
        return PopulationUniques(
            fraction, people, counted, counted, counted, counted, "counted", counted / n
        )
    by_pitman, by_zayatz = pitman(sizes, people), zayatz(sizes, people)
    by_binomial = slide_negative_binomial(sizes, people)
    chosen: Estimator = "zayatz"
    best = by_zayatz
    if fraction <= SMALL and by_pitman is not None:
        chosen, best = "pitman", by_pitman
    elif fraction > SMALL and by_binomial is not None and by_binomial <= by_zayatz:
        chosen, best = "slide-negative-binomial", by_binomial
    return PopulationUniques(
        fraction, people, by_pitman, by_zayatz, by_binomial, best, chosen, best / people
    )
