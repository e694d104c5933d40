"""Discernibility metric of the kept rows."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.metrics.base import Node, Parts


@dataclass(frozen=True)
class DmKept:
    """DM of the kept rows alone: each costs the size of its group, suppressed ones nothing; low is good.

    Read it beside `suppressed-rows`: suppressing everything would make it 0.

    Source: Bayardo and Agrawal, "Data privacy through optimal k-anonymization", 2005, without the
    penalty for suppressed rows (called C_DM* in later work).
    """

    high_is_good: ClassVar[bool] = False

    def measure(self, parts: Parts) -> float:
        """The sum of squared group sizes, over all groupings."""
        return float(sum((s.sizes**2).sum() for s in parts.spans))

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return float((node.sizes**2).sum())
