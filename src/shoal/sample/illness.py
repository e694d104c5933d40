"""The eight diseases of the sample tables: whom they strike, and how much one would hide them."""

import numpy as np

from shoal.sample.draw import Codes, Floats, pick_given

LEVELS = {
    "HIV": 4,
    "Cancer": 4,
    "Phthisis": 3,
    "Hepatitis": 3,
    "Heart Disease": 2,
    "Asthma": 2,
    "Flu": 1,
    "Indigestion": 1,
}
"""How sensitive each disease is, 4 being the most."""

DISEASES = tuple(LEVELS)

OLDEST = (14, 29, 44, 59, 74, 99)
BY_AGE = (
    (0.1, 1, 0.5, 1, 0.5, 25, 48, 24),
    (2, 2, 3, 5, 1.5, 16, 42, 28.5),
    (3.5, 6, 4, 8, 6, 12, 33, 27),
    (2, 14, 4, 8, 17, 9, 24, 22),
    (0.7, 22, 4, 5, 30, 7, 17, 14),
    (0.2, 24, 5, 3, 37, 5, 16, 10),
)
"""Weights of the diseases, one line per band of ages that ends at `OLDEST`."""
FOR_MEN = (2.5, 1, 1.6, 1.4, 1.4, 0.85, 1, 0.9)
"""How much more often each strikes men."""

STATES_A_LEVEL = (0.21, 0.24, 0.3, 0.36)
"""Share of people who state a protection level, by the level of their disease."""
LEVEL_STATED = ((4.0, 3, 2, 1), (3, 4, 2, 1), (1, 2, 4, 3), (1, 1, 3, 5))
"""Weights of the level they state, one line per level of their disease: who has more to hide asks
for more, but not always."""


def disease(rng: np.random.Generator, age: Codes, sex: Codes) -> Codes:
    """(rows,) a disease each; `sex` is 1 for men."""
    by_age = np.array(BY_AGE, dtype=np.float64)
    weights = np.concatenate([by_age, by_age * FOR_MEN])
    band = np.searchsorted(np.array(OLDEST), age)
    return pick_given(rng, band + len(by_age) * sex, weights)


def protection_level(rng: np.random.Generator, ill_with: Codes) -> tuple[Codes, Floats]:
    """(rows,) the level 1..4 a person would state, and the chance that they do."""
    level = np.array(list(LEVELS.values()))[ill_with] - 1
    stated = pick_given(rng, level, np.array(LEVEL_STATED)) + 1
    return stated, np.array(STATES_A_LEVEL)[level]
