"""Classification metric."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.metrics.base import Parts


@dataclass(frozen=True)
class Cm:
    """CM: rows whose class (the policy's `target`) is not their group's most common one; low is good.

    Suppressed rows count too, since nothing can be learned from them.

    Source: Iyengar, "Transforming data to satisfy privacy constraints", 2002.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def measure(self, parts: Parts) -> float | None:
        """Rows out of line, or None without a target; needs groups over all columns."""
        if parts.target is None or len(parts.groupings) != 1:
            return None
        group = parts.groupings[0].group
        kept = group >= 0
        classes = int(parts.target.max()) + 1
        pairs, counts = np.unique(
            group[kept].astype(np.int64) * classes + parts.target[kept], return_counts=True
        )
        largest = np.zeros(parts.groupings[0].n_groups, np.int64)
        np.maximum.at(largest, pairs // classes, counts)
        return float(parts.cells.n_rows - largest.sum())
