"""Partition rules for groups of which only histograms are known: tables larger than memory.

A node of the tree of cuts is known by the histogram of each of its columns: how many rows have each
code, and which codes of the other columns go with it. That tells what every cut along a value boundary
would lose. A cut through equal values needs a closer look at the tie that it splits, which is queried
only where it may decide.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from shoal.arrays import Bools, Ints
from shoal.kernels.labels import SET, Costs, label_costs
from shoal.kernels.partition import NEVER, Cuts
from shoal.methods.partition import CutOrder, CuttableGroups, ListedCuts, no_cuts

STEP = 1 << 32
"""More than any code: keeps the codes of different nodes apart."""


@dataclass(frozen=True)
class ColumnHistogram:
    """The histograms of all nodes along one column, node by node, codes ascending."""

    starts: Ints
    """(g + 1,)"""
    node: Ints
    """(entries,) place of the node"""
    code: Ints
    count: Ints
    upto: Ints
    """(entries,) rows of the node up to this code."""
    low: Ints
    """(entries, d) the smallest codes that go with this one."""
    high: Ints

    def before(self, group: int, entry: int) -> int:
        """Rows of a node before an entry."""
        return int(self.upto[entry - 1]) if entry > self.starts[group] else 0


class Tie(NamedTuple):
    """The rows of a node with one code in one column; the first `below` of them, in canonical order, go
    below a cut, the others above."""

    node: int
    column: int
    code: int
    rows: int
    below: int


@dataclass(frozen=True)
class TieSide:
    """What one side of a tie that is split covers."""

    low: Ints
    """(d,)"""
    high: Ints
    members: dict[int, Ints]
    """Per set column, the codes that occur."""


class TieSource(Protocol):
    """Where more can be learnt about ties."""

    def sides(self, ties: Iterable[Tie]) -> list[tuple[TieSide, TieSide]]:
        """What both sides of each tie cover."""


class NodeHistograms(CuttableGroups):
    """The open nodes of a round."""

    def __init__(
        self,
        costs: Costs,
        nodes: Ints,
        depth: Ints,
        columns: Sequence[ColumnHistogram],
        ties: TieSource,
    ) -> None:
        """nodes: (g,) their numbers, ascending."""
        self.costs, self.nodes, self.depth, self.columns = costs, nodes, depth, columns
        self.n_columns = len(columns)
        self.rows = columns[0].upto[columns[0].starts[1:] - 1]
        self._ties = ties

    def widths(self) -> Ints:
        """(g, d) what each column of the nodes' own labels costs."""
        ends = [(c.code[c.starts[:-1]], c.code[c.starts[1:] - 1], c.starts) for c in self.columns]
        found = [
            label_costs(self.costs, j, low, high, np.diff(starts))
            for j, (low, high, starts) in enumerate(ends)
        ]
        return np.stack(found, axis=1)

    def middle_cuts(self, numbers: Ints, column: Ints, least: int) -> Cuts:
        """The boundaries nearest to the middle."""
        return self._placed(
            numbers, column, least, lambda upto, rows: int(np.argmin(np.abs(2 * upto - rows)))
        )

    def median_cuts(self, numbers: Ints, column: Ints, least: int) -> Cuts:
        """The boundaries right above the median."""
        return self._placed(
            numbers, column, least, lambda upto, rows: int(np.searchsorted(2 * upto, rows))
        )

    def _placed(
        self, numbers: Ints, column: Ints, least: int, place: Callable[[Ints, int], int]
    ) -> Cuts:
        """A boundary of each node along a column, unless a side would have fewer than `least` rows.

        place: from the rows up to each boundary and the node's rows, which boundary; past the last one
        for none.
        """
        cuts = Cuts(column, no_cuts(len(numbers)).position, np.zeros_like(column))
        for i, (g, j) in enumerate(zip(numbers, column, strict=True)):
            if j < 0:
                continue
            along = self.columns[j]
            begin, end = along.starts[g], along.starts[g + 1]
            if end - begin < 2:
                continue
            upto, rows = along.upto[begin : end - 1], self.rows[g]
            at = place(upto, rows)
            if at < len(upto) and min(upto[at], rows - upto[at]) >= least:
                cuts.position[i] = begin + at + 1
        return cuts

    def sized_cuts(self, numbers: Ints, column: Ints, below: Ints) -> Cuts:
        """The cuts with exactly below[i] rows below."""
        cuts = Cuts(column, no_cuts(len(numbers)).position, np.zeros_like(column))
        for i, (g, j) in enumerate(zip(numbers, column, strict=True)):
            if j >= 0:
                along = self.columns[j]
                begin, end = along.starts[g], along.starts[g + 1]
                at = begin + np.searchsorted(along.upto[begin:end], below[i], "right")
                cuts.position[i] = at
                cuts.extra[i] = below[i] - along.before(g, at)
        return cuts

    def sized_losses(self, numbers: Ints, below: Ints, *, every: bool) -> Ints:
        """(n, d) what such cuts lose.

        What a cut through a tie loses lies between what it would lose without the tie and with all of
        it on both sides: only columns that may be the best are looked at closely.
        """
        n, d = len(numbers), self.n_columns
        above = self.rows[numbers] - below
        least, most = np.empty((n, d), np.int64), np.empty((n, d), np.int64)
        cuts = [self.sized_cuts(numbers, np.full(n, j), below) for j in range(d)]
        for j, along in enumerate(self.columns):
            upto, after = self._label_up_to(j), self._label_from(j)
            at, begin, end = cuts[j].position, along.starts[numbers], along.starts[numbers + 1]
            before = np.where(at > begin, upto[at - 1], 0)
            behind = np.where(at + 1 < end, after[np.minimum(at + 1, len(after) - 1)], 0)
            tied = cuts[j].extra > 0
            least[:, j] = below * before + above * np.where(tied, behind, after[at])
            most[:, j] = below * np.where(tied, upto[at], before) + above * after[at]
        unsure = least < most
        if not every:
            possible = least <= most.min(axis=1, keepdims=True)
            most[~possible] = NEVER
            # where one column is left, what it loses does not matter
            unsure &= possible & (possible.sum(axis=1, keepdims=True) > 1)
        places = list(zip(*(axis.tolist() for axis in np.nonzero(unsure)), strict=True))
        ties = [self.tie(int(numbers[i]), *(int(part[i]) for part in cuts[j])) for i, j in places]
        for (i, j), (lower, upper) in zip(places, self._ties.sides(ties), strict=True):
            g, entry = int(numbers[i]), int(cuts[j].position[i])
            under = self._side_cost(g, j, entry, lower, forward=True)
            over = self._side_cost(g, j, entry, upper, forward=False)
            most[i, j] = int(below[i]) * under + int(above[i]) * over
        return most

    def boundaries(self, least: Ints) -> CutOrder:
        """The boundaries by rising loss."""
        found = [self._boundaries(j, least) for j in range(self.n_columns)]
        node, loss, entry = (np.concatenate(parts) for parts in zip(*found, strict=True))
        column = np.repeat(np.arange(len(found)), [len(part[0]) for part in found])
        order = np.lexsort((entry, column, loss, node))
        starts = np.searchsorted(node[order], np.arange(len(self.nodes) + 1))
        return ListedCuts(starts, column[order], entry[order])

    def tie(self, group: int, column: int, entry: int, extra: int) -> Tie:
        """The tie that a cut splits."""
        along = self.columns[column]
        rows = int(along.count[entry])
        return Tie(int(self.nodes[group]), column, int(along.code[entry]), rows, extra)

    def rows_below(self, numbers: Ints, cuts: Cuts) -> Ints:
        """(n,) rows of each group below its cut."""
        before = [
            self.columns[j].before(g, at)
            for g, j, at in zip(numbers, cuts.column, cuts.position, strict=True)
        ]
        return cuts.extra + np.array(before, np.int64)

    def _boundaries(self, j: int, least: Ints) -> tuple[Ints, Ints, Ints]:
        """Node, loss and entry above of each boundary along a column with enough on both sides."""
        along = self.columns[j]
        rows, need = self.rows[along.node], least[along.node]
        left = rows - along.upto
        at = np.flatnonzero((along.upto >= need) & (left >= need) & (left > 0))
        above = self._label_from(j)[np.minimum(at + 1, len(rows) - 1)]
        loss = along.upto[at] * self._label_up_to(j)[at] + left[at] * above
        return along.node[at], loss, at + 1

    def _label_up_to(self, j: int) -> Ints:
        """(entries,) what the label of the rows up to each entry of a column costs."""
        return self._label_cost(j, forward=True)

    def _label_from(self, j: int) -> Ints:
        """(entries,) what the label of the rows from each entry of a column on costs."""
        return self._label_cost(j, forward=False)

    def _label_cost(self, j: int, forward: bool) -> Ints:
        low, high = _running_span(self.columns[j], forward)
        total = np.zeros(len(low), np.int64)
        for i in range(self.n_columns):
            if self.costs.kind[i] == SET:
                total += self._set_costs(i, self._members(i, j, forward))
            else:
                span = np.ascontiguousarray(low[:, i]), np.ascontiguousarray(high[:, i])
                total += label_costs(self.costs, i, *span, span[0])
        return total

    def _set_costs(self, i: int, members: Ints) -> Ints:
        return label_costs(self.costs, i, np.zeros_like(members), members - 1, members)

    def _members(self, i: int, j: int, forward: bool) -> Ints:
        """How many members of the set column i the rows up to (or from) each entry of j have.

        A member is among these rows exactly if the smallest (or largest) code of j that occurs with it
        is.
        """
        along, own = self.columns[j], self.columns[i]
        place = np.arange(len(along.code))
        if i == j:
            if forward:
                return place - along.starts[along.node] + 1
            return along.starts[along.node + 1] - place
        at = along.node * STEP + along.code
        if forward:
            first = np.sort(own.node * STEP + own.low[:, j])
            return np.searchsorted(first, at, "right") - own.starts[along.node]
        last = np.sort(own.node * STEP + own.high[:, j])
        return own.starts[along.node + 1] - np.searchsorted(last, at, "left")

    def _side_cost(self, g: int, j: int, entry: int, side: TieSide, forward: bool) -> int:
        """What the label costs of the rows before (or after) an entry and a side of its tie."""
        along = self.columns[j]
        code = along.code[entry]
        rest = slice(along.starts[g], entry) if forward else slice(entry + 1, along.starts[g + 1])
        total = 0
        for i, own in enumerate(self.columns):
            if self.costs.kind[i] == SET:
                mine = slice(own.starts[g], own.starts[g + 1])
                ends = own.code[mine] if i == j else (own.low if forward else own.high)[mine, j]
                there: Bools = ends < code if forward else ends > code
                members = int((there | np.isin(own.code[mine], side.members[i])).sum())
                total += int(self._set_costs(i, np.array([members]))[0])
            else:
                low = np.array([along.low[rest, i].min(initial=side.low[i])])
                high = np.array([along.high[rest, i].max(initial=side.high[i])])
                total += int(label_costs(self.costs, i, low, high, low)[0])
        return total


def _running_span(along: ColumnHistogram, forward: bool) -> tuple[Ints, Ints]:
    """(entries, d) smallest and largest codes of the rows up to (or from) each entry."""
    way = slice(None) if forward else slice(None, None, -1)
    # codes are kept apart so that each node begins anew
    apart = (along.node if forward else along.node.max(initial=0) - along.node)[way, None] * STEP
    high = (np.maximum.accumulate(along.high[way] + apart, axis=0) - apart)[way]
    low = (np.minimum.accumulate(along.low[way] - apart, axis=0) + apart)[way]
    return low, high
