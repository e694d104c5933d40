"""How often each sensitive value occurs in each group: all that a model may ask about."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:  # importing it would load pyarrow, which a policy can do without
    from shoal.cells.domain import Domain


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
    domain: "Domain | None" = None
    """What the codes mean: their texts, order, hierarchy and levels; None where only sizes count."""
    totals: npt.NDArray[np.int64] | None = None
    """(domain.size,) rows of the whole table with each value, 0 for the missing one: what models that
    compare a group with everybody compare it with."""

    @property
    def n_groups(self) -> int:
        """Number of groups asked about."""
        return len(self.sizes)

    def distinct(self) -> npt.NDArray[np.int64]:
        """(g,) how many different values each group holds."""
        return np.diff(self.starts)
