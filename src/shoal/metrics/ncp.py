"""Normalised certainty penalty, summed over the table."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Additive, Node, Parts, Sums, Whole
from shoal.metrics.losses import column_losses, node_losses


@dataclass(frozen=True)
class Ncp(Additive):
    """NCP: how much of every value's certainty is lost, summed over rows and columns; 0 is best.

    A range costs its width over the column's width, a set or a hierarchy node its share of all
    values, a suppressed cell 1. Columns are the quasi-identifiers and the sensitive columns with a
    `preference`, in which a raised value costs its share of all values.

    Source: Xu et al., "Utility-based anonymization using local recoding", 2006.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def sums(self, parts: Parts) -> Sums:
        """The loss of each column."""
        return column_losses(parts)

    def figure(self, sums: Sums, whole: Whole) -> float:  # noqa: ARG002 - the sum is all
        """The sum."""
        return sum(sums.values())

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return sum(node_losses(node))
