"""Mean group size."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Additive, Node, Parts, Sums, Whole


@dataclass(frozen=True)
class MeanGroup(Additive):
    """Rows of the average group formed; the closer to k the better."""

    high_is_good: ClassVar[bool] = False

    def sums(self, parts: Parts) -> Sums:
        """Groups and their rows."""
        return {"groups": len(parts.sizes), "rows": int(parts.sizes.sum())}

    def figure(self, sums: Sums, whole: Whole) -> float:  # noqa: ARG002 - groups are all
        """The mean; 0 where every row is suppressed."""
        return sums["rows"] / sums["groups"] if sums["groups"] else 0.0

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float(node.sizes.mean()) if len(node.sizes) else 0.0
