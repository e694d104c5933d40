"""A paper's experiments: what they measure, what the paper claims, and how the figures behave.

Light to import: the command line needs some of it before any work.
"""

import math
import statistics
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from shoal.errors import listed
from shoal.results import Record, Result

if TYPE_CHECKING:
    import pyarrow as pa

StepProgress = Callable[[str, float], None]
"""Called with a step and the share of it that is done."""

Verdict = Literal["holds", "does not hold", "depends", "cannot tell"]
VERDICTS: dict[Verdict, str] = {
    "holds": "holds",
    "does not hold": "does not hold",
    "depends": "depends on a setting that the paper does not give",
    "cannot tell": "cannot tell",
}
"""What a claim turned out to be, and the same written out."""
SHORTEST = 0.05
"""Seconds below which fixed costs, not the algorithm, decide how long a run takes."""
SHORT = f"Most of these runs take less than {1000 * SHORTEST:.0f} ms, which is mostly fixed costs."


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, or an expectation of ours, judged by our figures."""

    text: str
    """The claim, in our words."""
    verdict: Verdict
    found: str
    """Our figures, in a short sentence."""
    reason: str
    """Why this is the verdict, in a sentence."""


def judged(
    text: str, held: bool | None, found: str, reason: str, otherwise: str | None = None
) -> Claim:
    """A claim that holds, does not hold, or of which one cannot tell (None).

    otherwise: the reason where it does not hold, unless it is the same.
    """
    if held is None:
        return Claim(text, "cannot tell", found, reason)
    if held:
        return Claim(text, "holds", found, reason)
    return Claim(text, "does not hold", found, reason if otherwise is None else otherwise)


def judged_over(text: str, held: Mapping[str, bool], found: str, setting: str) -> Claim:
    """A claim judged once in each setting that was tried; setting: what the paper leaves open."""
    yes = [name for name, one in held.items() if one]
    no = [name for name, one in held.items() if not one]
    if yes and no:
        reason = f"The paper does not give {setting}: it holds with {'; '.join(yes)}"
        return Claim(text, "depends", found, f"{reason}. It does not with {'; '.join(no)}.")
    count = "none" if no else "all"
    reason = f"It holds in {count} of the {len(held)} settings of {setting} that we tried."
    return Claim(text, "does not hold" if no else "holds", found, reason)


def too_short(seconds: Iterable[float]) -> bool:
    """Whether times are mostly too short to say something of an algorithm."""
    return statistics.median(seconds) < SHORTEST


@dataclass(frozen=True)
class Line:
    """One line of a figure."""

    label: str
    x: tuple[float, ...]
    y: tuple[float | None, ...]
    """None where there is no figure."""


@dataclass(frozen=True)
class Figure:
    """One figure, as a chart and as a table."""

    name: str
    """Of its files: `precision-2-constraints`."""
    title: str
    shows: str
    """Which figure of the paper this is: `Fig. 5`."""
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    kind: Literal["lines", "bars"] = "lines"
    log: bool = False
    """Whether the vertical axis is logarithmic."""


@dataclass(frozen=True)
class Findings:
    """The findings of one run."""

    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()
    """What a reader must know to judge the figures."""


@dataclass(frozen=True, repr=False)
class Reproduction(Result):
    """The findings of a paper's experiments, with when, where and on which data they were made."""

    name: str
    title: str
    source: str
    data: str
    """Which table it was, in a sentence."""
    quick: bool
    seconds: float
    """Of processor time."""
    made: str
    """The day."""
    machine: str
    versions: dict[str, str]
    """Of Shoal, Python and the numerical packages."""
    result: Findings
    is_paper: bool = True
    """Whether the claims are those of a paper; otherwise they are expectations of ours."""

    @property
    def verdicts(self) -> dict[Verdict, int]:
        """How many claims got each verdict."""
        given = [claim.verdict for claim in self.result.claims]
        return {verdict: given.count(verdict) for verdict in VERDICTS}

    def to_dict(self) -> dict[str, Any]:
        """Return the whole result as plain values that JSON can hold."""
        data = asdict(self)
        findings: dict[str, Any] = data.pop("result")
        return data | findings

    def _records(self) -> Sequence[Record]:
        return [
            {
                "claim": claim.text,
                "verdict": claim.verdict,
                "reason": claim.reason,
                "found": claim.found,
            }
            for claim in self.result.claims
        ]

    def _headline(self) -> str:
        counts = ", ".join(
            f"{verdict} {count}" for verdict, count in self.verdicts.items() if count
        )
        return f"{self.name}, {len(self.result.claims)} claims: {counts}"


class Experiment(ABC):
    """The experiments of one paper, in a module of this package."""

    name: ClassVar[str]
    """As the command line knows it: that of the method."""
    title: ClassVar[str]
    source: ClassVar[str]
    """The paper."""
    uses_adult: ClassVar[bool] = True
    adult_columns: ClassVar[tuple[str, ...] | None] = None
    """Columns in which rows of Adult must be complete, of the first of its two parts; None for all
    columns and both parts."""
    is_paper: ClassVar[bool] = True
    """Whether the claims are those of a paper; otherwise they are expectations of ours."""
    minutes: ClassVar[float]
    """About how long the full run takes on two cores."""

    @abstractmethod
    def run(self, adult: "pa.Table | None", quick: bool, progress: StepProgress) -> Findings:
        """Run the paper's experiments; `quick` on less, for about a minute."""


def lines_of(x: Sequence[float], series: Mapping[str, Sequence[float | None]]) -> tuple[Line, ...]:
    """The lines of a figure over the same places, by their labels."""
    return tuple(Line(label, tuple(x), tuple(y)) for label, y in series.items())


def linear_fit(x: Sequence[float], y: Sequence[float]) -> float:
    """How well a straight line fits: r squared; 1 where all are equal."""
    if len(set(y)) < 2 or len(set(x)) < 2:
        return 1.0
    return statistics.correlation(x, y) ** 2


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Of the straight line that fits best."""
    return statistics.linear_regression(x, y).slope


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """The power of x with which y grows, from the first to the last."""
    return math.log(y[-1] / y[0]) / math.log(x[-1] / x[0])


def falls(x: Sequence[float], lines: Mapping[str, Sequence[float]]) -> str:
    """Where which lines fall: `not for ours (2 to 3)`; empty where none does."""
    found = {}
    for name, y in lines.items():
        steps = [f"{x[i]:,g} to {x[i + 1]:,g}" for i, (a, b) in enumerate(pairwise(y)) if b < a]
        if steps:
            found[name] = f"{name} ({listed(steps, 2)})"
    return f"not for {listed(found.values(), 3)}" if found else ""


def between(y: Sequence[float], form: str = ".3g") -> str:
    """`0.12 to 3`, or one figure where they look the same."""
    low, high = format(min(y), form), format(max(y), form)
    return low if low == high else f"{low} to {high}"
