"""The releases that no other beats in both loss and risk."""

from collections.abc import Sequence

import numpy as np


def frontier(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Of each point whether no other is as low in both figures and lower in one.

    Source: Pareto's optimum, as used for releases in Duncan, Keller-McNulty and Stokes, "Disclosure
    risk vs. data utility: the R-U confidentiality map", 2001.
    """
    held = [False] * len(points)
    best = np.inf
    last: tuple[float, float] | None = None
    for at in sorted(range(len(points)), key=lambda i: points[i]):
        # sorted by the first figure: only a lower second one is not beaten, or the same point again
        if points[at][1] < best or points[at] == last:
            held[at], best, last = True, points[at][1], points[at]
    return held
