"""Recognition rate: how well a reader who finds a person's group can name their value."""

from typing import ClassVar, Literal

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.arrays import Floats, Ints
from shoal.metrics.base import AdditiveMetric, ReleaseView, Sums, Totals
from shoal.metrics.labels import leaves_under


@dataclass(frozen=True)
class RecognitionRate(AdditiveMetric):
    """Recognition rate (ARR): how likely a guess at a row's sensitive value is right; low is good.

    A row's rate is the share of its group that has its value, over the number of values that what is
    published of it may mean. A group's is the mean over its rows, the table's the mean over groups;
    with several sensitive columns, the mean over these. A missing value is never recognised.

    Source: Cao et al., "Personalized (α,l)-diversity k-anonymity model for privacy preservation",
    2018, Definitions 9 to 11.
    """

    high_is_good: ClassVar[bool] = False

    per: Literal["table", "group", "row"] = "table"
    """`group` also keeps the rate of every group, `row` of every group and row, in
    `release.recognition`."""

    def sums(self, view: ReleaseView) -> Sums:
        """Groups, and per sensitive column the sum of their rates."""
        if len(view.groupings) != 1:
            return {}
        columns = view.cells.sensitive_columns
        rates = {f"of:{name}": float(group_rates(view, name).sum()) for name in columns}
        return {"groups": view.groupings[0].n_groups, **rates}

    def figure(self, sums: Sums, totals: Totals) -> float | None:
        """The rate; None without a sensitive column, without groups, or where columns are treated
        apart."""
        if not totals.sensitive or totals.groupings != 1 or not sums["groups"]:
            return None
        return float(np.mean([sums[f"of:{name}"] / sums["groups"] for name in totals.sensitive]))


def row_rates(view: ReleaseView, column: str, leaves: Ints | None = None) -> Floats:
    """(n_rows,) the rate of each canonical row, 0 where it is suppressed.

    leaves: (n_rows,) how many values each may be; those under what is published if not given.
    """
    (grouping,) = view.groupings
    codes, domain = view.cells.sensitive[column], view.cells.sensitive_domains[column]
    kept = (grouping.group >= 0) & (codes != domain.missing)
    group = grouping.group[kept].astype(np.int64)
    _, place, times = np.unique(
        group * domain.size + codes[kept], return_inverse=True, return_counts=True
    )
    width = leaves_under(view, column) if leaves is None else leaves
    rates = np.zeros(len(codes))
    rates[kept] = times[place] / (view.spans[0].sizes[group] * width[kept])
    return rates


def group_rates(view: ReleaseView, column: str, leaves: Ints | None = None) -> Floats:
    """(n_groups,) the mean rate of each group's rows."""
    (grouping,) = view.groupings
    if view.alike is not None and leaves is None and column not in view.raised:
        domain = view.cells.sensitive_domains[column]
        times = view.alike.with_value(column, domain.size).astype(np.float64)
        if domain.missing >= 0:
            times[domain.missing] = 0
        return np.array([(times**2).sum()]) / view.spans[0].sizes.astype(np.float64) ** 2
    kept = grouping.group >= 0
    rates = row_rates(view, column, leaves)
    total = np.bincount(grouping.group[kept], rates[kept], minlength=grouping.n_groups)
    return total / view.spans[0].sizes
