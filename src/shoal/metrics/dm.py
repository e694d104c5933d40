"""Discernibility metric."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Node, Parts


@dataclass(frozen=True)
class Dm:
    """DM: each row costs the size of its group, a suppressed row the size of the table; low is good.

    Source: Bayardo and Agrawal, "Data privacy through optimal k-anonymization", 2005.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def measure(self, parts: Parts) -> float:
        """The sum of squared group sizes, over all groupings, and n per suppressed row."""
        n = parts.cells.n_rows
        return float(sum((s.sizes**2).sum() + (n - s.sizes.sum()) * n for s in parts.spans))

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float((node.sizes**2).sum() + node.suppressed_rows * node.cells.n_rows)
