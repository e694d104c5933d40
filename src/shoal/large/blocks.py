"""Clustering where the rows are: the blocks of a fragment, made and grouped as on one machine."""

from dataclasses import dataclass
from typing import Any

from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.methods._cutting import Totals
from shoal.models.requirement import Requirement


@dataclass(frozen=True)
class InBlocks:
    """Groups a fragment by a method that has `block_rows`.

    The top cuts are those that the method itself makes to get its blocks, so what is left of them can
    be done with the rows of a fragment alone; a block's seed comes from the block.
    """

    method: Any
    requirement: Requirement
    seed: int

    def __call__(self, cells: Cells, depth: int, totals: Totals) -> Grouping:  # noqa: ARG002
        """As if the fragment were the table."""
        found: tuple[Grouping, ...] = self.method.group(
            cells, self.requirement, self.seed, lambda _: None
        )
        return found[0]
