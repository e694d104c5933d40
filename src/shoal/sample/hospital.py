"""The sample hospital table: made-up patients, similar enough to real ones to be worth protecting."""

import datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.sample import people
from shoal.sample.people import falling, pick, pick_given, seeded, texts

REFERENCE_DAY = datetime.date(2024, 12, 31)
"""The day on which ages are counted: the last of a year, so that all birthdays of the year are past."""

AGE_WEIGHTS = people.ages({0: 8, 2: 5, 12: 3, 20: 6, 32: 9, 45: 9, 62: 10, 72: 9, 84: 5, 99: 0.3})

TOWNS = {2108: (30, 40.0), 2138: (8, 17), 2453: (5, 12), 1602: (10, 14), 3060: (4, 7), 501: (3, 4)}
"""Each town's first zip code with how many it has and its share of the patients in percent."""
VISITORS = (range(601, 99_951, 431), 6.0)
"""The zip codes of people from far away, one here and one there."""

NO_EDUCATION_STATED = 0.02
NO_HOURS_STATED = 0.03


def zip_weights() -> dict[str, float]:
    """Weight of each zip code; inside a town a few codes hold most of its people."""
    far, share = VISITORS
    weights = dict.fromkeys((f"{code:05d}" for code in far), share / len(far))
    for first, (size, percent) in TOWNS.items():
        for i, part in enumerate(falling(size) / falling(size).sum()):
            weights[f"{first + i:05d}"] = percent * part
    return weights


def birth_dates(rng: np.random.Generator, age: Ints) -> npt.NDArray[np.datetime64]:
    """(rows,) a day of the year in which people of this age were born."""
    born = REFERENCE_DAY.year - age - 1970
    first = born.astype("datetime64[Y]").astype("datetime64[D]")
    days = (born + 1).astype("datetime64[Y]").astype("datetime64[D]") - first
    day: npt.NDArray[np.datetime64] = first + (rng.random(len(age)) * days.astype(int)).astype(int)
    return day


def full_names(rng: np.random.Generator, sex: Ints) -> pa.Array:
    """(rows,) a first name by sex and a family name."""
    women = pick(rng, len(sex), falling(len(people.FEMALE), 0.5))
    men = pick(rng, len(sex), falling(len(people.MALE), 0.5)) + len(people.FEMALE)
    first = texts(people.FEMALE + people.MALE, np.where(sex == 0, women, men))
    family = texts(people.FAMILY, pick(rng, len(sex), falling(len(people.FAMILY), 0.5)))
    return pc.binary_join_element_wise(first, family, " ")


def hospital(rows: int = 10_000, seed: int = 7) -> pa.Table:
    """A table of made-up patients; the same rows and seed give the same table."""
    rng = seeded(rows, seed)
    age = pick(rng, rows, AGE_WEIGHTS)
    sex = pick(rng, rows, [53, 47])
    race = pick(rng, rows, list(people.RACES.values()))
    nationality = pick_given(rng, race, people.nationality_given_race())
    education = pick_given(rng, age, people.education_given_age())
    hours = people.work_hours(rng, age)
    ill_with = people.disease(rng, age, sex)
    zips = zip_weights()
    level, chance = people.protection_level(rng, ill_with)
    level_stated = pa.array(level, mask=rng.random(rows) >= chance)
    education_stated = texts(tuple(people.EDUCATION), education)
    return pa.table(
        {
            "name": full_names(rng, sex),
            "birth_date": pa.array(birth_dates(rng, age)),
            "age": age,
            "sex": texts(people.SEXES, sex),
            "race": texts(tuple(people.RACES), race),
            "zip": texts(tuple(zips), pick(rng, rows, list(zips.values()))),
            "education": people.with_gaps(rng, education_stated, NO_EDUCATION_STATED),
            "nationality": texts(people.NATIONALITIES, nationality),
            "work_hours": people.with_gaps(rng, pa.array(hours), NO_HOURS_STATED),
            "salary": people.salary(rng, age, education, hours),
            "disease": texts(people.DISEASES, ill_with),
            "protection_level": level_stated,
        }
    )
