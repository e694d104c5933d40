"""Non-uniform entropy: the bits lost, given how common values are."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Additive, Node, Parts, Sums, Whole
from shoal.metrics.entropy import column_bits, label_bits, node_bits


@dataclass(frozen=True)
class NonUniformEntropy(Additive):
    """Non-uniform entropy: bits that the labels withhold, summed over all cells; 0 is the raw table.

    A cell costs log2(c / r): r rows of the table hold its raw value, c any value under its label. So
    a label that adds only rare values costs little. A suppressed cell covers the whole column: it
    costs log2(N / r), whether or not others are suppressed too.

    Source: De Waal and Willenborg, "Information loss through global recoding and local suppression",
    1999; Gionis and Tassa, "k-Anonymization with minimal loss of information", 2009, whose counts
    over the whole table also fit labels that overlap.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def sums(self, parts: Parts) -> Sums:
        """The bits under each column's labels."""
        return label_bits(parts)

    def figure(self, sums: Sums, whole: Whole) -> float:
        """The sum, in bits."""
        return sum(lost for lost, _ in column_bits(sums, whole))

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return sum(lost for lost, _ in node_bits(node))
