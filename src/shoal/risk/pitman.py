"""Population uniques by Pitman's sampling formula.

The sizes of all classes of an endless population follow Pitman's formula with two parameters, alpha
in [0, 1) and theta above -alpha, fitted to the sample by greatest likelihood:

    sum 1 / (theta + i alpha), i = 1 .. u-1    =  sum 1 / (theta + i), i = 1 .. n-1
    sum i / (theta + i alpha), i = 1 .. u-1    =  sum over classes of sum 1 / (i - alpha), i = 1 .. f-1

with n rows in u classes, f being the rows of a class. Of N people so drawn,
N G(theta + alpha + N - 1) G(theta + 1) / (G(theta + alpha) G(theta + N)) are expected to be unique, G
being the gamma function; for large N that is about G(theta + 1) / G(theta + alpha) N^alpha.

Both equations are solved by halving: for each alpha the first one gives theta. Where the best alpha
would lie below 0 it is 0. Nothing can be fitted where every row is unique or all are in one class.

Source: Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment",
Journal of Official Statistics 17, 2001.
"""

from math import exp, lgamma, log1p

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
STEPS = 200
HEAD = 2_000
"""So many terms of a long sum are added one by one; the rest by Euler and Maclaurin."""


def pitman(sizes: Ints, population: int) -> float | None:
    """The expected number of people who are unique in a population of so many; None where the
    sample does not tell."""
    n, u = int(sizes.sum()), len(sizes)
    if u < 2 or u == n:
        return None
    alpha, theta = fit(sizes)
    grown = lgamma(theta + alpha + population - 1) - lgamma(theta + population)
    return population * exp(grown + lgamma(theta + 1) - lgamma(theta + alpha))


def fit(sizes: Ints) -> tuple[float, float]:
    """alpha and theta of greatest likelihood, for a sample of 2 .. n - 1 classes."""
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
    for _ in range(STEPS):
        alpha = (low + high) / 2
        if alpha in (low, high):
            break
        low, high = (alpha, high) if slope(alpha) > 0 else (low, alpha)
    return low, _theta(low, n, u)


def _theta(alpha: float, n: int, u: int) -> float:
    """The theta that goes with an alpha: the first equation falls from endless to below 0."""

    def excess(theta: float) -> float:
        return _harmonic(theta, alpha, u - 1) - _harmonic(theta, 1.0, n - 1)

    # counted from -alpha, where the first sum has no bound
    low, high = 0.0, 1.0
    while excess(high - alpha) > 0 and high < 1e15:
        low, high = high, high * 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if excess(middle - alpha) > 0 else (low, middle)
    return high - alpha


def _harmonic(theta: float, alpha: float, count: int) -> float:
    """The sum of 1 / (theta + i alpha) for i = 1 .. count."""
    head = min(count, HEAD)
    total = float((1 / (theta + np.arange(1, head + 1) * alpha)).sum())
    if count == head:
        return total
    first, last = theta + head * alpha, theta + count * alpha
    area = (count - head) / theta if alpha == 0 else log1p((count - head) * alpha / first) / alpha
    ends = (1 / last - 1 / first) / 2
    return total + area + ends + alpha * (1 / first**2 - 1 / last**2) / 12
