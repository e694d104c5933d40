"""Histograms of class sizes."""

from itertools import count, pairwise

import numpy as np
import numpy.typing as npt

from shoal.evidence.evidence import Histogram, Sizes

FIRST = (1, 2, 5)
"""Bins begin here, then at 10, 20, 50, 100 and so on."""


def histogram(sizes: npt.NDArray[np.integer]) -> Histogram:
    """How many classes have each size."""
    classes = np.bincount(sizes) if len(sizes) else np.zeros(0, np.int64)
    return tuple((int(size), int(classes[size])) for size in np.flatnonzero(classes))


def binned(found: Histogram, largest: int) -> tuple[Sizes, ...]:
    """The histogram in bins that grow, empty ones too, up to the one that holds `largest`."""
    bins = []
    for power in count():
        edges = [10**power * first for first in (*FIRST, 10)]
        for low, after in pairwise(edges):
            inside = [(size, classes) for size, classes in found if low <= size < after]
            rows = sum(size * classes for size, classes in inside)
            bins.append(Sizes(low, after - 1, sum(classes for _, classes in inside), rows))
            if after > largest:
                return tuple(bins)
    raise AssertionError  # the counting never ends
