"""Average class size."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Additive, Node, Parts, Sums, Whole


@dataclass(frozen=True)
class AverageClassSize(Additive):
    """AECS: rows per class that a reader can tell apart; low is good, but not below k.

    N / (published classes + 1 if anything was suppressed): the suppressed rows are a class too.
    Groups that got the same labels are one class; `mean-group` counts them apart.

    Source: LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006, there
    divided by k; with the suppressed rows as in the ARX tool.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def sums(self, parts: Parts) -> Sums:
        """Suppressed rows."""
        return {"suppressed": int(parts.suppressed.sum())}

    def figure(self, sums: Sums, whole: Whole) -> float | None:
        """The mean over all rows of the table; None where the classes were not counted."""
        if whole.published_classes is None:
            return None
        return whole.n_rows / (whole.published_classes + bool(sums["suppressed"]))

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return node.cells.n_rows / (len(node.sizes) + bool(node.suppressed_rows))
