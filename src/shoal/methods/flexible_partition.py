"""Rounded ("flexible") partition: exactly ⌊n/k⌋ groups, none larger than it must be."""

from typing import TYPE_CHECKING, Literal

from pydantic.dataclasses import dataclass

from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping
from shoal.methods.base import Progress
from shoal.models.requirement import Requirement

if TYPE_CHECKING:
    from shoal.methods.partition import Cutting


@dataclass(frozen=True)
class FlexiblePartition:
    """Rounded partition: cuts that never waste a group, so groups are provably small.

    A group of n = ak + b rows is cut into ⌈a/2⌉k + ⌈b/2⌉ rows below and the rest above; rows equal
    to the cut value go to either side. With k as the only requirement this gives exactly ⌊n/k⌋
    groups, and none above k + 1 rows once n ≥ 2k². A cut that breaks another model is not taken.

    Source: the paper that introduces k-anonymity by a rounded partition function, Theorems 1 and 2. It
    leaves the dimension open; `dimension` is ours.
    """

    dimension: Literal["least-loss", "widest"] = "least-loss"
    """Which column to cut: the one whose two sides lose least, or the widest (faster)."""

    def group(
        self,
        cells: Cells,
        requirement: Requirement,
        seed: int,  # noqa: ARG002 - nothing here is random
        progress: Progress,
    ) -> tuple[Grouping, ...]:
        """Groups by rounded cuts."""
        from shoal.methods.partition import partition_by

        return (partition_by(cells, requirement, self.cutting(), progress),)

    def cutting(self) -> "Cutting":
        """Its rule, also for tables that no memory holds."""
        from shoal.methods.partition import Cutting, LeastLossRounded, WidestRounded, rows_below

        if self.dimension == "least-loss":
            return Cutting(lambda _: LeastLossRounded, True, rows_below, by_loss=True)
        return Cutting(lambda _: WidestRounded, along_all=False, below=rows_below)
