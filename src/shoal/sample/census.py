"""A census-like table of any size, for benchmarks: eight quasi-identifiers and four other columns.

Skewed as a census is: most people share their values with many others, and many are still unique.
"""

import numpy as np
import pyarrow as pa

from shoal.arrays import Floats
from shoal.sample import people
from shoal.sample.people import falling, pick, pick_given, seeded, texts

AGE_WEIGHTS = people.ages({15: 0, 16: 8, 30: 10, 45: 9, 60: 9, 75: 5, 90: 1, 99: 0.1})
MARITAL = ("never married", "married", "divorced", "widowed", "separated")
WORKCLASS = {
    "private": (70.0, 45.0),
    "self-employed": (12.0, 8.0),
    "local government": (8.0, 5.0),
    "state government": (6.0, 3.0),
    "federal government": (4.0, 2.0),
    "without pay": (0.0, 17.0),
    "never worked": (0.0, 20.0),
}
"""The class of one's job, the present or the last one: weights with and without paid hours."""
N_ZIPS = 1_500


def marital_given_age() -> Floats:
    """(100, statuses) weights: single first, then married, then separated by choice or by death."""
    at: dict[str, dict[int, float]] = {
        "never married": {15: 100, 22: 92, 35: 30, 60: 9, 99: 5},
        "married": {15: 0, 22: 7, 35: 58, 60: 64, 80: 45, 99: 10},
        "divorced": {15: 0, 22: 0.5, 35: 9, 60: 18, 99: 6},
        "widowed": {15: 0, 35: 0.5, 60: 7, 80: 35, 99: 80},
        "separated": {15: 0, 22: 0.5, 35: 3, 60: 3, 99: 1},
    }
    return np.stack([people.ages(at[status]) for status in MARITAL], axis=1)


def census(rows: int, seed: int = 7) -> pa.Table:
    """A table of made-up people aged 16 to 99; the same rows and seed give the same table."""
    rng = seeded(rows, seed)
    age = pick(rng, rows, AGE_WEIGHTS)
    sex = pick(rng, rows, [51, 49])
    race = pick(rng, rows, list(people.RACES.values()))
    education = pick_given(rng, age, people.education_given_age())
    nationality = pick_given(rng, race, people.nationality_given_race())
    hours = people.work_hours(rng, age)
    by_work = np.array(list(WORKCLASS.values())).T
    workclass = pick_given(rng, (hours == 0).astype(np.int64), by_work)
    # a step of 66 spreads the codes over all leading digits, zeros among them
    zips = tuple(f"{501 + 66 * i:05d}" for i in range(N_ZIPS))
    return pa.table(
        {
            "age": age,
            "sex": texts(people.SEXES, sex),
            "race": texts(tuple(people.RACES), race),
            "marital_status": texts(MARITAL, pick_given(rng, age, marital_given_age())),
            "education": texts(tuple(people.EDUCATION), education),
            "workclass": texts(tuple(WORKCLASS), workclass),
            "nationality": texts(people.NATIONALITIES, nationality),
            "zip": texts(zips, pick(rng, rows, falling(N_ZIPS, 0.9))),
            "hours": hours,
            "salary": people.salary(rng, age, education, hours),
            "disease": texts(people.DISEASES, people.disease(rng, age, sex)),
            "weight": np.round(np.exp(6.5 + 0.7 * rng.standard_normal(rows)), 2),
        }
    )
