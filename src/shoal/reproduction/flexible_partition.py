"""What the experiments on the rounded partition measure."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
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
from shoal.reproduction._adult import TRAINING_ROWS
from shoal.reproduction._timing import timed
from shoal.reproduction.base import Claim, Figure, Line, Progress, Result

if TYPE_CHECKING:
    import pyarrow as pa


OURS, WIDEST = "flexible", "flexible (widest)"
STRICT, RELAXED, BOTTOM_UP = "strict Mondrian", "relaxed Mondrian", "bottom-up"
OTHERS = (STRICT, RELAXED, BOTTOM_UP)
METHODS = (OURS, WIDEST, *OTHERS)


@dataclass(frozen=True)
class Of:
    """One method at one k."""

    groups: int
    largest: int
    """Rows of the largest group."""
    dm: float
    cm: float
    seconds: float


@dataclass
class Found:
    """All of it."""

    rows: int
    ks: tuple[int, ...]
    of: dict[tuple[str, int], Of] = field(default_factory=dict)
    """By method and k."""

    def line(self, name: str, what: str) -> list[float]:
        """One figure of a method against k."""
        return [float(getattr(self.of[name, k], what)) for k in self.ks]


# The figures of the paper on the rounded partition.


PARTS = (
    ("dm", "a", "DM against k", "DM"),
    ("cm", "b", "CM against k", "CM"),
    ("groups", "c", "Groups against k", "groups"),
    ("seconds", "d", "Time against k", "seconds"),
)
LOGARITHMIC = {"groups", "seconds"}
"""What would hide most lines on an even axis."""


def figures(found: Found) -> tuple[Figure, ...]:
    """The four of the paper, and one of its bound."""
    ks = tuple(float(k) for k in found.ks)
    return (
        *(
            Figure(
                "time" if what == "seconds" else what,
                title,
                f"Fig. 5 ({letter})",
                "k",
                label,
                tuple(Line(name, ks, tuple(found.line(name, what))) for name in METHODS),
                log=what in LOGARITHMIC,
            )
            for what, letter, title, label in PARTS
        ),
        Figure(
            "largest-group",
            "The largest group against k, beside the bound",
            "Not in the paper, which proves the bound (Theorem 2)",
            "k",
            "rows",
            (
                *(Line(name, ks, tuple(found.line(name, "largest"))) for name in (OURS, RELAXED)),
                Line("Theorem 2's bound", ks, tuple(float(bound(found.rows, k)) for k in found.ks)),
                Line("2k − 1", ks, tuple(2 * k - 1 for k in ks)),
            ),
        ),
    )


# What the paper on the rounded partition claims, judged by what was measured.


PATIENCE = 10
"""Times as long as strict Mondrian may a method take and still be called acceptable."""


def bound(rows: int, k: int) -> int:
    """The most rows of a group by Theorem 2: k + ⌈β / 2^x⌉ for n = αk + β and x = ⌊log2 α⌋."""
    many, rest = divmod(rows, k)
    halvings = many.bit_length() - 1
    return k + -(-rest // 2**halvings)


def judged(found: Found) -> tuple[Claim, ...]:
    """Every claim, with the figures it was judged by."""
    return (
        _as_many_as_there_can_be(found),
        _bounded(found),
        _compared(found, "Its DM is below that of the three others for every k", "dm", _below),
        _compared(found, "Its CM is below that of the three others for every k", "cm", _below),
        _compared(
            found, "It makes more groups than the three others for every k", "groups", _above
        ),
        _quick_enough(found),
    )


def _as_many_as_there_can_be(found: Found) -> Claim:
    made = {k: {found.of[name, k].groups for name in (OURS, WIDEST)} for k in found.ks}
    right = [k for k in found.ks if made[k] == {found.rows // k}]
    k = found.ks[0]
    return Claim(
        "It makes exactly ⌊n/k⌋ groups (Theorem 1)",
        len(right) == len(found.ks),
        f"for {len(right)} of {len(found.ks)} values of k; at k = {k}: {found.of[OURS, k].groups:,} "
        f"of {found.rows // k:,}",
    )


def _bounded(found: Found) -> Claim:
    largest = {k: max(found.of[name, k].largest for name in (OURS, WIDEST)) for k in found.ks}
    over = [k for k, rows in largest.items() if rows > bound(found.rows, k)]
    apart = max(rows - k for k, rows in largest.items())
    close = [k for k in found.ks if found.rows >= 2 * k * k]
    return Claim(
        "No group exceeds k + ⌈β/2^x⌉ rows (Theorem 2), nor k + 1 where n ≥ 2k² (its corollary)",
        not over and all(largest[k] <= k + 1 for k in close),
        f"at most k + {apart} for every k" + (f"; over at k = {_named(over)}" if over else ""),
    )


def _compared(found: Found, text: str, what: str, better: Callable[[float, float], bool]) -> Claim:
    ours = found.line(OURS, what)
    words = []
    fine = True
    for name in OTHERS:
        theirs = found.line(name, what)
        pairs = list(zip(found.ks, ours, theirs, strict=True))
        lost = [k for k, a, b in pairs if not better(a, b)]
        ratios = [b / a for _, a, b in pairs if a]
        fine &= not lost
        words.append(
            f"{name} {_span(ratios)} times ours" + (f" (not at k = {_named(lost)})" if lost else "")
        )
    return Claim(text, fine, "; ".join(words))


def _span(ratios: list[float]) -> str:
    low, high = (f"{ratio:.3g}" for ratio in (min(ratios), max(ratios)))
    return low if low == high else f"{low} to {high}"


def _quick_enough(found: Found) -> Claim:
    ours, strict = found.line(OURS, "seconds"), found.line(STRICT, "seconds")
    ratios = [a / b for a, b in zip(ours, strict, strict=True)]
    slow = found.line(BOTTOM_UP, "seconds")
    return Claim(
        f"Its time is acceptable (we ask: at most {PATIENCE} times that of strict Mondrian)",
        max(ratios) <= PATIENCE,
        f"{min(ours):.2f} to {max(ours):.2f} s, {_span(ratios)} times strict Mondrian; "
        f"bottom-up {min(slow):.1f} to {max(slow):.1f} s",
    )


def _named(ks: list[int]) -> str:
    return listed(map(str, ks))


def _below(one: float, other: float) -> bool:
    return one < other


def _above(one: float, other: float) -> bool:
    return one > other


# The rounded ("flexible") partition beside Mondrian and bottom-up, on Adult.


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
METHOD_POLICIES: dict[str, Method] = {
    OURS: rounded.FlexiblePartition(),
    WIDEST: rounded.FlexiblePartition("widest"),
    STRICT: Mondrian(),
    RELAXED: Mondrian(strict=False),
    BOTTOM_UP: BottomUp(),
}
SLOW = {BOTTOM_UP}
"""Those that run once for each k: their time grows with the square of the rows."""


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    rows: int
    ks: tuple[int, ...]
    repeats: int


FULL = Sizes(TRAINING_ROWS, (2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50), 7)
QUICK = Sizes(6_007, (2, 5, 10, 25, 50), 3)


class FlexiblePartition:
    """Groups, DM, CM and time against k, for the rounded partition and the three beside it."""

    title = "Rounded partition: no more rows in a group than there must be"
    source = (
        "The paper that introduces k-anonymity by a rounded partition function "
        "(“flexible partition”), Theorems 1 and 2 and Fig. 5"
    )
    uses_adult = True
    minutes = 3.0

    def run(self, adult: "pa.Table | None", quick: bool, progress: Progress) -> Result:
        """Run the paper's experiments on Adult, or on a table like it."""
        assert adult is not None
        return self.run_on(adult, QUICK if quick else FULL, progress)

    def run_on(self, adult: "pa.Table", sizes: Sizes, progress: Progress) -> Result:
        """Run them on so much."""
        cells = _cells(adult.slice(0, sizes.rows))
        for method in METHOD_POLICIES.values():  # compiles
            _measured(_cells(adult.slice(0, 200)), method, 5, 1)
        found = Found(cells.n_rows, sizes.ks)
        points = [(name, k) for k in sizes.ks for name in METHOD_POLICIES]
        for i, (name, k) in enumerate(points):
            progress(f"k = {k}", i / len(points))
            repeats = 1 if name in SLOW else sizes.repeats
            found.of[name, k] = _measured(cells, METHOD_POLICIES[name], k, repeats)
        return Result(judged(found), figures(found), _notes(cells.n_rows, sizes))


def _notes(rows: int, sizes: Sizes) -> tuple[str, ...]:
    return (
        f"{rows:,} rows, the first complete ones; 8 quasi-identifiers, ages as ranges, all else as "
        "sets of values; the class for CM is the salary.",
        "Which values of k the paper took is not known to us, since the axes of its figures are lost; "
        "these are ours.",
        "The paper lets a cut lie along any column. Ours takes the one that loses least; "
        f"“{WIDEST}” takes the widest, as Mondrian does. Claims are judged on the first.",
        "Groups are those formed: some may get the same label and are then one class in the release.",
        f"Time is that of the processor, over all threads, without reading and writing, the fastest "
        f"of {sizes.repeats} runs; {BOTTOM_UP} runs once for each k.",
    )


def _cells(table: "pa.Table") -> Cells:
    quasi = {name: ColumnSpec(kind="ordered" if name == "age" else "unordered") for name in QUASI}
    columns = {name: table[name].combine_chunks() for name in (*QUASI, CLASS)}
    cells = encode(columns.__getitem__, quasi, {}, [CLASS], 0)
    return replace(cells, target=codes_in_order(cells, columns[CLASS]))


def _measured(cells: Cells, method: Method, k: int, repeats: int) -> Of:
    asked = Requirement((K(k),))
    runs = [timed(lambda: method.group(cells, asked, 0, lambda _: None)) for _ in range(repeats)]
    groupings = runs[0][0]
    spans = tuple(spans_of(cells, grouping) for grouping in groupings)
    nothing = np.zeros(cells.n_rows, np.bool_)
    parts = ReleaseView(cells, groupings, spans, 0, nothing, cells.target)
    cm, dm = Cm().measure(parts), Dm().measure(parts)
    assert cm is not None
    assert dm is not None
    return Of(
        groups=len(parts.sizes),
        largest=int(parts.sizes.max()),
        dm=dm,
        cm=cm,
        seconds=min(seconds for _, seconds in runs),
    )
