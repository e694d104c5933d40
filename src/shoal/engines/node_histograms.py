"""What labels cost, for many groups at once: the kernels' `label_cost`, in numpy."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.arrays import Ints
from shoal.kernels.costs import RANGE, SET, UNIT, Costs


def label_costs(costs: Costs, column: int, low: Ints, high: Ints, members: Ints) -> Ints:
    """Loss of the labels over codes low..high of a column, of which `members` are present."""
    base = costs.base[column]
    if costs.kind[column] == SET:
        return costs.cost[base + members]
    if costs.kind[column] == RANGE:
        return np.minimum(UNIT, costs.cost[base + high] - costs.cost[base + low])
    size = int(costs.size[column])
    found = np.where(low == high, 0, UNIT)
    open_ones = np.flatnonzero(low != high)
    for level in range(int(costs.levels[column])):
        at = base + level * size
        one, other = at + low[open_ones], at + high[open_ones]
        same = costs.node[one] == costs.node[other]
        found[open_ones[same]] = costs.cost[one[same]]
        open_ones = open_ones[~same]
    return found


# The open nodes of a round, known by their histograms alone.


STEP = 1 << 32
"""More than any code: keeps the codes of different nodes apart."""


@dataclass(frozen=True)
class Along:
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
    """(entries, d)"""
    high: Ints


@dataclass(frozen=True)
class Histograms:
    """All that is asked once about the open nodes."""

    costs: Costs
    nodes: Ints
    """(g,) their numbers, ascending."""
    depth: Ints
    """(g,) how many cuts led to each."""
    rows: Ints
    """(g,)"""
    along: tuple[Along, ...]

    def widths(self) -> Ints:
        """(g, d) what each column of the nodes' own labels costs."""
        found = [
            label_costs(
                self.costs, j, a.code[a.starts[:-1]], a.code[a.starts[1:] - 1], np.diff(a.starts)
            )
            for j, a in enumerate(self.along)
        ]
        return np.stack(found, axis=1)

    def label_up_to(self, j: int) -> Ints:
        """(entries,) what the label of the rows up to each entry of a column costs."""
        return self._grown(j, self.along[j], forward=True)

    def label_from(self, j: int) -> Ints:
        """(entries,) what the label of the rows from each entry of a column on costs."""
        return self._grown(j, self.along[j], forward=False)

    def span_up_to(self, j: int) -> tuple[Ints, Ints]:
        """(entries, d) smallest and largest codes of the rows up to each entry."""
        return _running(self.along[j], forward=True)

    def span_from(self, j: int) -> tuple[Ints, Ints]:
        """(entries, d) smallest and largest codes of the rows from each entry on."""
        return _running(self.along[j], forward=False)

    def _grown(self, j: int, a: Along, forward: bool) -> Ints:
        low, high = _running(a, forward)
        total = np.zeros(len(a.code), np.int64)
        for i in range(len(self.along)):
            if self.costs.kind[i] != SET:
                total += label_costs(self.costs, i, low[:, i], high[:, i], low[:, i])
            else:
                total += label_costs(
                    self.costs, i, low[:, i], high[:, i], self._members(i, j, forward)
                )
        return total

    def _members(self, i: int, j: int, forward: bool) -> Ints:
        """How many members of the set column i the rows up to (or from) each entry of j have."""
        a, s = self.along[j], self.along[i]
        place = np.arange(len(a.code))
        if i == j:
            return place - a.starts[a.node] + 1 if forward else a.starts[a.node + 1] - place
        at = a.node * STEP + a.code
        if forward:
            first = np.sort(s.node * STEP + s.low[:, j])
            return np.searchsorted(first, at, "right") - s.starts[a.node]
        last = np.sort(s.node * STEP + s.high[:, j])
        return s.starts[a.node + 1] - np.searchsorted(last, at, "left")


def _running(a: Along, forward: bool) -> tuple[Ints, Ints]:
    way = slice(None) if forward else slice(None, None, -1)
    # codes are kept apart so that each node begins anew
    apart = (a.node if forward else a.node.max(initial=0) - a.node)[way, None] * STEP
    high = (np.maximum.accumulate(a.high[way] + apart, axis=0) - apart)[way]
    low = (np.minimum.accumulate(a.low[way] - apart, axis=0) + apart)[way]
    return low, high


def read(costs: Costs, nodes: Ints, depth: Ints, answer: pa.Table) -> Histograms:
    """The histograms from the answer to `questions.histograms` about all columns."""
    d = len(costs.kind)
    column, node, code = (_numbers(answer[name]) for name in ("j", "node", "v"))
    order = np.lexsort((code, node, column))
    node, code = np.searchsorted(nodes, node[order]), code[order]
    count = _numbers(answer["n"])[order]
    low, high = (_table(answer, side, d)[order] for side in "lh")
    ends = np.searchsorted(column[order], np.arange(d + 1))
    along = []
    for j in range(d):
        part = slice(ends[j], ends[j + 1])
        # a column's own codes need no asking
        low[part, j] = high[part, j] = code[part]
        starts = np.searchsorted(node[part], np.arange(len(nodes) + 1)).astype(np.int64)
        total = np.cumsum(count[part])
        before = np.append(0, total)[starts]
        upto = total - before[node[part]]
        along.append(
            Along(starts, node[part], code[part], count[part], upto, low[part], high[part])
        )
    rows = along[0].upto[along[0].starts[1:] - 1]
    return Histograms(costs, nodes, depth, rows, tuple(along))


def needed_spans(costs: Costs, only_counts: bool) -> dict[int, Sequence[int]]:
    """Per column, of which others the spans are needed: for ranges and trees to grow along it, and to
    tell where its own members first and last occur."""
    d = len(costs.kind)
    if only_counts:
        return dict.fromkeys(range(d), ())
    grown = [i for i in range(d) if costs.kind[i] != SET]
    return {j: list(range(d)) if costs.kind[j] == SET else grown for j in range(d)}


def _numbers(column: pa.ChunkedArray) -> Ints:
    return column.to_numpy().astype(np.int64)


def _table(answer: pa.Table, side: str, d: int) -> Ints:
    return np.stack([_numbers(answer[f"{side}{i}"]) for i in range(d)], axis=1)
