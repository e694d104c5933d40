"""Normalised certainty penalty of the average cell."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Node, Parts
from shoal.metrics.ncp import Ncp


@dataclass(frozen=True)
class MeanNcp:
    """Mean NCP ("GCP"): NCP of the average cell; 0 is the raw table, 1 is nothing left.

    Source: Ghinita et al., "Fast data anonymization with low information loss", 2007.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def measure(self, parts: Parts) -> float:
        """NCP over rows times the columns it counts."""
        columns = len(parts.cells.domains) + len(parts.raised)
        return Ncp().measure(parts) / (parts.cells.n_rows * columns)

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return Ncp().of_node(node) / (node.cells.n_rows * len(node.levels))
