"""What a metric is and what it sees."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.cells.spans import Spans


@dataclass(frozen=True)
class Parts:
    """A release taken apart."""

    cells: Cells
    groupings: tuple[Grouping, ...]
    spans: tuple[Spans, ...]
    """One per grouping."""
    published_classes: int
    """Different combinations of quasi-identifiers a reader can tell apart."""
    suppressed: npt.NDArray[np.bool_]
    """(n_rows,) canonical rows withheld or starred in every column."""
    target: npt.NDArray[np.int32] | None
    """(n_rows,) the class of each canonical row, where the policy names a target column."""
    weights: Mapping[str, float] | None = None
    """How much each quasi-identifier counts, where the method weighs them; 1 for those not named."""
    formed: npt.NDArray[np.int64] | None = None
    """(groups,) rows of the groups formed, where the quasi-identifiers are published as they are:
    `groupings` are then of rows that are equal, since that is what a reader sees."""
    raised: Mapping[str, npt.NDArray[np.integer]] = field(default_factory=dict)
    """Per sensitive column in which people's wishes count, (n_rows,) the level of its tree at which
    each canonical row is published, 0 being the value itself."""

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows of every group formed, over all groupings."""
        if self.formed is not None:
            return self.formed
        return np.concatenate([span.sizes for span in self.spans])


@dataclass(frozen=True)
class Node:
    """A release in which all rows climbed alike, counted class by class and not row by row."""

    cells: Cells
    levels: tuple[int, ...]
    """(columns,) the level at which each column is published."""
    sizes: npt.NDArray[np.int64]
    """(classes,) rows of each published class."""
    rows_at: Callable[[int], npt.NDArray[np.int64]]
    """Given a column: (nodes of its level,) published rows under each node."""

    @property
    def suppressed_rows(self) -> int:
        """Rows that are not published."""
        return self.cells.n_rows - int(self.sizes.sum())


class Metric(Protocol):
    """What one file in `metrics/` offers.

    A metric that can be told from the classes alone also has `of_node(node) -> float | None`: the
    figure that `measure` gives for the same release, without a look at the rows. A search over many
    nodes is far faster with it; without it each node is taken apart and measured.

    It may also state `only_worsens: ClassVar[bool] = True` where that can be proved: of one table, a
    release with suppressed rows is never better than the same one with these rows, and a release
    whose classes are merged into larger ones, nothing being suppressed, is never better than the one
    before. A search then leaves out what lies above a release that is worse than one it knows.

    A metric that takes long says `on_request: ClassVar[bool] = True`: it is measured only where the
    policy names it.
    """

    high_is_good: ClassVar[bool]
    """Whether the larger of two figures is the better one: what a search for the best goes by."""

    def measure(self, parts: Parts) -> float | None:
        """The figure, or None where it does not apply."""


def is_on_request(metric: Any) -> bool:
    """Whether a metric is measured only where it is asked for."""
    return bool(getattr(metric, "on_request", False))
