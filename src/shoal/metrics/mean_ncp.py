"""Normalised certainty penalty of the average cell."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Additive, Node, Parts, Sums, Whole
from shoal.metrics.ncp import Ncp


@dataclass(frozen=True)
class MeanNcp(Additive):
    """Mean NCP ("GCP"): NCP of the average cell; 0 is the raw table, 1 is nothing left.

    Source: Ghinita et al., "Fast data anonymization with low information loss", 2007.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def sums(self, parts: Parts) -> Sums:
        """Those of NCP."""
        return Ncp().sums(parts)

    def figure(self, sums: Sums, whole: Whole) -> float:
        """NCP over rows times the columns it counts."""
        columns = len(whole.domains) + len(whole.raised)
        return Ncp().figure(sums, whole) / (whole.n_rows * columns)

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return Ncp().of_node(node) / (node.cells.n_rows * len(node.levels))
