"""How the made-up people of both sample tables are spread: ages, origin, schooling, work, pay.

The figures are our own. They are shaped like those of a rich country with immigration (a few values
common, a long tail rare), because skew is what makes people stand out; they describe no real place.
"""

import numpy as np

from shoal.sample.draw import Codes, Floats, falling, pick_given

SEXES = ("female", "male")

RACES = {
    "White": 62.0,
    "Black": 13.0,
    "East Asian": 6.0,
    "Mixed": 6.0,
    "South Asian": 5.0,
    "Southeast Asian": 3.0,
    "Other": 2.5,
    "Native American": 1.5,
    "Pacific Islander": 1.0,
}

HOME = "United States"
ABROAD = {
    "White": "Canada, United Kingdom, Germany, Poland, Ukraine, Italy, Russia, Ireland, France, "
    "Greece, Portugal, Sweden, Türkiye, Iran, Brazil, Argentina",
    "Black": "Haiti, Jamaica, Nigeria, Ethiopia, Ghana, Kenya, Côte d'Ivoire, Somalia",
    "East Asian": "China, South Korea, Japan, Taiwan",
    "South Asian": "India, Pakistan, Bangladesh, Nepal, Sri Lanka",
    "Southeast Asian": "Philippines, Viet Nam, Thailand, Cambodia",
    "Pacific Islander": "Samoa, Tonga",
    "Mixed": "Mexico, Dominican Republic, Cuba, Colombia, El Salvador, Peru",
}
NATIONALITIES = (HOME, *(name for names in ABROAD.values() for name in names.split(", ")))
FOREIGN = {"White": 0.05, "Black": 0.09, "Native American": 0.01, "Mixed": 0.3, "Other": 0.35}
"""Share of foreigners; where not named, half."""

EDUCATION = {
    "no schooling": (0, 1.0),
    "primary school": (11, 4.0),
    "lower secondary": (15, 9.0),
    "upper secondary": (18, 30.0),
    "vocational training": (19, 12.0),
    "some college": (19, 14.0),
    "bachelor": (21, 19.0),
    "master": (23, 9.0),
    "doctorate": (27, 2.0),
}
"""Each level with the earliest age at which one has it, and its weight among adults."""

YEARLY_PAY = (19e3, 21e3, 24e3, 31e3, 36e3, 37e3, 52e3, 66e3, 84e3)
"""What each level of education earns with 40 hours a week in mid-life, before chance."""

WORKING_AGE = 16


def ages(weights: dict[int, float]) -> Floats:
    """(100,) the weight of each age 0..99, drawn as lines between the ages given."""
    return np.interp(np.arange(100), list(weights), list(weights.values()))


def nationality_given_race() -> Floats:
    """(races, nationalities) weights: each race has its own lands, and a few of every other."""
    weights = np.empty((len(RACES), len(NATIONALITIES)))
    for i, race in enumerate(RACES):
        lands = ABROAD.get(race, "").split(", ")
        near = [falling(len(lands))[lands.index(n)] if n in lands else 0.01 for n in NATIONALITIES]
        share = FOREIGN.get(race, 0.5)
        weights[i] = share * np.array(near) / sum(near[1:])
        weights[i, 0] = 1 - share
    return weights


def education_given_age() -> Floats:
    """(100, levels) weights: nothing before its time, and less schooling in the older years."""
    earliest, weight = (np.array(column) for column in zip(*EDUCATION.values(), strict=True))
    age, level = np.arange(100)[:, None], np.arange(len(EDUCATION))
    weights: Floats = weight * (age >= earliest) * np.exp(-np.maximum(age - 45, 0) * level / 150)
    return weights


def work_hours(rng: np.random.Generator, age: Codes) -> Codes:
    """(rows,) hours of paid work a week: none, part-time, the usual 40, or long."""
    share_working = ages({15: 0, 16: 0.25, 24: 0.75, 30: 0.82, 55: 0.78, 66: 0.2, 80: 0.02})[age]
    share_working[age < WORKING_AGE] = 0
    part = 6 + np.minimum(28, (rng.random(len(age)) * 30).astype(np.int64))
    long = 41 + (35 * rng.random(len(age)) ** 3).astype(np.int64)
    usual = np.full(len(age), 40)
    young_or_old = ((age < 23) | (age > 62)).astype(np.int64)
    kind = pick_given(rng, young_or_old, np.array([[0.22, 0.5, 0.28], [0.65, 0.27, 0.08]]))
    hours = np.choose(kind, [part, usual, long])
    return np.where(rng.random(len(age)) < share_working, hours, 0)


def salary(rng: np.random.Generator, age: Codes, education: Codes, hours: Codes) -> Codes:
    """(rows,) pay a year in whole hundreds, 0 without work: a long tail to the right."""
    in_mid_life = ages({16: 0.6, 25: 0.8, 45: 1.1, 60: 1.1, 70: 0.9})[age]
    usual = np.array(YEARLY_PAY)[education] * in_mid_life * hours / 40
    hundreds = np.rint(usual * np.exp(0.4 * rng.standard_normal(len(age))) / 100)
    return np.where(hours > 0, np.maximum(hundreds, 1), 0).astype(np.int64) * 100
