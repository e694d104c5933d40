"""What an experiment is, and what it finds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

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


class Experiment(Protocol):
    """What one file in `reproduction/` offers, named after the method."""

    title: str
    source: str
    """The paper."""
    uses_adult: bool
    minutes: float
    """About how long the full run takes on two cores."""

    def run(self, adult: pa.Table | None, quick: bool, progress: Progress) -> Result:
        """Run the paper's experiments; `quick` on less, for about a minute."""
