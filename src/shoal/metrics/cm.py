"""Classification metric."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.metrics.base import Additive, Parts, Sums, Whole


@dataclass(frozen=True)
class Cm(Additive):
    """CM: rows whose class (the policy's `target`) is not their group's most common one; low is good.

    Suppressed rows count too, since nothing can be learned from them.

    Source: Iyengar, "Transforming data to satisfy privacy constraints", 2002.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def sums(self, parts: Parts) -> Sums:
        """Rows that have their group's most common class."""
        if parts.target is None or len(parts.groupings) != 1:
            return {}
        group = parts.groupings[0].group
        kept = group >= 0
        classes = int(parts.target.max(initial=0)) + 1
        pairs, counts = np.unique(
            group[kept].astype(np.int64) * classes + parts.target[kept], return_counts=True
        )
        largest = np.zeros(parts.groupings[0].n_groups, np.int64)
        np.maximum.at(largest, pairs // classes, counts)
        return {"common": int(largest.sum())}

    def figure(self, sums: Sums, whole: Whole) -> float | None:
        """Rows out of line, or None without a target; needs groups over all columns."""
        if not whole.has_target or whole.groupings != 1:
            return None
        return float(whole.n_rows - sums["common"])
