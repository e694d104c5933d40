"""Non-uniform entropy as a share of all bits."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Additive, Node, Parts, Sums, Whole
from shoal.metrics.entropy import column_bits, label_bits, node_bits


@dataclass(frozen=True)
class RelativeNonUniformEntropy(Additive):
    """Non-uniform entropy over that of a wholly suppressed table; 0 is the raw table, 1 nothing left.

    Source: Gionis and Tassa, "k-Anonymization with minimal loss of information", 2009.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def sums(self, parts: Parts) -> Sums:
        """The bits under each column's labels."""
        return label_bits(parts)

    def figure(self, sums: Sums, whole: Whole) -> float:
        """The share; 0 where no column tells rows apart."""
        return _share(column_bits(sums, whole))

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return _share(node_bits(node))


def _share(bits: Collection[tuple[float, float]]) -> float:
    most = sum(held for _, held in bits)
    return sum(lost for lost, _ in bits) / most if most else 0.0
