"""The risk that people of a sample are re-identified in the population, estimated from sampling weights.

The people of a class stand for the sum of their weights, F. Given f people of the sample, the people of
the population have a negative binomial distribution with the parameters f and p = f / F, and the
individual risk is the expected value of 1 / people:

    r = p times the integral of u^(f-1) / (p + q u) from 0 to 1, with q = 1 - p

which is (p / q) ln(1 / p) for f = 1 and p / q - (p / q)^2 ln(1 / p) for f = 2. From f = 3 on it is taken
to be p / (f - q), which is never below it. The sum of all risks is the number of re-identifications to
expect of somebody who tries everybody.

Source: Benedetti and Franconi, "Statistical and technological solutions for controlled data
dissemination", New Techniques and Technologies for Statistics, 1998; Franconi and Polettini, "Individual
risk estimation in mu-Argus: a review", Privacy in Statistical Databases, 2004. As in sdcMicro, but that
a class with no more people in the population than in the sample has the risk 1 / f.
"""

from dataclasses import dataclass, replace
from math import floor, fsum, log10

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints
from shoal.encoding.weights import SCALE

THRESHOLD = 0.2
"""People with a risk above it are counted unless another limit is given: the usual one."""
NEARLY_ALL = 0.05
"""Below this q the closed form for two people loses digits, and its series is summed."""
TERMS = 14
"""Terms of that series; the rest is below the last digit of a float."""


@dataclass(frozen=True)
class EstimatedRisk:
    """What somebody who compares a table with the whole population can expect to find, estimated."""

    sample: int
    """Rows, or people where these are counted."""
    population: float
    """People that they stand for: the sum of the weights."""
    classes: int
    """Distinct combinations of the quasi-identifiers."""
    smallest_class: float
    """The fewest people of the population that a class stands for."""
    highest: float
    """The largest individual risk."""
    expected: float
    """Re-identifications to expect of somebody who tries everybody: the sum of individual risks."""
    share: float
    """The same, of the sample: the global risk."""
    above: float
    """Share of the sample with a risk above `threshold`."""
    threshold: float
    households: float | None = None
    """Where households are given: people to expect in households of which somebody is re-identified."""
    rounded: bool = False
    """Whether weights are withheld: sums then have two digits, `smallest_class` is a bound from below
    and `highest` one from above."""

    def without_weights(self) -> "EstimatedRisk":
        """The same so that no weight follows from it: in a class of one row, the fewest people of a
        class are the weight of this row, and the highest risk gives it away too."""
        return replace(
            self,
            population=two_digits(self.population),
            smallest_class=at_least(self.smallest_class),
            highest=at_most_one(self.highest),
            expected=two_digits(self.expected),
            share=two_digits(self.share),
            households=None if self.households is None else two_digits(self.households),
            rounded=True,
        )


def at_least(figure: float) -> float:
    """The largest of 1, 2, 5, 10, 20, 50, … and of 0.5, 0.2, 0.1, … that is not above a figure."""
    if figure <= 0:
        return 0.0
    power = floor(log10(figure)) + 1
    while (found := next((n for n in _steps(power) if n <= figure), None)) is None:
        power -= 1
    return found


def at_most_one(share: float) -> float:
    """The smallest of 1, 0.5, 0.2, 0.1, 0.05, … that is not below a share."""
    if share <= 0:
        return 0.0
    power = floor(log10(share)) - 1
    while (found := next((n for n in _steps(power)[::-1] if n >= share), None)) is None:
        power += 1
    return min(found, 1.0)


def _steps(power: int) -> tuple[float, float, float]:
    """5, 2 and 1 times a power of 10, each the nearest float."""
    return float(f"5e{power}"), float(f"2e{power}"), float(f"1e{power}")


def two_digits(figure: float) -> float:
    """A figure rounded to two significant digits."""
    return float(f"{figure:.1e}")


def individual_risks(sizes: npt.NDArray[np.integer], population: Floats) -> Floats:
    """(g,) the risk of everybody in classes of so many people of the sample and of the population."""
    f = sizes.astype(np.float64)
    p = np.minimum(1.0, f / population)
    q = 1 - p
    risk = p / (f - q)
    some = (sizes <= 2) & (q > 0)
    ratio = p[some] / np.where(q[some] > 0, q[some], 1)
    log = -np.log(p[some])
    two = np.where(q[some] < NEARLY_ALL, _series(p[some], q[some]), ratio - ratio**2 * log)
    # log1p keeps the digits that a p near 1 has
    one = ratio * np.where(q[some] < NEARLY_ALL, -np.log1p(-q[some]), log)
    risk[some] = np.where(sizes[some] == 1, one, two)
    risk[q == 0] = 1 / f[q == 0]
    return risk


def _series(p: Floats, q: Floats) -> Floats:
    """(g,) the risk of two people: p times the sum of q^j / ((j + 1) (j + 2))."""
    total = np.zeros(len(p))
    for j in range(TERMS, -1, -1):
        total = total * q + 1 / ((j + 1) * (j + 2))
    return p * total


def risk_of_classes(
    sizes: Ints, weights: Ints, times: Ints | None = None, threshold: float = THRESHOLD
) -> EstimatedRisk:
    """The risks of rows.

    Parameters
    ----------
    sizes : (g,)
        Rows of each class.
    weights : (g,)
        The sum of their weights, in millionths.
    times : (g,), optional
        How many such classes there are; 1 if not given.
    threshold : float
        Rows with a risk above it are counted.
    """
    times = np.ones(len(sizes), np.int64) if times is None else times
    risks = individual_risks(sizes, weights / SCALE)
    return _summary(
        risks, sizes * times, weights, int(times.sum()), total(weights, times), threshold
    )


def risk_of_rows(
    group: npt.NDArray[np.integer],
    weights: Ints,
    people: npt.NDArray[np.integer] | None = None,
    threshold: float = THRESHOLD,
    household: npt.NDArray[np.integer] | None = None,
) -> EstimatedRisk:
    """The risks of rows, or of people, each in the class where her risk is highest.

    Parameters
    ----------
    group : (n,)
        The class of each row, 0, 1, 2, …
    weights : (n,)
        Its weight in millionths, the same in all rows of a person.
    people : (n,), optional
        Its person, 0, 1, 2, …; without it every row is a person.
    threshold : float
        Rows or people with a risk above it are counted.
    household : (n,), optional
        Its household, 0, 1, 2, …
    """
    person = np.arange(len(group)) if people is None else people
    sizes, population = classes_of_rows(group, weights, people)
    kept = sizes > 0
    risks = np.zeros(len(sizes))
    risks[kept] = individual_risks(sizes[kept], population[kept] / SCALE)
    seen, number = np.unique(person, return_inverse=True)
    each = np.zeros(len(seen))
    np.maximum.at(each, number.reshape(-1), risks[group])
    own = np.zeros(len(seen), np.int64)
    own[number.reshape(-1)] = weights
    found = _summary(
        each,
        np.ones(len(each), np.int64),
        population[kept],
        int(kept.sum()),
        total(own, np.ones(len(own), np.int64)),
        threshold,
    )
    if household is None:
        return found
    home = np.zeros(len(seen), np.int64)
    home[number.reshape(-1)] = household
    return EstimatedRisk(**{**vars(found), "households": households(each, home)})


def classes_of_rows(
    group: npt.NDArray[np.integer], weights: Ints, people: npt.NDArray[np.integer] | None = None
) -> tuple[Ints, Ints]:
    """(g,) the rows or people of each class, and (g,) the sum of their weights in millionths."""
    if people is not None and len(group):
        wide = int(people.max()) + 1
        _, first = np.unique(group.astype(np.int64) * wide + people, return_index=True)
        group, weights = group[first], weights[first]
    sizes = np.bincount(group).astype(np.int64)
    population = np.zeros(len(sizes), np.int64)
    np.add.at(population, group, weights)
    return sizes, population


def households(risks: Floats, household: Ints) -> float:
    """People in households of which somebody is re-identified, to expect: for each person the chance
    that not all of her household stay unknown."""
    with np.errstate(divide="ignore"):
        unknown = np.log1p(-np.minimum(risks, 1.0))
    together = np.bincount(household, unknown, int(household.max(initial=-1)) + 1)
    return fsum(-np.expm1(together[household]))


def total(weights: Ints, times: Ints) -> float:
    """The people that so many weights stand for."""
    return sum(w * n for w, n in zip(weights.tolist(), times.tolist(), strict=True)) / SCALE


def _summary(
    risks: Floats,
    amounts: Ints,
    weights: Ints,
    classes: int,
    population: float,
    threshold: float,
) -> EstimatedRisk:
    """risks: of so many rows or people each. weights: of the classes."""
    sample = int(amounts.sum())
    different, place = np.unique(risks, return_inverse=True)
    rows = np.zeros(len(different), np.int64)
    np.add.at(rows, place.reshape(-1), amounts)
    # the same sum in any order of classes
    expected = fsum((different * rows).tolist())
    return EstimatedRisk(
        sample=sample,
        population=population,
        classes=classes,
        smallest_class=int(weights.min(initial=0 if not len(weights) else np.iinfo(np.int64).max))
        / SCALE,
        highest=float(different.max(initial=0.0)),
        expected=expected,
        share=expected / sample if sample else 0.0,
        above=int(rows[different > threshold].sum()) / sample if sample else 0.0,
        threshold=threshold,
    )
