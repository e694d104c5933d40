"""What became of the claims of the L-clustering paper. The thresholds are ours."""

import math
from itertools import pairwise
from statistics import mean, pstdev

from shoal.errors import percent
from shoal.reproduction._l_clustering_runs import NAMES, OURS, THEIRS, Found, Point
from shoal.reproduction._trends import between, exponent, fit, rises, slope
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
    return (*_loss(found), *_our_time(found), *_their_time(found))


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
        f"{d} QI, l = {ell}": pstdev(each) / mean(each) if mean(each) else 0.0
        for (d, ell), each in found.repeats.items()
    }
    with_quasi = _growth(
        {
            f"{NAMES[m]}, l = {ell}": [p.loss for p in found.by_quasi(m, ell)]
            for m in NAMES
            for ell in sizes.some_l
        }
    )
    with_l = _growth(
        {
            f"{NAMES[m]}, {d} QI": [p.loss for p in found.by_l(m, d)]
            for m in NAMES
            for d in sizes.quasi
        }
    )
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
        Claim("The loss of both methods grows with QI", *with_quasi),
        Claim("The loss of both methods grows with l", *with_l),
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
            "; ".join(f"{at}: {percent(share)}" for at, share in spread.items()),
        ),
    ]


def _our_time(found: Found) -> list[Claim]:
    sizes = found.sizes
    lines = {
        ell: fit(sizes.every_quasi, _seconds(found.by_quasi(OURS, ell))) for ell in sizes.some_l
    }
    tops = {d: sizes.every_l[_largest(_seconds(found.by_l(OURS, d)))] for d in sizes.quasi}
    powers = _powers(found, OURS)
    return [
        Claim(
            "L-clustering's time grows linearly with QI (r² of a line above 0.9)",
            min(lines.values()) > 0.9,
            "; ".join(f"r² {fits:.2f} at l = {ell}" for ell, fits in lines.items()),
        ),
        Claim(
            "L-clustering's time rises, then falls with l (the slowest l is not at an end)",
            not {sizes.every_l[0], sizes.every_l[-1]} & set(tops.values()),
            "; ".join(f"{d} QI: slowest at l = {ell}" for d, ell in tops.items()),
        ),
        Claim(
            "L-clustering's time is quadratic in rows (a power above 1.8); ours should not be",
            min(powers) > 1.8 if powers else None,
            f"n^{between(powers, '.2f')}, by an exact search that looks at few rows"
            if powers
            else "too few rows to tell",
        ),
    ]


def _their_time(found: Found) -> list[Claim]:
    sizes = found.sizes
    curves = {
        ell: (
            fit(sizes.every_quasi, [math.log(s) for s in _seconds(found.by_quasi(THEIRS, ell))]),
            fit(sizes.every_quasi, _seconds(found.by_quasi(THEIRS, ell))),
        )
        for ell in sizes.some_l
    }
    fewest, most = sizes.quasi[0], sizes.quasi[-1]
    slopes = {
        d: slope(sizes.every_l, [1000 * s for s in _seconds(found.by_l(THEIRS, d))])
        for d in (fewest, most)
    }
    powers = _powers(found, THEIRS)
    longest = max(point.seconds for (m, *_), point in found.points.items() if m == THEIRS)
    result = [
        Claim(
            "L-incognito's time grows exponentially with QI (its logarithm fits a line better)",
            all(of_logs > of_times for of_logs, of_times in curves.values()),
            "; ".join(f"l = {ell}: r² {a:.2f} against {b:.2f}" for ell, (a, b) in curves.items())
            + f"; never above {longest:.2g} s",
        ),
        Claim(
            "L-incognito's time grows linearly with rows (a power of 0.8 to 1.2)",
            all(0.8 <= power <= 1.2 for power in powers) if powers else None,
            f"n^{between(powers, '.2f')}" if powers else "too few rows to tell",
        ),
        Claim(
            f"L-incognito's time rises with l for {fewest} QI and falls for {most}",
            slopes[fewest] > 0 > slopes[most],
            "; ".join(f"{d} QI: {ms:+.2g} ms for each l" for d, ms in slopes.items()),
        ),
    ]
    if sizes.growing and (8, 5) in sizes.growing_at:
        n = sizes.growing[0]
        ours, theirs = (found.growing[m, 8, 5, n].seconds for m in (OURS, THEIRS))
        result.append(
            Claim(
                f"With 8 QI, l = 5 and {n:,} rows L-incognito takes longer than L-clustering",
                theirs > ours,
                f"{theirs:.2g} s and {ours:.2g} s",
            )
        )
    return result


def _growth(lines: dict[str, list[float]]) -> tuple[bool, str]:
    falling = [name for name, line in lines.items() if not rises(line)]
    if falling:
        return False, f"falls somewhere for {'; '.join(falling)}"
    times = [line[-1] / line[0] for line in lines.values() if line[0]]
    return True, f"by {between(times)} times from the first to the last, in {len(lines)} lines"


def _powers(found: Found, method: str) -> list[float]:
    sizes = found.sizes
    if len(sizes.growing) < 2:
        return []
    return [
        exponent(sizes.growing, _seconds(found.by_rows(method, d, ell)))
        for d, ell in sizes.growing_at
    ]


def _seconds(points: list[Point]) -> list[float]:
    return [point.seconds for point in points]


def _largest(figures: list[float]) -> int:
    return max(range(len(figures)), key=lambda i: figures[i])


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
