"""Discernibility metric."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Additive, Node, Parts, Sums, Whole


@dataclass(frozen=True)
class Dm(Additive):
    """DM: each row costs the size of its group, a suppressed row the size of the table; low is good.

    Source: Bayardo and Agrawal, "Data privacy through optimal k-anonymization", 2005.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def sums(self, parts: Parts) -> Sums:
        """Squared group sizes and suppressed rows, over all groupings."""
        kept = sum(int(span.sizes.sum()) for span in parts.spans)
        return {
            "squares": sum(int((span.sizes**2).sum()) for span in parts.spans),
            "suppressed": parts.cells.n_rows * len(parts.spans) - kept,
        }

    def figure(self, sums: Sums, whole: Whole) -> float:
        """The sum of squared group sizes, and n per suppressed row."""
        return float(sums["squares"] + sums["suppressed"] * whole.n_rows)

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float((node.sizes**2).sum() + node.suppressed_rows * node.cells.n_rows)
