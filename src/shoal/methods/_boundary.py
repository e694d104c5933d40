"""Cut on the value boundary with the least loss, or by the rounded cut where no boundary will do."""

import numpy as np

from shoal.kernels.costs import Costs
from shoal.kernels.cuts import best_boundary, count_boundaries, rank_boundaries
from shoal.kernels.front import Cuts, Front
from shoal.methods._cutting import Ints
from shoal.methods._rounded import LeastLossRounded
from shoal.threads import share


def lopsided_depth(n_rows: int, min_rows: int) -> int:
    """From this depth on only cuts that leave a quarter of the rows on either side are taken.

    The best cut may shave off a few rows again and again; left alone that could take n/k rounds over
    n rows. A good partition is some log2(n/k) deep, four times that leaves room for lopsided cuts,
    and balanced cuts then end in O(log n) more rounds.
    """
    most_groups = max(2, -(-n_rows // min_rows))
    return 4 * (most_groups - 1).bit_length() + 16


class LeastLossBoundary:
    """First the best boundary; if that breaks a model all others by rising loss; then rounded cuts."""

    def __init__(self, front: Front, costs: Costs, min_rows: int, n_rows: int) -> None:
        self._front, self._costs, self._min_rows = front, costs, min_rows
        deep = front.depth >= lopsided_depth(n_rows, min_rows)
        self._least = np.where(deep, np.maximum(min_rows, -(-front.rows // 4)), min_rows)
        self._started = False
        self._others: _Others | None = None
        self._without = np.zeros(len(front.rows), np.bool_)
        self._rounded: dict[bool, LeastLossRounded] = {}

    def next(self, groups: Ints) -> Cuts:
        """The next best cut of each group."""
        if not self._started:
            self._started = True
            cuts = self._best(groups)
            self._without[groups[cuts.column < 0]] = True
            return self._or_rounded(groups, cuts)
        if self._others is None:
            self._others = _Others(self._front, self._costs, self._least, groups)
        return self._or_rounded(groups, self._others.next(groups))

    def _best(self, groups: Ints) -> Cuts:
        n = len(self._front.rows)
        column, pieces = np.empty(n, np.int64), np.empty(n, np.int64)
        share(
            np.diff(self._front.starts),
            lambda a, b: best_boundary(self._front, self._costs, self._least, a, b, column, pieces),
        )
        return Cuts(column[groups], pieces[groups], np.zeros(len(groups), np.int64))

    def _or_rounded(self, groups: Ints, cuts: Cuts) -> Cuts:
        """Where the boundaries have run out, the rounded cuts follow.

        Their losses are worked out for two sets of groups, each when it is first needed: those that
        had no boundary at all, and those whose boundaries all broke a model.
        """
        out = cuts.column < 0
        for without in (True, False):
            at = np.flatnonzero(out & (self._without[groups] == without))
            if not len(at):
                continue
            if without not in self._rounded:
                wanted = np.flatnonzero(self._without) if without else groups
                self._rounded[without] = LeastLossRounded(
                    self._front, self._costs, self._min_rows, wanted
                )
            rounded = self._rounded[without].next(groups[at])
            for into, new in zip(cuts, rounded, strict=True):
                into[at] = new
        return cuts


class _Others:
    """All boundaries of the groups whose best one broke a model, by rising loss."""

    def __init__(self, front: Front, costs: Costs, least: Ints, groups: Ints) -> None:
        counts = count_boundaries(front, least, groups)
        self._starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._column = np.empty(self._starts[-1], np.int32)
        self._pieces = np.empty(self._starts[-1], np.int32)
        self._row = np.full(len(front.rows), -1, np.int64)
        self._row[groups] = np.arange(len(groups))
        # the best boundary, first in this list too, has been tried
        self._tried = np.ones(len(groups), np.int64)
        share(
            np.diff(front.starts)[groups],
            lambda a, b: rank_boundaries(
                front, costs, least, groups, self._starts, a, b, self._column, self._pieces
            ),
        )

    def next(self, groups: Ints) -> Cuts:
        row = self._row[groups]
        at = self._starts[row] + self._tried[row]
        self._tried[row] += 1
        left = at < self._starts[row + 1]
        at = np.where(left, at, 0)
        none = np.full(len(groups), -1, np.int64)
        if not left.any():
            return Cuts(none, none.copy(), np.zeros(len(groups), np.int64))
        column = np.where(left, self._column[at], none)
        pieces = np.where(left, self._pieces[at], none)
        return Cuts(column, pieces, np.zeros(len(groups), np.int64))
