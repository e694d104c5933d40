"""Bottom-up: start from single rows, merge what is too small."""

from pydantic.dataclasses import dataclass

from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.methods.base import Progress
from shoal.models.requirement import Requirement


@dataclass(frozen=True)
class BottomUp:
    """Bottom-up: every row is a group at first; a group that does not hold merges with its nearest.

    The nearest group is the one that makes NCP grow least. After each pass over the groups those of
    2k rows or more are split by rounded cuts. Takes time with the square of the distinct rows: for
    tables of up to some 100,000 of them.

    Source: Xu et al., "Utility-based anonymization using local recoding", 2006. Equal rows start as
    one group: the paper would merge them first anyway, at no cost.
    """

    def group(
        self,
        cells: Cells,
        requirement: Requirement,
        seed: int,  # noqa: ARG002 - nothing here is random
        progress: Progress,
    ) -> tuple[Grouping, ...]:
        """Groups by merging."""
        from shoal.methods._merging import merge_up

        return (merge_up(cells, requirement, progress),)
