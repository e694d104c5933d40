"""Size of the largest group."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import MOST, Additive, Node, Parts, Sums, Whole


@dataclass(frozen=True)
class LargestGroup(Additive):
    """Rows of the largest group formed."""

    high_is_good: ClassVar[bool] = False

    def sums(self, parts: Parts) -> Sums:
        """The largest size."""
        return {f"{MOST}rows": int(parts.sizes.max(initial=0))}

    def figure(self, sums: Sums, whole: Whole) -> float:  # noqa: ARG002 - the largest is all
        """The size; 0 where every row is suppressed."""
        return float(sums[f"{MOST}rows"])

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float(node.sizes.max(initial=0))
