"""The rounded ("flexible") partition beside Mondrian and bottom-up, on Adult: groups, cost and time."""

from collections.abc import Callable, Sequence
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
    Line,
    StepProgress,
    between,
    judged,
    judged_over,
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
NEAREST, ROUNDED = "strict Mondrian (nearest)", "bottom-up (rounded)"
OTHERS = (STRICT, RELAXED, BOTTOM_UP)
"""As they were published: what the claims are judged against."""
METHODS: dict[str, Method] = {
    OURS: rounded.FlexiblePartition(),
    WIDEST: rounded.FlexiblePartition("widest"),
    STRICT: Mondrian(median="below"),
    RELAXED: Mondrian(strict=False),
    BOTTOM_UP: BottomUp(nearest="union", split="ends"),
    NEAREST: Mondrian(),
    ROUNDED: BottomUp(),
}
SHOWN = (OURS, WIDEST, *OTHERS)
SLOW = {BOTTOM_UP, ROUNDED}
"""Methods that run once for each k, or for some: their time grows with the square of the rows."""
SETS, ALPHABET = "sets", "alphabet"
FORMS = {SETS: "values by rarity", ALPHABET: "values by alphabet"}
"""The order of a column's values and the form of its labels, which the paper leaves open."""
DIMENSIONS = {OURS: "least loss", WIDEST: "widest column"}
ACCEPTABLE = 10
"""A method may take this many times as long as strict Mondrian and still be called acceptable."""


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    rows: int
    ks: tuple[int, ...]
    slow_ks: tuple[int, ...]
    """Of these, the k of bottom-up."""
    repeats: int


KS = (2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
FULL = Sizes(TRAINING_ROWS, KS, KS, 5)
QUICK = Sizes(6_007, (2, 5, 10, 25, 50), (2, 10, 50), 3)


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
    """All points, by form, method and k."""

    rows: int
    ks: tuple[int, ...]
    points: dict[tuple[str, str, int], Point] = field(default_factory=dict)

    def line(self, name: str, quantity: str, form: str = SETS) -> dict[int, float]:
        """One quantity of a method by k, as far as it was run."""
        return {
            k: float(getattr(self.points[form, name, k], quantity))
            for k in self.ks
            if (form, name, k) in self.points
        }

    def lines(self, names: Sequence[str], quantity: str, form: str = SETS) -> tuple[Line, ...]:
        """One quantity of some methods against k."""
        found = {name: self.line(name, quantity, form) for name in names}
        return tuple(Line(name, tuple(by), tuple(by.values())) for name, by in found.items())


class FlexiblePartition(Experiment):
    """Groups, DM, CM and time against k, for the rounded partition and three other methods."""

    name = "flexible-partition"
    title = "Rounded partition: no more rows in a group than there must be"
    source = (
        "The paper that introduces k-anonymity by a rounded partition function "
        "(“flexible partition”), Theorems 1 and 2 and Fig. 5"
    )
    minutes = 5.0

    def run(self, adult: "pa.Table | None", quick: bool, progress: StepProgress) -> Findings:
        """Run the paper's experiments on Adult, or on a table like it."""
        assert adult is not None
        return self.run_on(adult, QUICK if quick else FULL, progress)

    def run_on(self, adult: "pa.Table", sizes: Sizes, progress: StepProgress) -> Findings:
        """Run them at these sizes."""
        found = Measurements(min(adult.num_rows, sizes.rows), sizes.ks)
        for form in FORMS:
            for method in METHODS.values():  # compiles
                _measure(_cells(adult.slice(0, 200), form), method, 5, 1)
            cells = _cells(adult.slice(0, sizes.rows), form)
            shown = METHODS if form == SETS else SHOWN
            settings = [
                (name, k)
                for k in sizes.ks
                for name in shown
                if name not in SLOW or k in sizes.slow_ks
            ]
            for i, (name, k) in enumerate(settings):
                progress(f"{form}, k = {k}", i / len(settings))
                repeats = 1 if name in SLOW else sizes.repeats
                found.points[form, name, k] = _measure(cells, METHODS[name], k, repeats)
        notes = (
            f"{found.rows:,} rows, the first complete ones; 8 quasi-identifiers; the class for CM is "
            "the salary.",
            "Which values of k the paper took is not known to us, since the axes of its figures are "
            "lost; these are ours.",
            "The paper puts the values of every column in some order and lets a cut lie along any "
            "column. Four settings are run: values as sets, ordered from rare to common, or as ranges "
            "in alphabetical order (ages by number in both), and the cut that loses least or the widest "
            f"column, as Mondrian does (“{WIDEST}”). Figures show the first order.",
            "The other methods are run as they were published: strict Mondrian puts rows with the "
            "median itself below the cut; bottom-up merges with the group that makes the union of least "
            "NCP and, since the text of that paper (Xu et al., 2006) was not at hand, splits a large "
            "group as its top-down method does, from the two farthest rows. Our own forms stand beside "
            "them: "
            f"“{NEAREST}” cuts at the value boundary nearest to the median, “{ROUNDED}” merges by the "
            "growth of NCP and splits by rounded cuts, which are this paper's own idea.",
            "Groups are those formed: some may get the same label and are then one class in the "
            "release.",
            "Time is that of the processor, over all threads, without reading and writing, the "
            f"fastest of {sizes.repeats} runs. Bottom-up takes time with the square of the different "
            f"rows, and refuses more than 200,000 of them; it runs once for {len(sizes.slow_ks)} of the "
            f"{len(sizes.ks)} k.",
        )
        return Findings(judge(found), figures(found), notes)


def _cells(table: "pa.Table", form: str) -> Cells:
    quasi = {
        name: ColumnSpec(kind="ordered")
        if name == "age"
        else ColumnSpec(kind="unordered")
        if form == SETS
        else ColumnSpec(kind="ordered", order=tuple(sorted(table[name].unique().to_pylist())))
        for name in QUASI
    }
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
                found.lines(SHOWN, quantity),
                log=log,
            )
            for quantity, letter, title, label, log in parts
        ),
        *(
            Figure(
                f"{quantity}-rules",
                f"{title}: as published, and in our form",
                f"Beside Fig. 5 ({letter})",
                "k",
                label,
                found.lines((OURS, STRICT, NEAREST, BOTTOM_UP, ROUNDED), quantity),
                log=log,
            )
            for quantity, letter, title, label, log in parts[:3]
        ),
        Figure(
            "cm-alphabet",
            "CM against k, values in alphabetical order",
            "Fig. 5 (b) in another order of values",
            "k",
            "CM",
            found.lines(SHOWN, "cm", ALPHABET),
        ),
        Figure(
            "largest-group",
            "The largest group against k, beside the bound",
            "Not in the paper, which proves the bound (Theorem 2)",
            "k",
            "rows",
            (
                *found.lines((OURS, RELAXED), "largest"),
                *lines_of(
                    found.ks,
                    {
                        "Theorem 2's bound": [float(bound(found.rows, k)) for k in found.ks],
                        "2k − 1": [2.0 * k - 1 for k in found.ks],
                    },
                ),
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
    others = "strict Mondrian, relaxed Mondrian and bottom-up for every k"
    return (
        _judge_groups(found),
        _judge_bound(found),
        _judge_lead(found, f"Its DM is below that of {others}", "dm", lt, OTHERS),
        *(
            _judge_lead(found, f"Its CM is below that of {name} for every k", "cm", lt, (name,))
            for name in OTHERS
        ),
        _judge_lead(found, f"It makes more groups than {others}", "groups", gt, OTHERS),
        _judge_time(found),
    )


def _judge_groups(found: Measurements) -> Claim:
    groups = {k: {p.groups for p in _ours(found, k)} for k in found.ks}
    right = [k for k in found.ks if groups[k] == {found.rows // k}]
    k = found.ks[0]
    return judged(
        "It makes exactly ⌊n/k⌋ groups (Theorem 1)",
        len(right) == len(found.ks),
        f"at k = {k}: {found.points[SETS, OURS, k].groups:,} of {found.rows // k:,}",
        f"True for {len(right)} of {len(found.ks)} values of k, in all four settings.",
        f"True for {len(right)} of {len(found.ks)} values of k only.",
    )


def _ours(found: Measurements, k: int) -> list[Point]:
    """The rounded partition in all settings."""
    return [found.points[form, name, k] for form in FORMS for name in DIMENSIONS]


def _judge_bound(found: Measurements) -> Claim:
    largest = {k: max(point.largest for point in _ours(found, k)) for k in found.ks}
    over = [k for k, rows in largest.items() if rows > bound(found.rows, k)]
    most = max(rows - k for k, rows in largest.items())
    close = [k for k in found.ks if found.rows >= 2 * k * k]
    return judged(
        "No group exceeds k + ⌈β/2^x⌉ rows (Theorem 2), nor k + 1 where n ≥ 2k² (its corollary)",
        not over and all(largest[k] <= k + 1 for k in close),
        f"at most k + {most} rows for every k",
        "No group is above the bound in any of the four settings.",
        f"Some group is above the bound{f' at k = {_listed(over)}' if over else ''}.",
    )


def _judge_lead(
    found: Measurements,
    text: str,
    quantity: str,
    better: Callable[[float, float], bool],
    others: Sequence[str],
) -> Claim:
    """Whether it leads some others for every k, in each of the four settings."""
    held: dict[str, bool] = {}
    parts: dict[str, list[tuple[float, bool]]] = {}
    for form, order in FORMS.items():
        for name, dimension in DIMENSIONS.items():
            setting = f"{order} and {dimension}"
            for other in others:
                ours = found.line(name, quantity, form)
                pairs = [(ours[k], b) for k, b in found.line(other, quantity, form).items()]
                led = [(b / a if a else 1.0, better(a, b)) for a, b in pairs]
                held[setting] = held.get(setting, True) and all(leads for _, leads in led)
                parts.setdefault(setting if len(others) == 1 else other, []).extend(led)
    figures = [
        f"{what}: {between([ratio for ratio, _ in led])} times ours, as claimed at "
        f"{sum(leads for _, leads in led)} of {len(led)} points"
        for what, led in parts.items()
    ]
    return judged_over(text, held, "; ".join(figures), "the order of values and the column to cut")


def _judge_time(found: Measurements) -> Claim:
    seconds = {name: found.line(name, "seconds") for name in (OURS, STRICT, BOTTOM_UP)}
    ours, strict, slow = (list(line.values()) for line in seconds.values())
    ratios = [a / b for a, b in zip(ours, strict, strict=True)]
    return judged(
        f"Its time is acceptable (we ask: at most {ACCEPTABLE} times that of strict Mondrian)",
        max(ratios) <= ACCEPTABLE,
        f"{min(ours):.2f} to {max(ours):.2f} s, {between(ratios)} times strict Mondrian; "
        f"bottom-up {min(slow):.1f} to {max(slow):.1f} s",
        f"It takes at most {max(ratios):.1f} times as long as strict Mondrian.",
    )


def _listed(ks: list[int]) -> str:
    return listed(map(str, ks))
