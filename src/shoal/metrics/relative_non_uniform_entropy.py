"""Non-uniform entropy as a share of all bits."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics._bits import column_bits, node_bits
from shoal.metrics.base import Node, Parts


@dataclass(frozen=True)
class RelativeNonUniformEntropy:
    """Non-uniform entropy over that of a wholly suppressed table; 0 is the raw table, 1 nothing left.

    Source: Gionis and Tassa, "k-Anonymization with minimal loss of information", 2009.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def measure(self, parts: Parts) -> float:
        """The share; 0 where no column tells rows apart."""
        return _share(column_bits(parts).values())

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return _share(node_bits(node))


def _share(bits: Collection[tuple[float, float]]) -> float:
    most = sum(held for _, held in bits)
    return sum(lost for lost, _ in bits) / most if most else 0.0
