"""The evidence of a run, from which a report is made: shares and counts, never a row.

A value is named only where at least `COMMON` rows of the input share it.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # a release can be imported without pyarrow
    import pyarrow as pa

    from shoal.evidence.people import PeopleSizes
from itertools import count, pairwise

import numpy as np
import numpy.typing as npt

Histogram = tuple[tuple[int, int], ...]
"""Sizes of classes with how many classes have each, ascending."""
FIRST = (1, 2, 5)
"""Bins begin here, then at 10, 20, 50, 100 and so on."""


@dataclass(frozen=True)
class Bar:
    """A value, or several counted together."""

    label: str
    before: float
    """Its share of the input rows."""
    after: float
    """Its share of the rows published in the column, as a reader would guess: the rows under a wider
    label are spread evenly over the values it covers."""


@dataclass(frozen=True)
class Generality:
    """How general some cells of a column were published."""

    label: str
    share: float
    """Of all input rows."""


@dataclass(frozen=True)
class ColumnEvidence:
    """The evidence of one column."""

    kind: Literal["ordered", "unordered", "hierarchy", "sensitive"]
    loss: float | None
    """Mean NCP; None where nothing was measured."""
    distribution: tuple[Bar, ...] = ()
    generality: tuple[Generality, ...] = ()
    """From the finest to the coarsest; suppressed cells last."""
    lumped: int = 0
    """Distinct values counted together as "others", because they are rare or too many."""


@dataclass(frozen=True)
class Dominance:
    """The most frequent value of a sensitive column."""

    label: str | None
    """None where too few rows share it to name it."""
    share: float
    """Of all input rows; where people are counted in memory, of the people, who have it in at least
    one row."""
    people: bool = False
    """Whether the share is one of people."""


@dataclass(frozen=True)
class Evidence:
    """What a report shows of a run, besides the release itself."""

    columns: dict[str, ColumnEvidence] = field(default_factory=dict)
    """The quasi-identifiers in the policy's order, then the sensitive columns."""
    before: Histogram = ()
    """The classes of the raw quasi-identifiers."""
    after: Histogram = ()
    """The classes that a reader of the release can tell apart."""
    schema_digest: str = ""
    """A hash of the input's column names, and of the types of those that were read."""
    input_columns: tuple[str, ...] = ()
    dominant: dict[str, Dominance] = field(default_factory=dict)
    """Per sensitive column with any values."""
    common: "dict[str, pa.Array]" = field(default_factory=dict)
    """Per quasi-identifier published as ranges or sets, the values that may be named."""
    people_before: "PeopleSizes | None" = None
    """Where people are counted: the classes of the raw quasi-identifiers."""
    people_after: "PeopleSizes | None" = None
    """Where people are counted: the classes that a reader of the release can tell apart."""


@dataclass(frozen=True)
class Sizes:
    """Classes of about one size."""

    low: int
    high: int
    classes: int
    rows: int


def histogram(sizes: npt.NDArray[np.integer]) -> Histogram:
    """How many classes have each size."""
    classes = np.bincount(sizes) if len(sizes) else np.zeros(0, np.int64)
    return tuple((int(size), int(classes[size])) for size in np.flatnonzero(classes))


def binned(found: Histogram, largest: int) -> tuple[Sizes, ...]:
    """The histogram in bins that grow, empty ones too, up to the one that holds `largest`."""
    bins = []
    for power in count():
        edges = [10**power * first for first in (*FIRST, 10)]
        for low, after in pairwise(edges):
            inside = [(size, classes) for size, classes in found if low <= size < after]
            rows = sum(size * classes for size, classes in inside)
            bins.append(Sizes(low, after - 1, sum(classes for _, classes in inside), rows))
            if after > largest:
                return tuple(bins)
    raise AssertionError  # the loop always returns
