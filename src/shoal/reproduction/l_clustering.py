"""The two methods of the L-clustering paper at every setting it looks at."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from statistics import mean, pstdev
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.errors import percent
from shoal.reproduction._adult import HIERARCHIES
from shoal.reproduction._page import between, exponent, falls, fit, slope
from shoal.reproduction._timing import Stopwatch
from shoal.reproduction.base import Claim, Figure, Line, Progress, Result

if TYPE_CHECKING:
    import pyarrow as pa


ORDER = (
    "age",
    "sex",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "salary-class",
)
"""The paper's quasi-identifiers are the first so many of these."""
SENSITIVE = "occupation"
OURS, THEIRS = "l-clustering", "incognito"
NAMES = {OURS: "L-clustering", THEIRS: "L-incognito"}


@dataclass(frozen=True)
class Sizes:
    """How much is run; as it stands, what the paper runs."""

    rows: int | None = None
    """Of the table; None for all."""
    quasi: tuple[int, ...] = (2, 5, 8)
    """Numbers of quasi-identifiers of the figures against l."""
    every_quasi: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8)
    some_l: tuple[int, ...] = (2, 7, 12)
    """Values of l of the figures against quasi-identifiers."""
    every_l: tuple[int, ...] = tuple(range(2, 14))
    repeats: int = 20
    repeated: tuple[int, int] = (5, 7)
    """Quasi-identifiers and l that stay while the other changes from one line to the next."""
    growing: tuple[int, ...] = tuple(range(10_000, 40_001, 5_000))
    """Rows of the figures against rows, as far as there are so many."""
    growing_at: tuple[tuple[int, int], ...] = ((3, 5), (3, 10), (8, 5), (8, 10))
    """Their quasi-identifiers and l."""
    times: int = 3
    """How often a time is taken; the least counts."""


QUICK = Sizes(
    rows=10_000,
    every_quasi=(2, 4, 5, 6, 8),
    every_l=(2, 4, 6, 7, 8, 10, 12),
    repeats=5,
    growing=(4_000, 7_000, 10_000),
    times=1,
)


@dataclass(frozen=True)
class Point:
    """One method at one setting."""

    loss: float
    share: float
    """RL: of the loss of one group of all rows."""
    seconds: float


@dataclass(frozen=True)
class Found:
    """Every figure, by method, quasi-identifiers and l, and where they matter rows."""

    sizes: Sizes
    rows: int
    points: dict[tuple[str, int, int], Point]
    repeats: dict[tuple[int, int], tuple[float, ...]]
    """RL of L-clustering, seed by seed, by quasi-identifiers and l."""
    growing: dict[tuple[str, int, int, int], Point]

    def by_l(self, method: str, d: int) -> list[Point]:
        """Along every l."""
        return [self.points[method, d, ell] for ell in self.sizes.every_l]

    def by_quasi(self, method: str, ell: int) -> list[Point]:
        """Along every number of quasi-identifiers."""
        return [self.points[method, d, ell] for d in self.sizes.every_quasi]

    def by_rows(self, method: str, d: int, ell: int) -> list[Point]:
        """Along the rows."""
        return [self.growing[method, d, ell, n] for n in self.sizes.growing]


def measure(table: pa.Table, sizes: Sizes, progress: Progress) -> Found:
    """Run all of it."""
    table = _some(table, sizes.rows or table.num_rows)
    small = {(d, ell) for d in sizes.quasi for ell in sizes.every_l}
    wide = {(d, ell) for d in sizes.every_quasi for ell in sizes.some_l}
    fixed, middle = sizes.repeated
    repeated = {(fixed, ell) for ell in sizes.some_l} | {(d, middle) for d in sizes.quasi}
    work: dict[Any, Any] = {}
    for d, ell in sorted(small | wide):
        for method in NAMES:
            work["point", method, d, ell] = partial(_point, table, method, d, ell, sizes.times)
    for n in sizes.growing:
        part = _some(table, n)
        for d, ell in sizes.growing_at:
            for method in NAMES:
                work["rows", method, d, ell, n] = partial(_point, part, method, d, ell, sizes.times)
    for d, ell in sorted(repeated):
        for seed in range(sizes.repeats):
            work["repeat", d, ell, seed] = partial(_point, table, OURS, d, ell, 1, seed)
    for method in NAMES:  # the first run compiles
        _point(_some(table, 500), method, 3, 2, 1)
    done: dict[Any, Point] = {}
    for at, (key, run) in enumerate(work.items()):
        progress("run", at / len(work))
        done[key] = run()
    return Found(
        sizes,
        table.num_rows,
        {key[1:]: point for key, point in done.items() if key[0] == "point"},
        {
            (d, ell): tuple(done["repeat", d, ell, seed].share for seed in range(sizes.repeats))
            for d, ell in sorted(repeated)
        },
        {key[1:]: point for key, point in done.items() if key[0] == "rows"},
    )


def _some(table: pa.Table, rows: int) -> pa.Table:
    """So many of the rows, drawn at random; fewer are part of more."""
    if rows >= table.num_rows:
        return table
    drawn = np.random.default_rng(0).permutation(table.num_rows)[:rows]
    return table.take(pa.array(np.sort(drawn)))


def _point(
    table: pa.Table,
    method: str,
    d: int,
    ell: int,
    times: int,
    seed: int = 0,
) -> Point:
    from shoal.pipeline.run import anonymize_table
    from shoal.policy import Policy
    from shoal.progress import Clock

    asked = Policy.load(_policy(method, d, ell) | {"seed": seed})
    taken = []
    for _ in range(times):
        watch = Stopwatch()
        release = anonymize_table(table, asked, Clock(watch))
        taken.append(watch.seconds["group"])
    loss, share = release.metrics["loss"], release.metrics["relative-loss"]
    assert loss is not None
    return Point(loss, share or 0.0, min(taken))


def _policy(method: str, d: int, ell: int) -> dict[str, Any]:
    """L-clustering with a range of ages and sets of all else, Incognito with our trees."""
    columns: dict[str, Any] = {SENSITIVE: "sensitive"}
    for name in ORDER[:d]:
        kind = {"kind": "ordered" if name == "age" else "unordered"}
        how = kind if method == OURS else {"hierarchy": HIERARCHIES[name]}
        columns[name] = {"role": "quasi", **how}
    chosen = OURS if method == OURS else {"name": THEIRS, "metric": "relative-loss"}
    return {
        "columns": columns,
        "constraints": [{"l": ell, "of": SENSITIVE}],
        "method": chosen,
        "metrics": ["loss", "relative-loss"],
        "default": "drop",
    }


# What became of the claims on time of the L-clustering paper. The thresholds are ours.


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


# The figures of the L-clustering paper, by its numbers.


QUASI, ROWS, REPEAT = "quasi-identifiers", "rows", "repeat"
LOSS, SHARE, SECONDS = "loss L(D, D*)", "relative loss RL, %", "seconds"


def figures(found: Found) -> tuple[Figure, ...]:
    """Figures 2 to 7."""
    return (
        *_by_quasi(found, 2, "Loss", LOSS, _loss),
        *_by_l(found, 3, "Relative loss", SHARE, _percent),
        *_repeats(found),
        *_by_quasi(found, 5, "Time", SECONDS, _seconds_figure),
        *_by_l(found, 6, "Time", SECONDS, _seconds_figure),
        *_by_rows(found),
    )


def _by_quasi(
    found: Found, number: int, what: str, label: str, figure: Callable[[Point], float | None]
) -> list[Figure]:
    return [
        Figure(
            name=f"{_slug(what)}-by-quasi-l{ell}",
            title=f"{what} against quasi-identifiers, l = {ell}",
            shows=f"Fig. {number}({part}): {found.rows:,} rows",
            x_label=QUASI,
            y_label=label,
            lines=tuple(
                _line(NAMES[method], found.sizes.every_quasi, found.by_quasi(method, ell), figure)
                for method in NAMES
            ),
            log=number == 2,
        )
        for part, ell in zip("abcdefgh", found.sizes.some_l, strict=False)
    ]


def _by_l(
    found: Found, number: int, what: str, label: str, figure: Callable[[Point], float | None]
) -> list[Figure]:
    return [
        Figure(
            name=f"{_slug(what)}-by-l-{d}-quasi",
            title=f"{what} against l, {d} quasi-identifiers",
            shows=f"Fig. {number}({part}): {found.rows:,} rows",
            x_label="l",
            y_label=label,
            lines=tuple(
                _line(NAMES[method], found.sizes.every_l, found.by_l(method, d), figure)
                for method in NAMES
            ),
        )
        for part, d in zip("abcdefgh", found.sizes.quasi, strict=False)
    ]


def _repeats(found: Found) -> list[Figure]:
    def line(label: str, d: int, ell: int) -> Line:
        shares = found.repeats[d, ell]
        repeats = tuple(range(1, len(shares) + 1))
        return Line(label, repeats, tuple(100 * share for share in shares))

    sizes = found.sizes
    d, middle = sizes.repeated
    shows = f"{found.rows:,} rows, a seed for each repeat"
    return [
        Figure(
            name=f"repeats-{d}-quasi",
            title=f"Relative loss of L-clustering, repeated, {d} quasi-identifiers",
            shows=f"Fig. 4(a): {shows}",
            x_label=REPEAT,
            y_label=SHARE,
            lines=tuple(line(f"l = {ell}", d, ell) for ell in sizes.some_l),
        ),
        Figure(
            name=f"repeats-l{middle}",
            title=f"Relative loss of L-clustering, repeated, l = {middle}",
            shows=f"Fig. 4(b): {shows}",
            x_label=REPEAT,
            y_label=SHARE,
            lines=tuple(line(f"{d} QI", d, middle) for d in sizes.quasi),
        ),
    ]


def _by_rows(found: Found) -> list[Figure]:
    return [
        Figure(
            name=f"time-by-rows-{d}-quasi-l{ell}",
            title=f"Time against rows, {d} quasi-identifiers, l = {ell}",
            shows=f"Fig. 7({part})",
            x_label=ROWS,
            y_label=SECONDS,
            lines=tuple(
                _line(
                    NAMES[method],
                    found.sizes.growing,
                    found.by_rows(method, d, ell),
                    _seconds_figure,
                )
                for method in NAMES
            ),
        )
        for part, (d, ell) in zip("abcdefgh", found.sizes.growing_at, strict=False)
    ]


def _line(
    label: str, x: Sequence[float], points: list[Point], figure: Callable[[Point], float | None]
) -> Line:
    return Line(label, tuple(x), tuple(figure(point) for point in points))


def _loss(point: Point) -> float | None:
    return point.loss or None  # the axis is logarithmic: nothing lost is nowhere on it


def _percent(point: Point) -> float:
    return 100 * point.share


def _seconds_figure(point: Point) -> float:
    return point.seconds


def _slug(what: str) -> str:
    return what.lower().replace(" ", "-")


# What became of the claims of the L-clustering paper, first of loss. The thresholds are ours.


PAPERS_RATIO = 8_000
FAR = 5
"""Times as much is far above."""
LITTLE = 0.02
"""A deviation of this share of the mean is little."""
POINT = 0.02
"""A step of l that adds this share of RL or less is slow growth."""


def claims(found: Found) -> tuple[Claim, ...]:
    """All of them, in the order of the figures."""
    return (*_loss_claims(found), *time_claims(found))


def _loss_claims(found: Found) -> list[Claim]:
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


# The experiments of the L-clustering paper: loss and time beside Incognito for l-diversity.


class LClustering:
    """RL and time against l, quasi-identifiers and rows, and RL over repeats."""

    title = "L-clustering"
    source = (
        "The paper that introduces L-clustering, clustering for l-diversity without hierarchies"
    )
    uses_adult = True
    minutes = 4.0

    def __init__(self, sizes: "Sizes | None" = None) -> None:
        self.sizes = sizes

    def run(self, adult: "pa.Table | None", quick: bool, progress: Progress) -> Result:
        """Run the paper's experiments; `quick` on less, for about a minute."""

        assert adult is not None
        sizes = self.sizes or (QUICK if quick else Sizes())
        there = min(adult.num_rows, sizes.rows or adult.num_rows)
        growing = tuple(n for n in sizes.growing if n <= there)
        found = measure(adult, replace(sizes, growing=growing), progress)
        return Result(claims(found), figures(found), _notes(found, sizes))


def _notes(found: "Found", asked: "Sizes") -> tuple[str, ...]:
    notes = [
        f"{found.rows:,} rows; the paper had 45,222. S is the occupation; QI are the first so "
        "many of age, sex, race, marital status, education, country, work class and salary class. "
        "Ages become ranges, all else sets.",
        "L-incognito is our “incognito” by trees of our own, since the paper does not give its own; of "
        "the minimal generalisations it publishes the one that loses least. How far apart the two "
        "methods are hangs on the trees.",
        "Time is that of the processor, over all threads, for the grouping alone, after compiling"
        + (f"; the least of {asked.times}" if asked.times > 1 else "")
        + ". What counts as far, little or slow is our choice and stands in the claim.",
    ]
    if len(found.sizes.growing) < len(asked.growing):
        notes.append(
            "The table has fewer rows than the paper's, so the figures against rows end early."
        )
    return tuple(notes)
