"""General loss: how many of a column's values a label stands for."""

import math
from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic.dataclasses import dataclass

from shoal.metrics.base import AdditiveMetric, Node, ReleaseView, Sums, Totals
from shoal.metrics.labels import leaves_at, values_covered

STEPS = 1000
"""`rank` distinguishes losses to a thousandth, …"""
RANKED = 5
"""… in this many columns: more would not fit into one float."""


@dataclass(frozen=True)
class GeneralLoss(AdditiveMetric):
    """General loss: the share of its column's values that a label covers; 0 is raw, 1 nothing left.

    Per column (sum of shares - N/H) / (N - N/H), for N rows and H values: the share is the leaves
    under a node over the leaves of its hierarchy, or without one the distinct values under a range
    or in a set over all; a suppressed cell has share 1.

    Source: Iyengar, "Transforming data to satisfy privacy constraints", 2002; the geometric mean
    over columns is that of the ARX tool.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    aggregate: Literal["geometric", "mean", "rank"] = "geometric"
    """How the columns' losses v become one figure: `geometric` is the d-th root of the product of
    v + 1, minus 1; `mean` their mean; `rank` lets the worst column decide, then the next worst: the
    five largest, each in thousandths, are the digits of one number from 0 to 1."""

    def sums(self, view: ReleaseView) -> Sums:
        """The values that each column's labels cover."""
        return _covered(view)

    def figure(self, sums: Sums, totals: Totals) -> float:
        """The figure for all columns together."""
        return self._together(_losses(sums, totals).values())

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        n, losses = node.cells.n_rows, []
        for j, (domain, level) in enumerate(zip(node.cells.domains, node.levels, strict=True)):
            values = int((leaves_at(domain, level) * node.rows_at(j)).sum())
            losses.append(_loss(values + node.suppressed_rows * domain.size, n, domain.size))
        return self._together(losses)

    def _together(self, columns: Iterable[float]) -> float:
        losses = sorted(columns, reverse=True)
        if self.aggregate == "mean":
            return sum(losses) / len(losses)
        if self.aggregate == "rank":
            return _ranked(losses)
        return math.prod(loss + 1 for loss in losses) ** (1 / len(losses)) - 1


def _losses(covered: Sums, totals: Totals) -> dict[str, float]:
    sizes = {domain.name: domain.size for domain in totals.domains}
    return {n: _loss(int(values), totals.n_rows, sizes[n]) for n, values in covered.items()}


def _covered(view: ReleaseView) -> Sums:
    """Per column the values under its labels, over all rows; all of them where suppressed."""
    found: Sums = {}
    for grouping, spans in zip(view.groupings, view.spans, strict=True):
        starred = view.cells.n_rows - int(spans.sizes.sum())
        for j, column in enumerate(grouping.columns):
            domain = view.cells.domains[column]
            # times H, so that sums stay whole numbers
            values = int((values_covered(domain, spans, j) * spans.sizes).sum())
            found[domain.name] = values + starred * domain.size
    return found


def _loss(values: int, n: int, size: int) -> float:
    """The loss of a column of `size` values whose n cells cover so many together."""
    return (values - n) / (n * (size - 1)) if size > 1 else 0.0


def _ranked(losses: list[float]) -> float:
    digits = [round(loss * STEPS) for loss in losses[:RANKED]]
    digits += [0] * (RANKED - len(digits))
    number = 0
    for digit in digits:
        number = number * (STEPS + 1) + digit
    return number / ((STEPS + 1) ** RANKED - 1)
