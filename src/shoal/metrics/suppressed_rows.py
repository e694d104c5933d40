"""Rows left out."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Additive, Node, Parts, Sums, Whole


@dataclass(frozen=True)
class SuppressedRows(Additive):
    """Rows withheld from the release, or starred in every column."""

    high_is_good: ClassVar[bool] = False

    def sums(self, parts: Parts) -> Sums:
        """Suppressed rows."""
        return {"suppressed": int(parts.suppressed.sum())}

    def figure(self, sums: Sums, whole: Whole) -> float:  # noqa: ARG002 - the sum is all
        """The number."""
        return float(sums["suppressed"])

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float(node.suppressed_rows)
