"""Non-uniform entropy as a share of all bits."""

from dataclasses import dataclass

from shoal.metrics._bits import column_bits
from shoal.metrics.base import Parts


@dataclass(frozen=True)
class RelativeNonUniformEntropy:
    """Non-uniform entropy over that of a wholly suppressed table; 0 is the raw table, 1 nothing left.

    Source: Gionis and Tassa, "k-Anonymization with minimal loss of information", 2009.
    """

    def measure(self, parts: Parts) -> float:
        """The share; 0 where no column tells rows apart."""
        bits = column_bits(parts).values()
        most = sum(all_bits for _, all_bits in bits)
        return sum(lost for lost, _ in bits) / most if most else 0.0
