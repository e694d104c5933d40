"""Number of groups."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Additive, Node, Parts, Sums, Whole


@dataclass(frozen=True)
class Groups(Additive):
    """Groups formed; more and smaller groups keep more detail."""

    high_is_good: ClassVar[bool] = True
    only_worsens: ClassVar[bool] = True

    def sums(self, parts: Parts) -> Sums:
        """Groups, over all groupings."""
        return {"groups": len(parts.sizes)}

    def figure(self, sums: Sums, whole: Whole) -> float:  # noqa: ARG002 - the sum is all
        """The number."""
        return float(sums["groups"])

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float(len(node.sizes))
