"""Classfly+ beside Datafly, on the synthetic table of its paper: precision and time."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import mean

import numpy as np

from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping, spans_of
from shoal.methods import classfly_plus as family
from shoal.methods.base import Method
from shoal.methods.datafly import Datafly
from shoal.metrics.base import ReleaseView
from shoal.metrics.precision import Precision
from shoal.models.requirement import Requirement
from shoal.reproduction.base import (
    SHORT,
    Claim,
    Experiment,
    Figure,
    Findings,
    StepProgress,
    between,
    judged,
    judged_over,
    lines_of,
    too_short,
)
from shoal.reproduction.synthetic import (
    CONSTRAINTS,
    FIRST,
    SETTINGS,
    cells_of,
    coded,
    columns_named,
)
from shoal.reproduction.timing import fastest

Point = tuple[int, int]
"""Rows, and how many of the constraints."""

METHODS: dict[str, Method] = {
    "datafly": Datafly(),
    "naive": family.ClassflyPlus("naive"),
    "complete": family.ClassflyPlus("complete"),
    "partial": family.ClassflyPlus("partial"),
}
FAMILY = ("naive", "complete", "partial")
SETS = {2: "C1, C2", 4: "C1 to C4", 8: "C1 to C8"}
SIMILAR = 0.25
"""Two times are about the same when they differ by no more than this share."""
LEAST, MOST = 10, 20
"""Per cent by which the paper says precision gains."""
SEED = 7_000
"""The first seed: those below were used while the methods were written."""
OPEN = "domains and hierarchies"


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    rows: tuple[int, ...]
    """Of the tables on which precision is compared, with 2 and with 4 constraints."""
    fewer_rows: tuple[int, ...]
    """Of those on which it is shown with each number of constraints."""
    timed_rows: tuple[int, ...]
    """Of those on which times are taken, with each number of constraints."""
    constraints: tuple[int, ...]
    tables: int
    """Over which precision is averaged."""
    repeats: int

    @property
    def timed_constraints(self) -> tuple[int, ...]:
        """Numbers of constraints with which times are taken: the even ones, as in the paper's Fig. 6."""
        return tuple(n for n in self.constraints if n % 2 == 0)


FULL = Sizes(
    tuple(range(1024, 10241, 1024)),
    tuple(range(2048, 10241, 2048)),
    tuple(range(102_400, 512_001, 102_400)),
    tuple(range(2, 9)),
    10,
    3,
)
QUICK = Sizes(
    (1024, 4096, 7168, 10240),
    (2048, 6144, 10240),
    (102_400, 307_200, 512_000),
    (2, 4, 6, 8),
    2,
    2,
)


@dataclass
class Measurements:
    """Precision by setting, point and method; seconds by point and method, in the first setting."""

    sizes: Sizes
    precision: dict[str, dict[Point, dict[str, float]]] = field(default_factory=dict)
    seconds: dict[Point, dict[str, float]] = field(default_factory=dict)
    compared: int = 0
    """Tables on which complete and partial were compared, cell for cell."""
    different: int = 0

    def precision_by_rows(self, constraints: int, name: str, setting: str = FIRST) -> list[float]:
        """Precision against rows."""
        return [self.precision[setting][rows, constraints][name] for rows in self.sizes.rows]

    def gains(self, constraints: int, setting: str) -> list[float]:
        """By how many per cent complete is above Datafly, against rows."""
        complete, datafly = (
            self.precision_by_rows(constraints, name, setting) for name in ("complete", "datafly")
        )
        return [100 * (a / b - 1) for a, b in zip(complete, datafly, strict=True)]

    def seconds_by_rows(self, constraints: int, name: str) -> list[float]:
        """Seconds against rows."""
        return [self.seconds[rows, constraints][name] for rows in self.sizes.timed_rows]

    def seconds_by_constraints(self, name: str) -> list[float]:
        """Seconds against constraints, with the most rows."""
        rows = self.sizes.timed_rows[-1]
        return [self.seconds[rows, n][name] for n in self.sizes.timed_constraints]


class ClassflyPlus(Experiment):
    """Precision and time against rows and constraints, for Datafly and the three of the family."""

    name = "classfly-plus"
    title = "Classfly+: k-anonymity under several constraints"
    source = (
        "Yang et al., k-anonymisation that supports multiple constraints (Classfly+), accepted 2005"
    )
    uses_adult = False
    minutes = 1.0

    def run(self, adult: object, quick: bool, progress: StepProgress) -> Findings:  # noqa: ARG002
        """Run the paper's experiments; the table is made up, as the paper's was."""
        return self.run_on(QUICK if quick else FULL, progress)

    def run_on(self, sizes: Sizes, progress: StepProgress) -> Findings:
        """Run them at these sizes."""
        found = measure(sizes, progress)
        others = [name for name in SETTINGS if name != FIRST]
        notes = (
            "The paper gives nine uniform attributes, their types and the constraints, but neither "
            f"domains nor hierarchies, on which precision depends. {len(SETTINGS)} settings of them "
            f"were chosen before any was run: {FIRST}; {'; '.join(others)}. Figures show the first, "
            "unless they say otherwise.",
            "In the first, heights climb by 5, 10 and 25 cm, which do not nest; a policy refuses this, "
            "so the table is given to the methods directly.",
            f"Precision is the mean over {sizes.tables} tables of each size, from seeds that were not "
            "used before.",
            "Time is that of the processor, without reading and writing, the fastest of "
            f"{sizes.repeats} runs. On the paper's 2,048 to 10,240 rows a run takes a few milliseconds, "
            "from which one cannot tell, so times are taken on "
            f"{sizes.timed_rows[0]:,} to {sizes.timed_rows[-1]:,} rows.",
            "The paper draws its Fig. 4 as bars; with lines, small differences can be seen.",
        )
        return Findings(judge(found), figures(found), notes)


def measure(sizes: Sizes, progress: StepProgress) -> Measurements:
    """Run every method at every point."""
    timed = sorted((rows, n) for rows in sizes.timed_rows for n in sizes.timed_constraints)
    compared = {(rows, n) for rows in sizes.rows for n in (2, 4)}
    shown = {(rows, n) for rows in sizes.fewer_rows for n in sizes.constraints}
    precise = [
        (setting, point)
        for setting in SETTINGS
        for point in sorted(compared | shown if setting == FIRST else compared)
    ]
    found = Measurements(sizes)
    for i, (setting, point) in enumerate(precise):
        progress("precision", i / len(precise))
        _add_precision(found, setting, point)
    for i, (rows, constraints) in enumerate(timed):
        progress("times", i / len(timed))
        cells = _cells(FIRST, rows, constraints, SEED)
        calls = {
            name: lambda cells=cells, method=method, n=constraints: _group(cells, method, n)
            for name, method in METHODS.items()
        }
        found.seconds[rows, constraints] = fastest(calls, sizes.repeats)
    return found


def _add_precision(found: Measurements, setting: str, point: Point) -> None:
    rows, constraints = point
    precision: dict[str, list[float]] = {name: [] for name in METHODS}
    for seed in range(SEED, SEED + found.sizes.tables):
        cells = _cells(setting, rows, constraints, seed)
        groupings = {name: _group(cells, method, constraints) for name, method in METHODS.items()}
        for name, grouping in groupings.items():
            precision[name].append(_precision(cells, grouping))
        found.compared += 1
        found.different += not _same_release(groupings["complete"], groupings["partial"])
    found.precision.setdefault(setting, {})[point] = {
        name: mean(values) for name, values in precision.items()
    }


def _cells(setting: str, rows: int, constraints: int, seed: int) -> Cells:
    names = columns_named(CONSTRAINTS[:constraints])
    return cells_of(coded(rows, seed, setting), names, setting)


def _group(cells: Cells, method: Method, constraints: int) -> tuple[Grouping, ...]:
    return method.group(cells, Requirement(CONSTRAINTS[:constraints]), 0, lambda _: None)


def _precision(cells: Cells, groupings: tuple[Grouping, ...]) -> float:
    spans = tuple(spans_of(cells, grouping) for grouping in groupings)
    unsuppressed = np.zeros(cells.n_rows, np.bool_)
    found = Precision().measure(ReleaseView(cells, groupings, spans, 0, unsuppressed, None))
    assert found is not None
    return found


def _same_release(one: Sequence[Grouping], other: Sequence[Grouping]) -> bool:
    """Whether two groupings publish the same table, cell for cell."""
    return all(
        np.array_equal(_levels(a), _levels(b)) and a.columns == b.columns
        for a, b in zip(one, other, strict=True)
    )


def _levels(grouping: Grouping) -> np.ndarray:
    """(rows, columns) the level of each cell, -1 where it is suppressed."""
    assert grouping.levels is not None
    suppressed = grouping.group < 0
    return np.where(suppressed[:, None], -1, grouping.levels[grouping.group])


def figures(found: Measurements) -> tuple[Figure, ...]:
    """The figures of the paper in its order, and one of ours."""
    sizes = found.sizes
    by_rows, by_constraints = ("rows", "milliseconds"), ("constraints", "precision")
    return (
        *(
            Figure(
                f"precision-{n}-constraints",
                f"Precision against rows, {SETS[n]}",
                f"Fig. 3 ({letter})",
                "rows",
                "precision",
                lines_of(sizes.rows, {name: found.precision_by_rows(n, name) for name in METHODS}),
            )
            for n, letter in ((2, "a"), (4, "b"))
        ),
        *(
            Figure(
                f"gain-{n}-constraints",
                f"Precision of complete above Datafly, {SETS[n]}",
                "Not in the paper: each setting of domains and hierarchies",
                "rows",
                "per cent",
                lines_of(sizes.rows, {name: found.gains(n, name) for name in SETTINGS}),
            )
            for n in (2, 4)
        ),
        *(
            Figure(
                f"precision-{name}",
                f"Precision of {name} against constraints",
                shows,
                *by_constraints,
                lines_of(
                    sizes.constraints,
                    {
                        f"{rows:,} rows": [
                            found.precision[FIRST][rows, n][name] for n in sizes.constraints
                        ]
                        for rows in sizes.fewer_rows
                    },
                ),
            )
            for name, shows in (
                ("complete", "Fig. 4 (a); the same for partial"),
                ("naive", "Fig. 4 (b)"),
            )
        ),
        *(
            Figure(
                f"time-{n}-constraints",
                f"Time against rows, {SETS[n]}",
                f"Fig. 5 ({letter})",
                *by_rows,
                lines_of(
                    sizes.timed_rows,
                    {name: _milliseconds(found.seconds_by_rows(n, name)) for name in METHODS},
                ),
                kind="bars",
            )
            for n, letter in ((4, "a"), (8, "b"))
        ),
        *(
            Figure(
                f"time-{name}",
                f"Time of {name} against rows",
                f"Fig. 6 ({letter})",
                *by_rows,
                lines_of(
                    sizes.timed_rows,
                    {
                        f"{n} constraints": _milliseconds(found.seconds_by_rows(n, name))
                        for n in sizes.timed_constraints
                    },
                ),
            )
            for name, letter in (("naive", "a"), ("partial", "b"), ("complete", "c"))
        ),
        Figure(
            "time-by-constraints",
            f"Time against constraints, {sizes.timed_rows[-1]:,} rows",
            "Not in the paper, which speaks of it from Fig. 6",
            "constraints",
            "milliseconds",
            lines_of(
                sizes.timed_constraints,
                {name: _milliseconds(found.seconds_by_constraints(name)) for name in METHODS},
            ),
        ),
    )


def _milliseconds(seconds: list[float]) -> list[float]:
    return [round(1000 * each, 3) for each in seconds]


def judge(found: Measurements) -> tuple[Claim, ...]:
    """Every claim of the paper, with the figures it was judged by."""
    return (*_judge_precision(found), *_judge_time(found))


def _judge_precision(found: Measurements) -> list[Claim]:
    points = len(found.sizes.rows)
    gains = {(n, one): found.gains(n, one) for n in (2, 4) for one in SETTINGS}
    means = {n: [mean(gains[n, one]) for one in SETTINGS] for n in (2, 4)}
    most = max(max(gain) for gain in gains.values())
    leads = {
        (n, one): [
            a - b
            for a, b in zip(
                found.precision_by_rows(n, "naive", one),
                found.precision_by_rows(n, "datafly", one),
                strict=True,
            )
        ]
        for n in (2, 4)
        for one in SETTINGS
    }
    above = {one: sum(lead > 0 for lead in leads[2, one]) for one in SETTINGS}
    below = {one: sum(lead < 0 for lead in leads[4, one]) for one in SETTINGS}
    same = found.compared - found.different
    return [
        judged(
            "The precision of complete and partial is the same at every point",
            found.different == 0,
            f"cell for cell the same on {same} of {found.compared} tables",
            "Both find the one largest anonymous subset of the rows (Theorem 4).",
            "Some tables differ.",
        ),
        judged_over(
            f"The precision of complete is {LEAST} to {MOST} % above Datafly's on average",
            {one: all(LEAST <= mean(gains[n, one]) <= MOST for n in (2, 4)) for one in SETTINGS},
            f"over the settings {between(means[2], '+.1f')} % on C1, C2 and "
            f"{between(means[4], '+.1f')} % on C1 to C4; {most:+.1f} % at most",
            OPEN,
        ),
        judged_over(
            "Naive is more precise than Datafly on C1, C2",
            {one: above[one] == points for one in SETTINGS},
            f"at {between(list(above.values()), 'd')} of {points} sizes, by the setting; naive lies "
            f"{_points([lead for one in SETTINGS for lead in leads[2, one]])} points of precision from "
            "Datafly",
            OPEN,
        ),
        judged_over(
            "Naive is less precise than Datafly on C1 to C4",
            {one: below[one] == points for one in SETTINGS},
            f"at {between(list(below.values()), 'd')} of {points} sizes, by the setting; naive lies "
            f"{_points([lead for one in SETTINGS for lead in leads[4, one]])} points of precision from "
            "Datafly",
            OPEN,
        ),
        _judge_rise(found),
    ]


def _points(shares: Sequence[float]) -> str:
    return between([100 * share for share in shares], "+.1f")


def _judge_rise(found: Measurements) -> Claim:
    lines = {
        (one, n, name): found.precision_by_rows(n, name, one)
        for one in SETTINGS
        for n in (2, 4)
        for name in FAMILY
    }
    steps = len(found.sizes.rows) - 1
    rises = {key: sum(b > a for a, b in pairwise(line)) for key, line in lines.items()}
    ends = "; ".join(
        f"{SETS[n]}: "
        + ", ".join(
            f"{name} {lines[FIRST, n, name][0]:.3f} to {lines[FIRST, n, name][-1]:.3f}"
            for name in ("naive", "complete")
        )
        for n in (2, 4)
    )
    return judged_over(
        "The precision of the family rises with rows (we ask: from first to last, and in most steps)",
        {
            one: all(
                line[-1] > line[0] and 2 * rises[key] > steps
                for key, line in lines.items()
                if key[0] == one
            )
            for one in SETTINGS
        },
        f"with {FIRST} {ends}; up in {sum(rises.values())} of {len(rises) * steps} steps over all "
        "settings",
        OPEN,
    )


def _judge_time(found: Measurements) -> list[Claim]:
    sizes = found.sizes
    four = {name: found.seconds_by_rows(4, name) for name in METHODS}
    times = {name: sum(four["naive"]) / sum(four[name]) for name in METHODS if name != "naive"}
    last = {name: found.seconds_by_rows(8, name)[-1] for name in METHODS}
    ratio = mean(four["partial"]) / mean(four["complete"])
    ratio_8 = last["partial"] / last["complete"]
    by_constraints = {name: found.seconds_by_constraints(name) for name in METHODS}
    first_rows, last_rows = sizes.timed_rows[0], sizes.timed_rows[-1]
    at_last = ", ".join(f"{name} {1000 * four[name][-1]:.0f} ms" for name in METHODS)
    return [
        _of_times(
            "Naive is the slowest on C1 to C4 (over all sizes together)",
            min(times.values()) > 1,
            f"at {last_rows:,} rows: {at_last}",
            "It takes "
            + ", ".join(f"{ratio:.2f} times as long as {name}" for name, ratio in times.items())
            + ".",
            four,
        ),
        _of_times(
            f"Complete and partial take about the same time (we ask: within {100 * SIMILAR:.0f} %)",
            abs(ratio - 1) <= SIMILAR and abs(ratio_8 - 1) <= SIMILAR,
            f"partial takes {ratio:.2f} times as long on C1 to C4, {ratio_8:.2f} times with 8 "
            f"constraints and {last_rows:,} rows",
            f"They differ by {100 * max(abs(ratio - 1), abs(ratio_8 - 1)):.0f} %.",
            {name: four[name] for name in ("complete", "partial")},
        ),
        _of_times(
            "Datafly is the fastest with 8 constraints",
            min(last, key=lambda name: last[name]) == "datafly",
            f"at {last_rows:,} rows: "
            + ", ".join(f"{name} {1000 * last[name]:.0f} ms" for name in METHODS),
            f"The fastest is {min(last, key=lambda name: last[name])}.",
            {name: [seconds] for name, seconds in last.items()},
        ),
        _of_times(
            "Time rises with the number of constraints",
            all(line[-1] > line[0] for line in by_constraints.values()),
            f"from {sizes.timed_constraints[0]} to {sizes.timed_constraints[-1]}: "
            f"{_growth(by_constraints)}",
            "The last number of constraints is compared with the first.",
            by_constraints,
        ),
        _of_times(
            "Time rises with rows",
            all(line[-1] > line[0] for line in four.values()),
            f"C1 to C4, from {first_rows:,} to {last_rows:,}: {_growth(four)}",
            "The most rows are compared with the fewest.",
            four,
        ),
    ]


def _of_times(
    text: str, held: bool, found: str, reason: str, seconds: dict[str, list[float]]
) -> Claim:
    """A claim on times, of which one cannot tell where they are too short."""
    if too_short([each for line in seconds.values() for each in line]):
        return judged(text, None, found, SHORT)
    return judged(text, held, found, reason)


def _growth(lines: dict[str, list[float]]) -> str:
    return ", ".join(f"{name} ×{line[-1] / line[0]:.1f}" for name, line in lines.items())
