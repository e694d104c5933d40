"""Loss of generalisation, counted in values."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Additive, Node, Parts, Sums, Whole
from shoal.metrics.losses import column_widths, node_loss, weighted_loss


@dataclass(frozen=True)
class Loss(Additive):
    """L: how many values each label stands for, summed over all cells that changed; low is good.

    A cell published as it was costs 0. An interval [a~b] costs b - a + 1, a set its number of values,
    a hierarchy node its leaves. Whole numbers count as they are, dates in days; decimals, times and
    ordered labels by rank among the column's values. A suppressed cell, or a range of missing and
    other values, costs the whole column. A column counts as often as the method's `weights` say, if
    it has them.

    Source: the loss that L-clustering minimises.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def sums(self, parts: Parts) -> Sums:
        """The widths of each column's labels."""
        return column_widths(parts)

    def figure(self, sums: Sums, whole: Whole) -> float:
        """The sum, columns weighed."""
        return weighted_loss(sums, whole.weights)

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return node_loss(node)
