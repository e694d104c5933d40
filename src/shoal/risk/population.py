"""How many people of a population are unique, estimated from a sample of it.

Dankar's rule chooses one of three estimators: Pitman's up to a sampling fraction of 0.1, above it the
smaller of Zayatz's and the slide negative binomial; Zayatz's where the chosen one has no answer.

Source: Dankar, El Emam, Neisa and Roffey, "Estimating the re-identification risk of clinical data
sets", BMC Medical Informatics and Decision Making 12:66, 2012. Each estimator names its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import exp, lgamma, log, log1p
from typing import Literal

import numpy as np

from shoal.arrays import Ints
from shoal.errors import InputError

Estimator = Literal["pitman", "zayatz", "slide-negative-binomial", "counted"]

SMALL_FRACTION = 0.1
"""The sampling fraction up to which Dankar's rule uses Pitman's estimator."""
PITMAN_STEPS = 200
BINOMIAL_STEPS = 100
BINOMIAL_GRID = 600
LARGEST_A = 1e6
"""The upper end of the search for the parameter a of the negative binomial."""
SUM_HEAD = 2_000
"""Terms of a long sum that are added one by one; the rest by Euler and Maclaurin."""


@dataclass(frozen=True)
class PopulationUniques:
    """People who are unique in the population on the known columns, by estimator."""

    fraction: float
    """The share of the population that is in the table."""
    population: int
    """People in the population, as the fraction gives them."""
    pitman: float | None
    """By Pitman's formula; None where it cannot be fitted to the table."""
    zayatz: float | None
    """By Zayatz's."""
    slide_negative_binomial: float | None
    """By the slide negative binomial; None where it cannot be fitted to the table."""
    dankar: float | None
    """By Dankar's rule, which chooses one of them."""
    chosen: Estimator | None
    """Which one; `counted` where the table is the whole population."""
    share: float | None
    """The estimate of the rule, as a share of the population."""


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
    if fraction <= SMALL_FRACTION and by_pitman is not None:
        chosen, best = "pitman", by_pitman
    elif fraction > SMALL_FRACTION and by_binomial is not None and by_binomial <= by_zayatz:
        chosen, best = "slide-negative-binomial", by_binomial
    return PopulationUniques(
        fraction, people, by_pitman, by_zayatz, by_binomial, best, chosen, best / people
    )


def pitman(sizes: Ints, population: int) -> float | None:
    """The expected number of unique people in a population, by Pitman's sampling formula.

    The class sizes of an infinite population follow Pitman's formula with two parameters, alpha in
    [0, 1) and theta above -alpha, fitted to the sample by maximum likelihood:

        sum 1 / (theta + i alpha), i = 1 .. u-1  =  sum 1 / (theta + i), i = 1 .. n-1
        sum i / (theta + i alpha), i = 1 .. u-1  =  sum over classes of sum 1 / (i - alpha), i = 1 .. f-1

    with n rows in u classes, f being the rows of a class. Of N people so drawn,
    N G(theta + alpha + N - 1) G(theta + 1) / (G(theta + alpha) G(theta + N)) are expected to be
    unique, G being the gamma function. Both equations are solved by bisection: for each alpha the
    first one gives theta. Where the best alpha would lie below 0 it is 0. None where nothing can be
    fitted: every row is unique, or all are in one class.

    Source: Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment",
    Journal of Official Statistics 17, 2001.
    """
    n, u = int(sizes.sum()), len(sizes)
    if u < 2 or u == n:
        return None
    alpha, theta = fit(sizes)
    grown = lgamma(theta + alpha + population - 1) - lgamma(theta + population)
    return population * exp(grown + lgamma(theta + 1) - lgamma(theta + alpha))


def fit(sizes: Ints) -> tuple[float, float]:
    """alpha and theta of maximum likelihood, for a sample of 2 .. n - 1 classes."""
    n, u = int(sizes.sum()), len(sizes)
    numbers, times = np.unique(sizes, return_counts=True)
    terms = np.arange(1, int(numbers[-1]), dtype=np.float64)
    ranks = np.arange(1, u, dtype=np.float64)

    def slope(alpha: float) -> float:
        theta = _theta(alpha, n, u)
        inner = np.concatenate([[0.0], np.cumsum(1 / (terms - alpha))])
        return float((ranks / (theta + ranks * alpha)).sum() - (times * inner[numbers - 1]).sum())

    low, high = 0.0, 1.0
    if slope(0.0) <= 0:
        return 0.0, _theta(0.0, n, u)
    for _ in range(PITMAN_STEPS):
        alpha = (low + high) / 2
        if alpha in (low, high):
            break
        low, high = (alpha, high) if slope(alpha) > 0 else (low, alpha)
    return low, _theta(low, n, u)


def _theta(alpha: float, n: int, u: int) -> float:
    """The theta that solves the first equation for an alpha; its excess falls from infinity to < 0."""

    def excess(theta: float) -> float:
        return _harmonic(theta, alpha, u - 1) - _harmonic(theta, 1.0, n - 1)

    # relative to -alpha, where the first sum is infinite
    low, high = 0.0, 1.0
    while excess(high - alpha) > 0 and high < 1e15:
        low, high = high, high * 2
    for _ in range(PITMAN_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if excess(middle - alpha) > 0 else (low, middle)
    return high - alpha


def _harmonic(theta: float, alpha: float, count: int) -> float:
    """The sum of 1 / (theta + i alpha) for i = 1 .. count."""
    head = min(count, SUM_HEAD)
    total = float((1 / (theta + np.arange(1, head + 1) * alpha)).sum())
    if count == head:
        return total
    first, last = theta + head * alpha, theta + count * alpha
    area = (count - head) / theta if alpha == 0 else log1p((count - head) * alpha / first) / alpha
    ends = (1 / last - 1 / first) / 2
    return total + area + ends + alpha * (1 / first**2 - 1 / last**2) / 12


def zayatz(sizes: Ints, population: int) -> float:
    """The expected number of unique people in a population, by the sample's class sizes.

    The shares of classes with one, two, three .. rows in the sample are taken for those of the
    population. A class of j people has one row in a sample of n from N with the hypergeometric
    probability h(j) = j C(N - j, n - 1) / C(N, n). By Bayes' rule a sample unique is unique in the
    population with probability p = s(1) h(1) / sum s(j) h(j), s(j) being the sample's classes of j
    rows, and s(1) p N / n people are expected to be unique.

    Source: Zayatz, "Estimation of the percent of unique population elements on a microdata file
    using the sample", US Bureau of the Census, Statistical Research Division report 91/08, 1991.
    """
    n = int(sizes.sum())
    numbers, times = np.unique(sizes, return_counts=True)
    counted = dict(zip(numbers.tolist(), times.tolist(), strict=True))
    uniques = counted.get(1, 0)
    if not uniques:
        return 0.0
    weights = {j: s * exp(_log_chance_of_one(j, n, population)) for j, s in counted.items()}
    return uniques * weights[1] / sum(weights.values()) * population / n


def _log_chance_of_one(j: int, n: int, population: int) -> float:
    """The logarithm of the chance that a class of j has one row in the sample, relative to a class
    of one."""
    if population - j < n - 1:
        return float("-inf")
    return log(j) + _log_choose(population - j, n - 1) - _log_choose(population - 1, n - 1)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def slide_negative_binomial(sizes: Ints, population: int) -> float | None:
    """The expected number of unique people in a population, by a slide negative binomial.

    The people of a population class, less one, follow a negative binomial distribution with
    parameters a > 0 and 0 < b < 1, so a class holds one person with probability b^a. Each person
    comes into the sample with probability p. With q = 1 - p, d = (1 - b) q and K classes in the
    population, the sample's classes of one and of two rows are expected to number

        s(1) = K p (b / (1 - d))^a (1 + a d / (1 - d))
        s(2) = K p^2 / 2 a (1 - b) b^a (2 - (1 - a) d) / (1 - d)^(a + 2)

    K is estimated by the second modified estimator of Shlosser, a and b by solving both equations:
    for each b on a fine grid the first gives a, and where the second changes its sign b is bisected.
    Of several solutions the one whose population K (1 + a (1 - b) / b) is nearest to the real one
    is taken. K b^a people are expected to be unique. None where the equations have no solution.

    Source: Chen and Keller-McNulty, "Estimation of identification disclosure risk in microdata",
    Journal of Official Statistics 14, 1998; for K: Haas and Stokes, "Estimating the number of
    classes in a finite population", Journal of the American Statistical Association 93, 1998.
    """
    n = int(sizes.sum())
    one, two = int((sizes == 1).sum()), int((sizes == 2).sum())
    p = n / population
    if not one:
        return 0.0
    if not two or p >= 1:
        return None
    k = shlosser(sizes, p)
    found = [(abs(k * (1 + a * (1 - b) / b) - population), a, b) for a, b in _solve(k, p, one, two)]
    if not found:
        return None
    _, a, b = min(found)
    return float(k * b**a)


def shlosser(sizes: Ints, p: float) -> float:
    """The number of classes in the population."""
    f, s = (x.astype(np.float64) for x in np.unique(sizes, return_counts=True))
    q = 1 - p
    seen = (f * p**2 * (1 - p**2) ** (f - 1) * s).sum()
    unseen = (q**f * ((1 + p) ** f - 1) * s).sum()
    ratio = (q**f * s).sum() / (p * f * q ** (f - 1) * s).sum()
    return float(len(sizes) + (sizes == 1).sum() * seen / unseen * ratio**2)


def _solve(k: float, p: float, one: int, two: int) -> Iterator[tuple[float, float]]:
    """The pairs a, b that give the sample's classes of one and of two rows."""
    grid = 1 / (1 + np.exp(-np.linspace(-16, 16, BINOMIAL_GRID)))
    for rising in (False, True):
        gaps = [(b, _gap(b, k, p, one, two, rising)) for b in grid.tolist()]
        known = [(b, gap) for b, gap in gaps if gap is not None]
        for (low, before), (high, after) in pairwise(known):
            if (before > 0) == (after > 0):
                continue
            for _ in range(BINOMIAL_STEPS):
                middle = (low + high) / 2
                gap = _gap(middle, k, p, one, two, rising)
                if gap is None:
                    break
                low, high = (middle, high) if (gap > 0) == (before > 0) else (low, middle)
            a = _a(low, k, p, one, rising)
            if a is not None and a > 0:
                yield a, low


def _gap(b: float, k: float, p: float, one: int, two: int, rising: bool) -> float | None:
    """The error of the second equation, with the a of the first one."""
    a = _a(b, k, p, one, rising)
    if a is None or a <= 0:
        return None
    d = (1 - b) * (1 - p)
    powers = exp(a * log(b) - (a + 2) * log(1 - d))
    return k * p**2 / 2 * a * (1 - b) * powers * (2 - (1 - a) * d) - two


def _a(b: float, k: float, p: float, one: int, rising: bool) -> float | None:
    """The a that solves the first equation, whose value rises to a peak, if it does, then falls."""
    d = (1 - b) * (1 - p)
    slope, more, wanted = log(b / (1 - d)), d / (1 - d), one / (k * p)
    peak = max(0.0, -1 / slope - 1 / more)

    def value(a: float) -> float:
        return exp(a * slope) * (1 + a * more)

    low, high = (0.0, peak) if rising else (peak, LARGEST_A)
    if (value(low) >= wanted) == (value(high) >= wanted):
        return None
    up = value(high) > value(low)
    for _ in range(BINOMIAL_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if (value(middle) < wanted) == up else (low, middle)
    return (low + high) / 2
