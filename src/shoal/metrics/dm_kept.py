"""Discernibility metric of the kept rows."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Additive, Node, Parts, Sums, Whole


@dataclass(frozen=True)
class DmKept(Additive):
    """DM of the kept rows alone: each costs the size of its group, suppressed ones nothing; low is good.

    Read it beside `suppressed-rows`: suppressing everything would make it 0.

    Source: Bayardo and Agrawal, "Data privacy through optimal k-anonymization", 2005, without the
    penalty for suppressed rows (called C_DM* in later work).
    """

    high_is_good: ClassVar[bool] = False

    def sums(self, parts: Parts) -> Sums:
        """Squared group sizes, over all groupings."""
        return {"squares": sum(int((span.sizes**2).sum()) for span in parts.spans)}

    def figure(self, sums: Sums, whole: Whole) -> float:  # noqa: ARG002 - the sum is all
        """The sum of squared group sizes."""
        return float(sums["squares"])

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float((node.sizes**2).sum())
