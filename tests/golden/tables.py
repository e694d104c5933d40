"""Made-up tables for the golden releases.

Only `random.Random.random` draws anything: Python promises that it gives the same numbers for a seed in
every version, which it does not promise of `choice`, `sample` and the like.
"""

import datetime
import random
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

SIZES = ("tiny", "small", "medium", "large", "huge")
COUNTRIES = {
    "Austria": "centre",
    "Belgium": "west",
    "Czechia": "centre",
    "Denmark": "north",
    "Estonia": "north",
    "France": "west",
    "Greece": "south",
    "Hungary": "centre",
    "Italy": "south",
    "Latvia": "north",
    "Malta": "south",
    "Spain": "south",
}
JOBS = ("baker", "clerk", "driver", "farmer", "guard", "judge", "nurse", "pilot")
ILLNESSES = ("flu", "cold", "asthma", "ulcer", "gastritis", "gout", "cancer", "HIV")
ODD = (
    "*",
    "**",
    "[a~b]",
    "[1-5)",
    "{x, y}",
    "{x",
    'say "hi"',
    "it's",
    "a, b; c",
    "\\*",
    "\\",
    "Ærøskøbing",
    "日本",
    "🐟 shoal",
    "e\u0301 ~ é",
    " padded ",
    "null",
    "1e3",
)
"""Values that look like labels, or that files must quote."""


class Draw:
    """Random values from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, n: int) -> int:
        return int(self._random.random() * n)

    def share(self) -> float:
        return self._random.random()

    def one(self, values: Sequence[Any], lean: float = 1.0) -> Any:
        """One of the values; the first are more common the more `lean` exceeds 1."""
        return values[int(self._random.random() ** lean * len(values))]

    def bell(self, middle: float, width: float, low: int, high: int) -> int:
        total = sum(self._random.random() for _ in range(4)) - 2
        return min(high, max(low, round(middle + width * total)))

    def maybe(self, value: Any, missing: float) -> Any:
        return None if self._random.random() < missing else value


def people(rows: int, seed: int) -> pa.Table:
    """People with a column of every kind; values lean on each other and some are missing."""
    draw = Draw(seed)
    made = [_person(draw, i) for i in range(rows)]
    return pa.table({name: [one[name] for one in made] for name in made[0]})


def _person(draw: Draw, number: int) -> dict[str, Any]:
    age = draw.bell(45, 30, 0, 99)
    day = datetime.date(1920, 1, 1) + datetime.timedelta(days=(99 - age) * 365 + draw.below(365))
    illness = ILLNESSES[min(draw.one(range(8), 1.6) + age // 60, 7)]
    return {
        "name": f"person {number}",
        "age": draw.maybe(age, 0.02),
        "hours": 40 if draw.share() < 0.3 else draw.bell(36, 16, 0, 80),
        "height": draw.maybe(100 + draw.bell(140, 80, 0, 220) / 2, 0.02),
        "birth": draw.maybe(day, 0.02),
        "size": draw.one(SIZES, 1.3),
        "country": draw.one(sorted(COUNTRIES), 1.5),
        "zip": f"{100 + 37 * draw.below(24):05d}",
        "job": draw.one(JOBS) if age > 20 else "baker",
        "sex": draw.one(("f", "m")),
        "illness": draw.maybe(illness, 0.03),
        "salary": 1000 + 250 * draw.below(12) + 10 * (age // 25),
        "wish": draw.maybe(1 + draw.below(4), 0.6),
        "ward": draw.one(("east", "west", "north")),
        "paid": draw.below(1000) / 10,
    }


def odd(rows: int, seed: int) -> pa.Table:
    """Few columns, whose values look like labels or must be quoted."""
    draw = Draw(seed)
    made = [
        {
            "free": draw.maybe(draw.one(ODD, 1.5), 0.03),
            "ranked": draw.one(ODD),
            "leaf": draw.one(ODD, 1.2),
            "masked": draw.one(("*1", "12", "a*", "ß9", "日本", "~[")),
            "number": draw.below(30) - 15,
            "secret": draw.maybe(draw.one(ODD[1:]), 0.02),
            'note, with "quotes"': draw.one(ODD),
        }
        for _ in range(rows)
    ]
    return pa.table({name: [one[name] for one in made] for name in made[0]})


def coarse(rows: int, seed: int) -> pa.Table:
    """Many equal rows: few values in each column."""
    draw = Draw(seed)
    made = [
        {
            "age": 20 + 10 * draw.below(5),
            "sex": draw.one(("f", "m")),
            "country": draw.one(sorted(COUNTRIES)[:5], 1.4),
            "zip": f"{draw.one((0, 1, 5)):01d}{draw.below(3)}0",
            "illness": draw.one(ILLNESSES[:5]),
            "salary": 1000 * (1 + draw.below(6)),
        }
        for _ in range(rows)
    ]
    return pa.table({name: [one[name] for one in made] for name in made[0]})


TABLES = {"people": people, "odd": odd, "coarse": coarse}


def population(name: str, rows: int, seed: int, more: int) -> pa.Table:
    """Everybody of a table, and `more` others."""
    table = TABLES[name](rows, seed)
    return pa.concat_tables([table, TABLES[name](more, seed + 1000)])
