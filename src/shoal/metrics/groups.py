"""Number of groups."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Node, Parts


@dataclass(frozen=True)
class Groups:
    """Groups formed; more and smaller groups keep more detail."""

    high_is_good: ClassVar[bool] = True
    only_worsens: ClassVar[bool] = True

    def measure(self, parts: Parts) -> float:
        """The number, over all groupings."""
        return float(len(parts.sizes))

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float(len(node.sizes))
