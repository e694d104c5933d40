"""Top-down clustering: split from the two ends, then mend groups that break a model."""

from pydantic.dataclasses import dataclass

from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.methods._blocks import BlockRows, check_blocks, in_blocks
from shoal.methods.base import Progress, QuasiColumns, check_feasible
from shoal.models.requirement import Requirement


@dataclass(frozen=True)
class TopDown:
    """Top-down: split from the two farthest rows, each other row joining the side it widens less.

    A group of 2k rows or more is split; a side left with fewer than k takes the nearest rows of the
    other. Groups that break a model are pooled and split afresh; rows still left join the nearest
    group that holds with them, and those that fit nowhere are suppressed.

    Source: Xu et al., "Utility-based anonymization using local recoding", 2006, for the split; Cao et
    al., "Personalized (α,l)-diversity k-anonymity model for privacy preservation", 2018, for the
    rest.
    """

    block_rows: BlockRows = None
    """Rows of a block, about: the method then runs inside blocks of neighbours, faster, for more loss.
    All rows are one block where it is left out."""

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:  # noqa: ARG002
        """Raise what this method cannot honour, before any work."""
        check_blocks("top-down", self.block_rows, requirement)

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """Groups by splitting."""
        from shoal.methods._repair import repaired
        from shoal.methods._splitting import Splitter

        check_feasible(cells, requirement, can_suppress=True)

        def mended(part: Cells, asked: Requirement, its_seed: int, told: Progress) -> Grouping:
            return repaired(part, asked, Splitter(part, told), its_seed)

        return (in_blocks(cells, requirement, self.block_rows, seed, progress, mended),)
