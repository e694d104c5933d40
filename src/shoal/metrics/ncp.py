"""Normalised certainty penalty, summed over the table."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics._losses import column_losses, node_losses
from shoal.metrics.base import Node, Parts


@dataclass(frozen=True)
class Ncp:
    """NCP: how much of every value's certainty is lost, summed over rows and columns; 0 is best.

    A range costs its width over the column's width, a set or a hierarchy node its share of all
    values, a suppressed cell 1. Columns are the quasi-identifiers and the sensitive columns with a
    `preference`, in which a raised value costs its share of all values.

    Source: Xu et al., "Utility-based anonymization using local recoding", 2006.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def measure(self, parts: Parts) -> float:
        """The sum."""
        return sum(column_losses(parts).values())

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return sum(node_losses(node))
