"""The rounded ("flexible") partition beside Mondrian and bottom-up, on Adult: groups, cost and time."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from operator import gt, lt
from typing import TYPE_CHECKING

import numpy as np

from shoal.encoding.cells import Cells, codes_in_order, encode
from shoal.encoding.columns import ColumnSpec
from shoal.encoding.grouping import spans_of
from shoal.errors import listed
from shoal.methods import flexible_partition as rounded
from shoal.methods.base import Method
from shoal.methods.bottom_up import BottomUp
from shoal.methods.mondrian import Mondrian
from shoal.metrics.base import ReleaseView
from shoal.metrics.cm import Cm
from shoal.metrics.group_sizes import Dm
from shoal.models.k import K
from shoal.models.requirement import Requirement
from shoal.reproduction.adult import TRAINING_ROWS
from shoal.reproduction.base import (
    Claim,
    Experiment,
    Figure,
    Findings,
    StepProgress,
    between,
    lines_of,
)
from shoal.reproduction.timing import timed

if TYPE_CHECKING:
    import pyarrow as pa

QUASI = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
)
CLASS = "salary-class"
OURS, WIDEST = "flexible", "flexible (widest)"
STRICT, RELAXED, BOTTOM_UP = "strict Mondrian", "relaxed Mondrian", "bottom-up"
OTHERS = (STRICT, RELAXED, BOTTOM_UP)
METHODS: dict[str, Method] = {
    OURS: rounded.FlexiblePartition(),
    WIDEST: rounded.FlexiblePartition("widest"),
    STRICT: Mondrian(),
    RELAXED: Mondrian(strict=False),
    BOTTOM_UP: BottomUp(),
}
SLOW = {BOTTOM_UP}
"""Methods that run once for each k: their time grows with the square of the rows."""
ACCEPTABLE = 10
"""A method may take this many times as long as strict Mondrian and still be called acceptable."""


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    rows: int
    ks: tuple[int, ...]
    repeats: int


FULL = Sizes(TRAINING_ROWS, (2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50), 7)
QUICK = Sizes(6_007, (2, 5, 10, 25, 50), 3)


@dataclass(frozen=True)
class Point:
    """One method at one k."""

    groups: int
    largest: int
    """Rows of the largest group."""
    dm: float
    cm: float
    seconds: float


@dataclass
class Measurements:
    """All points, by method and k."""

    rows: int
    ks: tuple[int, ...]
    points: dict[tuple[str, int], Point] = field(default_factory=dict)

    def line(self, name: str, quantity: str) -> list[float]:
        """One quantity of a method against k."""
        return [float(getattr(self.points[name, k], quantity)) for k in self.ks]


class FlexiblePartition(Experiment):
    """Groups, DM, CM and time against k, for the rounded partition and three other methods."""

    name = "flexible-partition"
    title = "Rounded partition: no more rows in a group than there must be"
    source = (
        "The paper that introduces k-anonymity by a rounded partition function "
        "(“flexible partition”), Theorems 1 and 2 and Fig. 5"
    )
    minutes = 3.0

    def run(self, adult: "pa.Table | None", quick: bool, progress: StepProgress) -> Findings:
        """Run the paper's experiments on Adult, or on a table like it."""
        assert adult is not None
        return self.run_on(adult, QUICK if quick else FULL, progress)

    def run_on(self, adult: "pa.Table", sizes: Sizes, progress: StepProgress) -> Findings:
        """Run them at these sizes."""
        cells = _cells(adult.slice(0, sizes.rows))
        for method in METHODS.values():  # compiles
            _measure(_cells(adult.slice(0, 200)), method, 5, 1)
        found = Measurements(cells.n_rows, sizes.ks)
        settings = [(name, k) for k in sizes.ks for name in METHODS]
        for i, (name, k) in enumerate(settings):
            progress(f"k = {k}", i / len(settings))
            repeats = 1 if name in SLOW else sizes.repeats
            found.points[name, k] = _measure(cells, METHODS[name], k, repeats)
        notes = (
            f"{found.rows:,} rows, the first complete ones; 8 quasi-identifiers, ages as ranges, all "
            "else as sets of values; the class for CM is the salary.",
            "Which values of k the paper took is not known to us, since the axes of its figures are "
            "lost; these are ours.",
            "The paper lets a cut lie along any column. Ours takes the one that loses least; "
            f"“{WIDEST}” takes the widest, as Mondrian does. Claims are judged on the first.",
            "Groups are those formed: some may get the same label and are then one class in the "
            "release.",
            f"Time is that of the processor, over all threads, without reading and writing, the "
            f"fastest of {sizes.repeats} runs; {BOTTOM_UP} runs once for each k.",
        )
        return Findings(judge(found), figures(found), notes)


def _cells(table: "pa.Table") -> Cells:
    quasi = {name: ColumnSpec(kind="ordered" if name == "age" else "unordered") for name in QUASI}
    columns = {name: table[name].combine_chunks() for name in (*QUASI, CLASS)}
    cells = encode(columns.__getitem__, quasi, {}, [CLASS], 0)
    return replace(cells, target=codes_in_order(cells, columns[CLASS]))


def _measure(cells: Cells, method: Method, k: int, repeats: int) -> Point:
    requirement = Requirement((K(k),))
    runs = [
        timed(lambda: method.group(cells, requirement, 0, lambda _: None)) for _ in range(repeats)
    ]
    groupings = runs[0][0]
    spans = tuple(spans_of(cells, grouping) for grouping in groupings)
    unsuppressed = np.zeros(cells.n_rows, np.bool_)
    view = ReleaseView(cells, groupings, spans, 0, unsuppressed, cells.target)
    cm, dm = Cm().measure(view), Dm().measure(view)
    assert cm is not None
    assert dm is not None
    seconds = min(seconds for _, seconds in runs)
    return Point(len(view.sizes), int(view.sizes.max()), dm, cm, seconds)


def figures(found: Measurements) -> tuple[Figure, ...]:
    """The four of the paper, and one of its bound."""
    parts = (
        ("dm", "a", "DM against k", "DM", False),
        ("cm", "b", "CM against k", "CM", False),
        ("groups", "c", "Groups against k", "groups", True),
        ("seconds", "d", "Time against k", "seconds", True),
    )
    return (
        *(
            Figure(
                "time" if quantity == "seconds" else quantity,
                title,
                f"Fig. 5 ({letter})",
                "k",
                label,
                lines_of(found.ks, {name: found.line(name, quantity) for name in METHODS}),
                log=log,
            )
            for quantity, letter, title, label, log in parts
        ),
        Figure(
            "largest-group",
            "The largest group against k, beside the bound",
            "Not in the paper, which proves the bound (Theorem 2)",
            "k",
            "rows",
            lines_of(
                found.ks,
                {
                    **{name: found.line(name, "largest") for name in (OURS, RELAXED)},
                    "Theorem 2's bound": [float(bound(found.rows, k)) for k in found.ks],
                    "2k − 1": [2.0 * k - 1 for k in found.ks],
                },
            ),
        ),
    )


def bound(rows: int, k: int) -> int:
    """The most rows of a group by Theorem 2: k + ⌈β / 2^x⌉ for n = αk + β and x = ⌊log2 α⌋."""
    quotient, rest = divmod(rows, k)
    halvings = quotient.bit_length() - 1
    return k + -(-rest // 2**halvings)


def judge(found: Measurements) -> tuple[Claim, ...]:
    """Every claim of the paper, with the figures it was judged by."""
    others = "the three others for every k"
    return (
        _judge_groups(found),
        _judge_bound(found),
        _judge_lead(found, f"Its DM is below that of {others}", "dm", lt),
        _judge_lead(found, f"Its CM is below that of {others}", "cm", lt),
        _judge_lead(found, f"It makes more groups than {others}", "groups", gt),
        _judge_time(found),
    )


def _judge_groups(found: Measurements) -> Claim:
    groups = {k: {found.points[name, k].groups for name in (OURS, WIDEST)} for k in found.ks}
    right = [k for k in found.ks if groups[k] == {found.rows // k}]
    k = found.ks[0]
    return Claim(
        "It makes exactly ⌊n/k⌋ groups (Theorem 1)",
        len(right) == len(found.ks),
        f"for {len(right)} of {len(found.ks)} values of k; at k = {k}: "
        f"{found.points[OURS, k].groups:,} of {found.rows // k:,}",
    )


def _judge_bound(found: Measurements) -> Claim:
    largest = {k: max(found.points[name, k].largest for name in (OURS, WIDEST)) for k in found.ks}
    over = [k for k, rows in largest.items() if rows > bound(found.rows, k)]
    most = max(rows - k for k, rows in largest.items())
    close = [k for k in found.ks if found.rows >= 2 * k * k]
    return Claim(
        "No group exceeds k + ⌈β/2^x⌉ rows (Theorem 2), nor k + 1 where n ≥ 2k² (its corollary)",
        not over and all(largest[k] <= k + 1 for k in close),
        f"at most k + {most} for every k" + (f"; over at k = {_listed(over)}" if over else ""),
    )


def _judge_lead(
    found: Measurements, text: str, quantity: str, better: Callable[[float, float], bool]
) -> Claim:
    ours = found.line(OURS, quantity)
    figures, held = [], True
    for name in OTHERS:
        pairs = list(zip(found.ks, ours, found.line(name, quantity), strict=True))
        lost = [k for k, a, b in pairs if not better(a, b)]
        ratios = [b / a for _, a, b in pairs if a]
        held &= not lost
        exceptions = f" (not at k = {_listed(lost)})" if lost else ""
        figures.append(f"{name} {between(ratios)} times ours{exceptions}")
    return Claim(text, held, "; ".join(figures))


def _judge_time(found: Measurements) -> Claim:
    ours, strict = found.line(OURS, "seconds"), found.line(STRICT, "seconds")
    ratios = [a / b for a, b in zip(ours, strict, strict=True)]
    slow = found.line(BOTTOM_UP, "seconds")
    return Claim(
        f"Its time is acceptable (we ask: at most {ACCEPTABLE} times that of strict Mondrian)",
        max(ratios) <= ACCEPTABLE,
        f"{min(ours):.2f} to {max(ours):.2f} s, {between(ratios)} times strict Mondrian; "
        f"bottom-up {min(slow):.1f} to {max(slow):.1f} s",
    )


def _listed(ks: list[int]) -> str:
    return listed(map(str, ks))
