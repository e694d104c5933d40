"""What became of the claims of the L-clustering paper, first of loss. The thresholds are ours."""

import math
from itertools import pairwise
from statistics import mean, pstdev

from shoal.errors import percent
from shoal.reproduction._l_clustering_runs import NAMES, OURS, THEIRS, Found
from shoal.reproduction._l_clustering_times import time_claims
from shoal.reproduction._trends import between, falls
from shoal.reproduction.base import Claim

PAPERS_RATIO = 8_000
FAR = 5
"""Times as much is far above."""
LITTLE = 0.02
"""A deviation of this share of the mean is little."""
POINT = 0.02
"""A step of l that adds this share of RL or less is slow growth."""


def claims(found: Found) -> tuple[Claim, ...]:
    """All of them, in the order of the figures."""
    return (*_loss(found), *time_claims(found))


def _loss(found: Found) -> list[Claim]:
    sizes = found.sizes
    five = sizes.repeated[0]
    ratios = {
        (d, ell): _over(theirs.loss, found.points[OURS, d, ell].loss)
        for (method, d, ell), theirs in found.points.items()
        if method == THEIRS
    }
    corner = min(ratios)
    least = min(ratios, key=lambda at: ratios[at])
    shares = [point.share for point in found.by_l(OURS, five)]
    over = [ell for ell, share in zip(sizes.every_l, shares, strict=True) if share >= 0.1]
    steps = [after - before for before, after in pairwise(shares)]
    jumps = {
        d: [before == after for before, after in pairwise(p.share for p in found.by_l(THEIRS, d))]
        for d in sizes.quasi
    }
    spread = {
        at: pstdev(each) / mean(each) if any(each) else 0.0 for at, each in found.repeats.items()
    }
    with_quasi = {
        f"{NAMES[m]}, l = {ell}": [p.loss for p in found.by_quasi(m, ell)]
        for m in NAMES
        for ell in sizes.some_l
    }
    with_l = {
        f"{NAMES[m]}, {d} QI": [p.loss for p in found.by_l(m, d)]
        for m in NAMES
        for d in sizes.quasi
    }
    largest = max(range(len(steps)), key=lambda i: steps[i])
    return [
        Claim(
            f"L-incognito loses far more than L-clustering everywhere (at least {FAR} times as much)",
            ratios[least] >= FAR,
            f"least at {_at(*least)}: {_times(ratios[least])}; "
            f"{sum(r >= FAR for r in ratios.values())} of {len(ratios)} settings are above",
        ),
        Claim(
            f"L-incognito loses about {PAPERS_RATIO:,} times as much at l = 2 with 2 QI "
            "(half to twice that)",
            PAPERS_RATIO / 2 <= ratios[corner] <= PAPERS_RATIO * 2 if corner == (2, 2) else None,
            f"at {_at(*corner)}: {_times(ratios[corner])}",
        ),
        _growth("The loss of both methods grows with QI", sizes.every_quasi, with_quasi),
        _growth("The loss of both methods grows with l", sizes.every_l, with_l),
        Claim(
            f"RL of L-clustering stays under 10 % for {five} QI",
            not over,
            f"{percent(shares[0])} at l = {sizes.every_l[0]}, {percent(shares[-1])} at "
            f"l = {sizes.every_l[-1]}" + (f"; over from l = {over[0]} on" if over else ""),
        ),
        Claim(
            f"RL of L-clustering grows slowly with l ({five} QI: no step of l adds more than "
            f"{100 * POINT:.0f} points)",
            max(steps) <= POINT,
            f"the largest step adds {100 * steps[largest]:.1f} points, at l = "
            f"{sizes.every_l[largest + 1]}; {sum(s <= POINT for s in steps)} of {len(steps)} are slow",
        ),
        Claim(
            "RL of L-incognito jumps in steps (half or more of the steps of l change nothing)",
            all(2 * sum(same) >= len(same) for same in jumps.values()),
            "; ".join(f"{d} QI: {sum(same)} of {len(same)}" for d, same in jumps.items()),
        ),
        Claim(
            f"RL of L-clustering varies little over {found.sizes.repeats} repeats (by less than "
            f"{100 * LITTLE:.0f} % of its mean)",
            max(spread.values()) < LITTLE,
            "; ".join(
                f"{_at(*at)}: {percent(share)} ({100 * pstdev(found.repeats[at]):.2g} points)"
                for at, share in spread.items()
            ),
        ),
    ]


def _growth(text: str, x: tuple[int, ...], lines: dict[str, list[float]]) -> Claim:
    if wrong := falls(x, lines):
        return Claim(text, False, wrong)
    times = [line[-1] / line[0] for line in lines.values() if line[0]]
    words = f"in all {len(lines)} lines"
    return Claim(text, True, f"{words}, by {between(times, ',.0f')} times" if times else words)


def _over(theirs: float, ours: float) -> float:
    if ours == 0:
        return math.inf if theirs else 1.0
    return theirs / ours


def _at(d: int, ell: int) -> str:
    return f"{d} QI, l = {ell}"


def _times(ratio: float) -> str:
    if math.isinf(ratio):
        return "L-clustering loses nothing"
    return f"{ratio:,.0f} times" if ratio >= 100 else f"{ratio:.3g} times"
