"""Mondrian's two cuts: on the boundary nearest to the median, or through the median itself."""

from typing import TYPE_CHECKING

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.arrays import Ints
from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping
from shoal.kernels.costs import Costs
from shoal.kernels.partition import Cuts, Front, middle_boundaries
from shoal.methods.base import Progress
from shoal.methods.partition import Ranked, by_width, cut_at
from shoal.models.requirement import Requirement

if TYPE_CHECKING:
    from shoal.methods.partition import Cutting


def half(rows: Ints, min_rows: int) -> Ints:  # noqa: ARG001 - as every rule is asked
    """Half of the rows, the odd one with them."""
    return rows - rows // 2


class RelaxedMedian(Ranked):
    """Two halves, equal values on both sides; the widest column first."""

    def __init__(self, front: Front, costs: Costs, min_rows: int) -> None:
        super().__init__(front, by_width(front, costs), cut_at(front, half(front.rows, min_rows)))


class StrictMedian(Ranked):
    """Equal values stay together: a strict cut leaves two disjoint boxes; the widest column first."""

    def __init__(self, front: Front, costs: Costs, min_rows: int) -> None:
        def place(groups: Ints, column: Ints) -> Cuts:
            cuts = Cuts(column, np.empty_like(column), np.zeros_like(column))
            middle_boundaries(front, groups, column, min_rows, cuts.pieces)
            return cuts

        super().__init__(front, by_width(front, costs), place)


# Mondrian: cut the widest column in the middle while both halves hold.


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
        from shoal.methods.partition import partition_by

        return (partition_by(cells, requirement, self.cutting(), progress),)

    def cutting(self) -> "Cutting":
        """Its rule, also for tables that no memory holds."""
        from shoal.methods.partition import Cutting

        if self.strict:
            return Cutting(lambda _: StrictMedian, along_all=False, below=None)
        return Cutting(lambda _: RelaxedMedian, along_all=False, below=half)
