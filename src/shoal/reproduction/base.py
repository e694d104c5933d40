"""What an experiment is, and what it finds."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


Progress = Callable[[str, float], None]
"""Told what is being done, and the share that is done."""


@dataclass(frozen=True)
class Claim:
    """What a paper says, and what we found."""

    text: str
    """The claim, in our words."""
    held: bool | None
    """None where our run cannot tell."""
    found: str
    """Our figures, in a short sentence."""

    @property
    def outcome(self) -> str:
        """`held`, `did not hold` or `cannot tell`."""
        return WORDS[self.held]


WORDS = {True: "held", False: "did not hold", None: "cannot tell"}
"""What became of a claim."""


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
    """Whether the upright axis is logarithmic."""


@dataclass(frozen=True)
class Result:
    """All that one run found."""

    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()
    """What a reader must know to judge the figures."""


@dataclass(frozen=True)
class Reproduction:
    """What was found, and when, where and on which data."""

    name: str
    title: str
    source: str
    data: str
    """Which table it was, in a sentence."""
    quick: bool
    seconds: float
    made: str
    """The day."""
    machine: str
    versions: dict[str, str]
    """Of Shoal, Python and what computes."""
    result: Result

    @property
    def held(self) -> dict[str, int]:
        """How many claims `held`, `did not hold`, and of how many one `cannot tell`."""
        every = [WORDS[claim.held] for claim in self.result.claims]
        return {word: every.count(word) for word in WORDS.values()}

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        found = asdict(self)
        result: dict[str, Any] = found.pop("result")
        return found | result


class Experiment(Protocol):
    """What one file in `reproduction/` offers, named after the method: `l_clustering.py` holds the
    class `LClustering`, made without arguments. Files that start with `_` are for all of them."""

    title: str
    source: str
    """The paper."""
    uses_adult: bool
    minutes: float
    """About how long the full run takes on two cores."""

    def run(self, adult: "pa.Table | None", quick: bool, progress: Progress) -> Result:
        """Run the paper's experiments; `quick` on less, for about a minute."""
