"""How often each sensitive value occurs in each group: all that a model may ask about."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Counts:
    """Histograms of many groups at once, without the zeros."""

    sizes: npt.NDArray[np.int64]
    """(g,) rows of each group."""
    starts: npt.NDArray[np.int64]
    """(g + 1,) group i has the entries starts[i]..starts[i+1] of the next two arrays."""
    values: npt.NDArray[np.int32]
    """(entries,) a sensitive code; ascending inside a group, each at most once. A missing value has
    no entry: it counts as a row, never as a value."""
    counts: npt.NDArray[np.int64]
    """(entries,) how often it occurs; always above 0."""

    @property
    def n_groups(self) -> int:
        """Number of groups asked about."""
        return len(self.sizes)

    def distinct(self) -> npt.NDArray[np.int64]:
        """(g,) how many different values each group holds."""
        return np.diff(self.starts)
