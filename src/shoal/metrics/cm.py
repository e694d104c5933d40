"""Classification metric."""

from typing import ClassVar

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.metrics.base import AdditiveMetric, ReleaseView, Sums, Totals


@dataclass(frozen=True)
class Cm(AdditiveMetric):
    """CM: rows whose class (the policy's `target`) is not their group's most common one; low is good.

    Suppressed rows count too, since nothing can be learned from them.

    Source: Iyengar, "Transforming data to satisfy privacy constraints", 2002.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def sums(self, view: ReleaseView) -> Sums:
        """Rows that have their group's most common class."""
        if view.target is None or len(view.groupings) != 1:
            return {}
        if view.alike is not None:
            return {"common": int(view.alike.with_class().max(initial=0))}
        group = view.groupings[0].group
        kept = group >= 0
        classes = int(view.target.max(initial=0)) + 1
        pairs, counts = np.unique(
            group[kept].astype(np.int64) * classes + view.target[kept], return_counts=True
        )
        largest = np.zeros(view.groupings[0].n_groups, np.int64)
        np.maximum.at(largest, pairs // classes, counts)
        return {"common": int(largest.sum())}

    def figure(self, sums: Sums, totals: Totals) -> float | None:
        """Rows out of line, or None without a target; needs groups over all columns."""
        if not totals.has_target or totals.groupings != 1:
            return None
        return float(totals.n_rows - sums["common"])
