"""Risks from sampling weights in plain Python: exact fractions, and the risk by its definition."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import log


def posterior_risk(f: int, population: float) -> float:
    """The expected value of 1 / people, people having a negative binomial distribution: term by term."""
    p = min(1.0, f / population)
    total, left, people, chance = 0.0, 1.0, f, p**f
    while left > 1e-15 and people < 400_000:
        total += chance / people
        left -= chance
        people += 1
        chance *= (people - 1) / (people - f) * (1 - p)  # binomials of people grow with them
    return total


def textbook_risk(f: int, population: Fraction) -> float:
    """The formulas as sdcMicro documents them: exact for one and two, an approximation above."""
    p = float(min(Fraction(1), f / population))
    if p == 1:
        return 1 / f
    ratio = p / (1 - p)
    if f == 1:
        return ratio * log(1 / p)
    if f == 2:
        return ratio - ratio**2 * log(1 / p)
    return p / (f - (1 - p))


def classes(
    rows: Sequence[Hashable], weights: Sequence[str], people: Sequence[Hashable] | None = None
) -> dict[Hashable, tuple[int, Fraction]]:
    """Per class its people (each row is one where these are not given), and the sum of their weights."""
    who = range(len(rows)) if people is None else people
    members: dict[Hashable, dict[Hashable, Fraction]] = defaultdict(dict)
    for row, person, weight in zip(rows, who, weights, strict=True):
        members[row][person] = Fraction(weight)
    return {row: (len(one), sum(one.values(), Fraction(0))) for row, one in members.items()}


def risks(
    rows: Sequence[Hashable], weights: Sequence[str], people: Sequence[Hashable] | None = None
) -> dict[Hashable, float]:
    """The risk of each person, in the class where it is highest."""
    found: dict[Hashable, float] = {}
    each = classes(rows, weights, people)
    for row, person in zip(rows, range(len(rows)) if people is None else people, strict=True):
        found[person] = max(found.get(person, 0.0), textbook_risk(*each[row]))
    return found
