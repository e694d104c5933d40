"""Population uniques by the sizes of sample classes.

The shares of classes with one, two, three .. rows in the sample are taken for those in the
population. A class of j people gives just one row to a sample of n from N with the hypergeometric
probability h(j) = j C(N - j, n - 1) / C(N, n). By Bayes a sample unique is unique in the population
with probability p = s(1) h(1) / sum s(j) h(j), s(j) being the sample's classes of j rows, and
s(1) p N / n people are expected to be unique.

Source: Zayatz, "Estimation of the percent of unique population elements on a microdata file using
the sample", US Bureau of the Census, Statistical Research Division report 91/08, 1991.
"""

from math import exp, lgamma, log

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def zayatz(sizes: Ints, population: int) -> float:
    """The expected number of people who are unique in a population of so many."""
    n = int(sizes.sum())
    numbers, times = np.unique(sizes, return_counts=True)
    counted = dict(zip(numbers.tolist(), times.tolist(), strict=True))
    uniques = counted.get(1, 0)
    if not uniques:
        return 0.0
    weights = {j: s * exp(_one_of(j, n, population)) for j, s in counted.items()}
    return uniques * weights[1] / sum(weights.values()) * population / n


def _one_of(j: int, n: int, population: int) -> float:
    """The logarithm of the chance that a class of j gives one row, relative to a class of one."""
    if population - j < n - 1:
        return float("-inf")
    return log(j) + _choose(population - j, n - 1) - _choose(population - 1, n - 1)


def _choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
