"""Population uniques by a slid negative binomial distribution.

The people of a population class, less one, follow a negative binomial distribution with parameters
a > 0 and 0 < b < 1, so a class holds one person with probability b^a. Each person comes into the
sample with probability p. With q = 1 - p, d = (1 - b) q and K classes in the population, the sample's
classes of one and of two rows are expected to number

    s(1) = K p (b / (1 - d))^a (1 + a d / (1 - d))
    s(2) = K p^2 / 2 a (1 - b) b^a (2 - (1 - a) d) / (1 - d)^(a + 2)

K is estimated by the second modified estimator of Shlosser, a and b by solving the two equations:
for each b on a fine grid the first gives a, and where the second changes its sign it is halved. Of
several solutions the one whose population K (1 + a (1 - b) / b) is nearest to the real one is taken.
K b^a people are expected to be unique.

Source: Chen and Keller-McNulty, "Estimation of identification disclosure risk in microdata", Journal
of Official Statistics 14, 1998; for K: Haas and Stokes, "Estimating the number of classes in a finite
population", Journal of the American Statistical Association 93, 1998.
"""

from collections.abc import Iterator
from itertools import pairwise
from math import exp, log

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
GRID = 600
STEPS = 100
LARGEST = 1e6
"""No larger a is looked for."""


def slide_negative_binomial(sizes: Ints, population: int) -> float | None:
    """The expected number of people who are unique in a population of so many; None where the
    equations have no solution."""
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
    """How many classes the population has."""
    f, s = (x.astype(np.float64) for x in np.unique(sizes, return_counts=True))
    q = 1 - p
    seen = (f * p**2 * (1 - p**2) ** (f - 1) * s).sum()
    unseen = (q**f * ((1 + p) ** f - 1) * s).sum()
    ratio = (q**f * s).sum() / (p * f * q ** (f - 1) * s).sum()
    return float(len(sizes) + (sizes == 1).sum() * seen / unseen * ratio**2)


def _solve(k: float, p: float, one: int, two: int) -> Iterator[tuple[float, float]]:
    """The pairs a, b that give the sample's classes of one and of two rows."""
    grid = 1 / (1 + np.exp(-np.linspace(-16, 16, GRID)))
    for rising in (False, True):
        gaps = [(b, _gap(b, k, p, one, two, rising)) for b in grid.tolist()]
        known = [(b, gap) for b, gap in gaps if gap is not None]
        for (low, before), (high, after) in pairwise(known):
            if (before > 0) == (after > 0):
                continue
            for _ in range(STEPS):
                middle = (low + high) / 2
                gap = _gap(middle, k, p, one, two, rising)
                if gap is None:
                    break
                low, high = (middle, high) if (gap > 0) == (before > 0) else (low, middle)
            a = _a(low, k, p, one, rising)
            if a is not None and a > 0:
                yield a, low


def _gap(b: float, k: float, p: float, one: int, two: int, rising: bool) -> float | None:
    """How far the second equation is from holding, with the a of the first one."""
    a = _a(b, k, p, one, rising)
    if a is None or a <= 0:
        return None
    d = (1 - b) * (1 - p)
    powers = exp(a * log(b) - (a + 2) * log(1 - d))
    return k * p**2 / 2 * a * (1 - b) * powers * (2 - (1 - a) * d) - two


def _a(b: float, k: float, p: float, one: int, rising: bool) -> float | None:
    """The a with which the first equation holds; it rises to a peak in a, if it does, then falls."""
    d = (1 - b) * (1 - p)
    slope, more, wanted = log(b / (1 - d)), d / (1 - d), one / (k * p)
    peak = max(0.0, -1 / slope - 1 / more)

    def value(a: float) -> float:
        return exp(a * slope) * (1 + a * more)

    low, high = (0.0, peak) if rising else (peak, LARGEST)
    if (value(low) >= wanted) == (value(high) >= wanted):
        return None
    up = value(high) > value(low)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if (value(middle) < wanted) == up else (low, middle)
    return (low + high) / 2
