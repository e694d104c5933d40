"""Cut on the value boundary with the least loss, or by the rounded cut where no boundary will do."""

from typing import TYPE_CHECKING

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.arrays import Ints
from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping
from shoal.kernels.costs import Costs
from shoal.kernels.partition import Cuts, Front, best_boundary, count_boundaries, rank_boundaries
from shoal.methods.base import Progress
from shoal.methods.partition import LeastLossRounded
from shoal.models.requirement import Requirement
from shoal.threads import share

if TYPE_CHECKING:
    from shoal.methods.partition import Chooser, Cutting


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


# Least-loss partition: of all cuts a group allows, take the one that loses least.


@dataclass(frozen=True)
class LeastLossPartition:
    """Least-loss partition: every value boundary of every column is weighed, the best one is cut.

    Of all boundaries where both sides hold the requirement it takes the one with the least NCP over
    both sides; where no boundary will do it falls back to the rounded cut with the least loss. Fewer
    groups than `flexible-partition`, but far less loss, since equal values stay together.

    Source: our own, grown from the rounded partition.
    """

    def group(
        self,
        cells: Cells,
        requirement: Requirement,
        seed: int,  # noqa: ARG002 - nothing here is random
        progress: Progress,
    ) -> tuple[Grouping, ...]:
        """Groups by the best boundary."""
        from shoal.methods.partition import partition_by

        return (partition_by(cells, requirement, self.cutting(), progress),)

    def cutting(self) -> "Cutting":
        """Its rule, also for tables that no memory holds."""
        from functools import partial

        from shoal.methods.partition import Cutting, rows_below

        def chooser(n_rows: int) -> "Chooser":
            return partial(LeastLossBoundary, n_rows=n_rows)

        return Cutting(chooser, True, rows_below, by_loss=True, boundaries_first=True)
