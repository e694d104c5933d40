"""Clustering where the rows are: a block is a fragment, grouped as on one machine."""

from dataclasses import dataclass, replace
from typing import Any

from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.methods._blocks import block_seed
from shoal.methods._cutting import Totals
from shoal.models.requirement import Requirement


@dataclass(frozen=True)
class InBlock:
    """Groups a block by a method that has `block_rows`, with a seed from the block alone."""

    method: Any
    requirement: Requirement
    seed: int

    def __call__(self, cells: Cells, depth: int, totals: Totals) -> Grouping:  # noqa: ARG002
        """As if the block were the table."""
        alone = replace(self.method, block_rows=None)
        seed = block_seed(cells, self.seed)
        found: tuple[Grouping, ...] = alone.group(cells, self.requirement, seed, _nobody)
        return found[0]


def _nobody(_: float) -> None:
    """Watches nothing."""
