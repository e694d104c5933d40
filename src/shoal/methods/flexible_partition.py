"""Rounded ("flexible") partition: exactly ⌊n/k⌋ groups, none larger than it must be."""

from typing import Literal

from pydantic.dataclasses import dataclass

from shoal.methods.partition import (
    LEAST_LOSS_ROUNDED,
    WIDEST_ROUNDED,
    PartitionMethod,
    PartitionRule,
)


@dataclass(frozen=True)
class FlexiblePartition(PartitionMethod):
    """Rounded partition: cuts that never waste a group, so groups are provably small.

    A group of n = ak + b rows is cut into ⌈a/2⌉k + ⌈b/2⌉ rows below and the rest above; rows equal
    to the cut value go to either side. With k as the only requirement this gives exactly ⌊n/k⌋
    groups, and none above k + 1 rows once n ≥ 2k². A cut that breaks another model is not taken.

    Source: the paper that introduces k-anonymity by a rounded partition function, Theorems 1 and 2. It
    leaves the dimension open; `dimension` is ours.
    """

    dimension: Literal["least-loss", "widest"] = "least-loss"
    """Which column to cut: the one whose two sides lose least, or the widest (faster)."""

    def partition_rule(self) -> PartitionRule:
        """Rounded cuts along the chosen dimension (the rounding itself is `partition.rows_below`)."""
        return LEAST_LOSS_ROUNDED if self.dimension == "least-loss" else WIDEST_ROUNDED
