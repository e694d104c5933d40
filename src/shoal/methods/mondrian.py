"""Mondrian: cut the widest column in the middle while both halves hold."""

from pydantic.dataclasses import dataclass

from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.methods.base import Progress
from shoal.models.requirement import Requirement


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
        from shoal.methods._cutting import partition
        from shoal.methods._median import RelaxedMedian, StrictMedian

        chooser = StrictMedian if self.strict else RelaxedMedian
        return (partition(cells, requirement, chooser, progress, along_all=False),)
