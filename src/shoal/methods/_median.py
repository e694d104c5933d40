"""Mondrian's two cuts: on the boundary nearest to the median, or through the median itself."""

import numpy as np

from shoal.kernels.costs import Costs
from shoal.kernels.cuts import middle_boundaries
from shoal.kernels.front import Cuts, Front
from shoal.methods._cutting import Ints
from shoal.methods._ranked import Ranked, by_width, cut_at


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
