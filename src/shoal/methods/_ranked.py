"""Try the columns of a group one after another, in a given order."""

from collections.abc import Callable

import numpy as np

from shoal.kernels.costs import Costs
from shoal.kernels.cuts import sized_cuts, widths
from shoal.kernels.front import Cuts, Front, sort_along
from shoal.methods._cutting import Ints
from shoal.threads import share

PlaceCut = Callable[[Ints, Ints], Cuts]
"""Given groups and a column for each: the cut there (pieces -1 where the column has none)."""


class Ranked:
    """Tries the columns by rising rank; equal ranks in the policy's order of columns."""

    def __init__(self, front: Front, ranks: Ints, place: PlaceCut) -> None:
        """`ranks` is (g, d)."""
        self._front = front
        self._columns = np.argsort(ranks, axis=1, kind="stable")
        self._tried = np.zeros(len(ranks), np.int64)
        self._place = place

    def next(self, groups: Ints) -> Cuts:
        """The cut along each group's next column."""
        tried = self._tried[groups]
        left = tried < self._columns.shape[1]
        column = np.where(left, self._columns[groups, np.where(left, tried, 0)], -1)
        self._tried[groups] += 1
        if not self._front.along_all:
            work = np.diff(self._front.starts)[groups]
            share(work, lambda a, b: sort_along(self._front, groups, column, a, b))
        return self._place(groups, column)


def by_width(front: Front, costs: Costs) -> Ints:
    """(g, d) ranks that put the column first in which the group's label is widest."""
    out = np.empty((len(front.rows), front.codes.shape[1]), np.int64)
    share(np.diff(front.starts), lambda a, b: widths(front, costs, a, b, out))
    return -out


def cut_at(front: Front, below: Ints) -> PlaceCut:
    """Cuts that leave exactly below[g] rows below, equal values on both sides where need be."""

    def place(groups: Ints, column: Ints) -> Cuts:
        cuts = Cuts(column, np.zeros_like(column), np.zeros_like(column))
        sized_cuts(front, groups, column, below[groups], cuts.pieces, cuts.extra)
        return cuts

    return place
