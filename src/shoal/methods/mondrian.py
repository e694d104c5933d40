"""Mondrian: cut the widest column in the middle while both halves hold."""

from typing import TYPE_CHECKING

from pydantic.dataclasses import dataclass

from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.methods.base import Progress
from shoal.models.requirement import Requirement

if TYPE_CHECKING:
    from shoal.methods._cutting import Cutting


@dataclass(frozen=True)
class Mondrian:
    """Mondrian: cut the widest column at its median while both halves hold.

    The field's usual baseline. Where the widest column cannot be cut, the next widest is tried. A
    strict cut lies on the value boundary nearest to the median, so that groups are disjoint boxes.

    Source: LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006.
    """

    strict: bool = True
    """Whether rows with equal values stay on one side; if not, a cut makes two exact halves."""

    def group(
        self,
        cells: Cells,
        requirement: Requirement,
        seed: int,  # noqa: ARG002 - nothing here is random
        progress: Progress,
    ) -> tuple[Grouping, ...]:
        """Groups by median cuts."""
        from shoal.methods._cutting import partition_by

        return (partition_by(cells, requirement, self.cutting(), progress),)

    def cutting(self) -> "Cutting":
        """Its rule, also for tables that no memory holds."""
        from shoal.methods._cutting import Cutting
        from shoal.methods._median import RelaxedMedian, StrictMedian, half

        if self.strict:
            return Cutting(lambda _: StrictMedian, along_all=False, below=None)
        return Cutting(lambda _: RelaxedMedian, along_all=False, below=half)
