"""Mean group size."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Node, Parts


@dataclass(frozen=True)
class MeanGroup:
    """Rows of the average group formed; the closer to k the better."""

    high_is_good: ClassVar[bool] = False

    def measure(self, parts: Parts) -> float:
        """The mean; 0 where every row is suppressed."""
        return float(parts.sizes.mean()) if len(parts.sizes) else 0.0

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float(node.sizes.mean()) if len(node.sizes) else 0.0
