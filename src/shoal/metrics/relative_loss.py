"""Loss of generalisation beside that of one group."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Additive, Node, Parts, Sums, Whole
from shoal.metrics.losses import column_widths, loss_of_one_group, node_loss, weighted_loss


@dataclass(frozen=True)
class RelativeLoss(Additive):
    """RL: the loss L over that of the same table with all rows in one group; 0 is the raw table.

    1 is as bad as one group. A suppressed cell costs all that a column can hold, so a release with
    many of them may exceed it.

    Source: the measure by which L-clustering is compared with other methods.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def sums(self, parts: Parts) -> Sums:
        """The widths of each column's labels."""
        return column_widths(parts)

    def figure(self, sums: Sums, whole: Whole) -> float | None:
        """The ratio, or None where one group would lose nothing and rows were suppressed."""
        return _ratio(weighted_loss(sums, whole.weights), loss_of_one_group(whole, whole.weights))

    def of_node(self, node: Node) -> float | None:
        """The same, from the classes."""
        return _ratio(node_loss(node), loss_of_one_group(node.cells))


def _ratio(loss: float, most: float) -> float | None:
    if most == 0:
        return 0.0 if loss == 0 else None
    return loss / most
