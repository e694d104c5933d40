"""What a metric is and what it sees."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

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

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows of every group formed, over all groupings."""
        return np.concatenate([span.sizes for span in self.spans])

    @cached_property
    def rows_of_values(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Per quasi-identifier, (size,) rows of the table that hold each value."""
        counts = self.cells.counts
        return tuple(
            np.bincount(self.cells.codes[:, j], counts, domain.size).astype(np.int64)
            for j, domain in enumerate(self.cells.domains)
        )


class Metric(Protocol):
    """What one file in `metrics/` offers.

    A metric that takes long says `on_request: ClassVar[bool] = True`: it is measured only where the
    policy names it.
    """

    def measure(self, parts: Parts) -> float | None:
        """The figure, or None where it does not apply."""


def is_on_request(metric: Any) -> bool:
    """Whether a metric is measured only where it is asked for."""
    return bool(getattr(metric, "on_request", False))
