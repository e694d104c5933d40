"""Which cuts of the open nodes are tried, in which order: as the choosers of `methods/` do it, but
from histograms."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from shoal.large.histograms import Histograms
from shoal.large.labels import Ints
from shoal.large.parting import sized_losses
from shoal.large.slices import Slices
from shoal.methods._boundary import lopsided_depth
from shoal.methods._cutting import Cutting


class Places(NamedTuple):
    """One cut per node: below go the entries of a column before `entry`, and `extra` rows of that.
    column -1: none left to try; entry -1: this column has none."""

    column: Ints
    entry: Ints
    extra: Ints


class Tries(Protocol):
    """The cuts a method would make in one round, best first."""

    def next(self, groups: Ints) -> Places:
        """The next cut for each of these nodes."""


Place = Callable[[int, int], tuple[int, int]]
"""Given a node and a column: the entry and the extra rows of the cut there."""


def tries_of(
    cutting: Cutting, seen: Histograms, slices: Slices, min_rows: int, n_rows: int
) -> Tries:
    """The cuts of a method's rule."""
    if cutting.below is None:
        return Ranked(-seen.widths(), middles(seen, min_rows))
    below = cutting.below(seen.rows, min_rows)
    if not cutting.by_loss:
        return Ranked(-seen.widths(), sized(seen, below))
    rounded = ByLoss(seen, slices, below)
    if not cutting.boundaries_first:
        return rounded
    deep = seen.depth >= lopsided_depth(n_rows, min_rows)
    least = np.where(deep, np.maximum(min_rows, -(-seen.rows // 4)), min_rows)
    return Boundaries(seen, least, rounded)


def middles(seen: Histograms, min_rows: int) -> Place:
    """The boundary nearest to the middle, the lower of two; none where a side would be too small."""

    def place(group: int, column: int) -> tuple[int, int]:
        along = seen.along[column]
        begin, end = along.starts[group], along.starts[group + 1]
        if end - begin < 2:
            return -1, 0
        upto, rows = along.upto[begin : end - 1], seen.rows[group]
        at = int(np.argmin(np.abs(2 * upto - rows)))
        small = min(upto[at], rows - upto[at]) < min_rows
        return (-1, 0) if small else (int(begin) + at + 1, 0)

    return place


def sized(seen: Histograms, below: Ints) -> Place:
    """Exactly below[g] rows below, equal values on both sides where need be."""

    def place(group: int, column: int) -> tuple[int, int]:
        along = seen.along[column]
        begin, end = along.starts[group], along.starts[group + 1]
        at = int(np.searchsorted(along.upto[begin:end], below[group], "right"))
        before = int(along.upto[begin + at - 1]) if at else 0
        return int(begin) + at, int(below[group]) - before

    return place


class Ranked:
    """Tries the columns by rising rank; equal ranks in the policy's order of columns."""

    def __init__(self, ranks: Ints, place: Place) -> None:
        """`ranks` is (g, d)."""
        self.columns = np.argsort(ranks, axis=1, kind="stable")
        self.tried = np.zeros(len(ranks), np.int64)
        self._place = place

    def next(self, groups: Ints) -> Places:
        """The cut along each node's next column."""
        found = Places(*(np.full(len(groups), -1, np.int64) for _ in range(3)))
        for i, group in enumerate(groups):
            if self.tried[group] < self.columns.shape[1]:
                column = int(self.columns[group, self.tried[group]])
                found.column[i] = column
                found.entry[i], found.extra[i] = self._place(int(group), column)
        self.tried[groups] += 1
        return found


class ByLoss:
    """Sized cuts, the column with the least loss first; losses are worked out when asked for."""

    def __init__(self, seen: Histograms, slices: Slices, below: Ints) -> None:
        self._seen, self._slices, self._below = seen, slices, below
        self._place = sized(seen, below)
        self._ranked = Ranked(np.zeros((len(seen.nodes), len(seen.along)), np.int64), self._place)

    def next(self, groups: Ints) -> Places:
        """The next column; the order of all but the first is worked out when it is asked for."""
        for tried, every in ((0, False), (1, True)):
            new = groups[self._ranked.tried[groups] == tried]
            if len(new):
                losses = sized_losses(
                    self._seen, self._slices, new, self._below, self._place, every
                )
                self._ranked.columns[new] = np.argsort(losses, axis=1, kind="stable")
        return self._ranked.next(groups)


class Boundaries:
    """All boundaries by rising loss, column and place, then the sized cuts."""

    def __init__(self, seen: Histograms, least: Ints, after: Tries) -> None:
        self._after = after
        found = [_boundaries(seen, j, least) for j in range(len(seen.along))]
        node, loss, entry = (np.concatenate(parts) for parts in zip(*found, strict=True))
        column = np.repeat(np.arange(len(found)), [len(part[0]) for part in found])
        order = np.lexsort((entry, column, loss, node))
        self._column, self._entry = column[order], entry[order]
        self._at = np.searchsorted(node[order], np.arange(len(seen.nodes)))
        self._end = np.searchsorted(node[order], np.arange(len(seen.nodes)), "right")

    def next(self, groups: Ints) -> Places:
        """The next best boundary of each node, or cut."""
        left = self._at[groups] < self._end[groups]
        at = self._at[groups[left]]
        found = Places(*(np.full(len(groups), -1, np.int64) for _ in range(3)))
        found.column[left], found.entry[left], found.extra[left] = (
            self._column[at],
            self._entry[at],
            0,
        )
        self._at[groups[left]] += 1
        if not left.all():
            for into, new in zip(found, self._after.next(groups[~left]), strict=True):
                into[~left] = new
        return found


def _boundaries(
    seen: Histograms, j: int, least: Ints
) -> tuple[Ints, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Node, loss and entry above of each boundary along a column that leaves enough on both sides."""
    along = seen.along[j]
    rows, need = seen.rows[along.node], least[along.node]
    at = np.flatnonzero((along.upto >= need) & (rows - along.upto >= need) & (along.upto < rows))
    below, above = along.upto[at], (rows - along.upto)[at]
    loss = (
        below * seen.label_up_to(j)[at]
        + above * seen.label_from(j)[np.minimum(at + 1, len(rows) - 1)]
    )
    return along.node[at], loss, at + 1
