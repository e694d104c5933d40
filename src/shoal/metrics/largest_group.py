"""Size of the largest group."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Node, Parts


@dataclass(frozen=True)
class LargestGroup:
    """Rows of the largest group formed."""

    high_is_good: ClassVar[bool] = False

    def measure(self, parts: Parts) -> float:
        """The size; 0 where every row is suppressed."""
        return float(parts.sizes.max(initial=0))

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float(node.sizes.max(initial=0))
