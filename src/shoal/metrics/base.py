"""What a metric is and what it sees."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

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
    raised: Mapping[str, npt.NDArray[np.integer]] = field(default_factory=dict)
    """Per sensitive column in which people's wishes count, (n_rows,) the level of its tree at which
    each canonical row is published, 0 being the value itself."""

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows of every group formed, over all groupings."""
        return np.concatenate([span.sizes for span in self.spans])


class Metric(Protocol):
    """What one file in `metrics/` offers."""

    def measure(self, parts: Parts) -> float | None:
        """The figure, or None where it does not apply."""
