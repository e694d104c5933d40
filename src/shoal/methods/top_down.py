"""Top-down clustering: split from the two ends, then mend groups that break a model."""

from pydantic.dataclasses import dataclass

from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.methods.base import Progress, check_feasible
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

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """Groups by splitting."""
        from shoal.methods._repair import repaired
        from shoal.methods._splitting import Splitter

        check_feasible(cells, requirement, can_suppress=True)
        split = Splitter(cells, progress)
        return (repaired(cells, requirement, split, seed),)
