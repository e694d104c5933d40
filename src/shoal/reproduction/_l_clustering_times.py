"""What became of the claims on time of the L-clustering paper. The thresholds are ours."""

import math

from shoal.reproduction._l_clustering_runs import OURS, THEIRS, Found, Point
from shoal.reproduction._trends import between, exponent, fit, slope
from shoal.reproduction.base import Claim


def time_claims(found: Found) -> tuple[Claim, ...]:
    """Ours, then Incognito's."""
    return (*_our_time(found), *_their_time(found))


def _our_time(found: Found) -> list[Claim]:
    sizes = found.sizes
    by_quasi = {ell: _seconds(found.by_quasi(OURS, ell)) for ell in sizes.some_l}
    lines = {ell: fit(sizes.every_quasi, seconds) for ell, seconds in by_quasi.items()}
    growing = all(seconds[-1] > seconds[0] for seconds in by_quasi.values())
    tops = {d: sizes.every_l[_largest(_seconds(found.by_l(OURS, d)))] for d in sizes.quasi}
    powers = _powers(found, OURS)
    return [
        Claim(
            "L-clustering's time grows linearly with QI (r² of a line above 0.9)",
            growing and min(lines.values()) > 0.9,
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
    by_quasi = {ell: _seconds(found.by_quasi(THEIRS, ell)) for ell in sizes.some_l}
    curves = {
        ell: (fit(sizes.every_quasi, [math.log(s) for s in times]), fit(sizes.every_quasi, times))
        for ell, times in by_quasi.items()
    }
    growing = all(times[-1] > times[0] for times in by_quasi.values())
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
            growing and all(of_logs > of_times for of_logs, of_times in curves.values()),
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
