"""Rows left out."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Node, Parts


@dataclass(frozen=True)
class SuppressedRows:
    """Rows withheld from the release, or starred in every column."""

    high_is_good: ClassVar[bool] = False

    def measure(self, parts: Parts) -> float:
        """The number."""
        return float(parts.suppressed.sum())

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float(node.suppressed_rows)
