"""The loss L of generalisation: how wide every label is, counted in values or whole units."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.arrays import Floats
from shoal.encoding.cells import Cells
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import Spans
from shoal.metrics.base import AdditiveMetric, Node, ReleaseView, Sums, Totals
from shoal.metrics.labels import codes_covered, leaves_at


@dataclass(frozen=True)
class Loss(AdditiveMetric):
    """L: how many values each label stands for, summed over all cells that changed; low is good.

    A cell published as it was costs 0. An interval [a~b] costs b - a + 1, a set its number of values,
    a hierarchy node its leaves. Totals numbers count as they are, dates in days; decimals, times and
    ordered labels by rank among the column's values. A suppressed cell, or a range of missing and
    other values, costs the whole column. A column counts as often as the method's `weights` say, if
    it has them.

    Source: the loss that L-clustering minimises.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def sums(self, view: ReleaseView) -> Sums:
        """The widths of each column's labels."""
        return _column_widths(view)

    def figure(self, sums: Sums, totals: Totals) -> float | None:
        """The sum, columns weighed."""
        return sum(_weight(totals.weights, name) * width for name, width in sums.items())

    def of_node(self, node: Node) -> float | None:
        """The same, from the classes."""
        return _node_loss(node)


@dataclass(frozen=True)
class RelativeLoss(Loss):
    """RL: the loss L over that of the same table with all rows in one group; 0 is the raw table.

    1 is as bad as one group. A suppressed cell costs all that a column can hold, so a release with
    many of them may exceed it.

    Source: the measure by which L-clustering is compared with other methods.
    """

    def figure(self, sums: Sums, totals: Totals) -> float | None:
        """The ratio, or None where one group would lose nothing and rows were suppressed."""
        most = _loss_of_one_group(totals, totals.weights)
        return _ratio(super().figure(sums, totals), most)

    def of_node(self, node: Node) -> float | None:
        """The same, from the classes."""
        return _ratio(super().of_node(node), _loss_of_one_group(node.cells))


def _ratio(loss: float | None, most: float) -> float | None:
    if most == 0:
        return 0.0 if loss == 0 else None
    return None if loss is None else loss / most


def _column_widths(view: ReleaseView) -> dict[str, float]:
    """Per quasi-identifier the sum over rows of its label's width, 0 for a raw value; a suppressed
    cell is as wide as the column."""
    widths = {}
    for grouping, spans in zip(view.groupings, view.spans, strict=True):
        starred = view.cells.n_rows - int(spans.sizes.sum())
        for j, column in enumerate(grouping.columns):
            domain = view.cells.domains[column]
            width = _label_widths(domain, spans, j)
            widths[domain.name] = float((width * spans.sizes).sum()) + starred * domain.width
    return widths


def _label_widths(domain: Domain, spans: Spans, j: int) -> Floats:
    """(g,) the width of each group's label in one column, 0 where it is the raw value."""
    if domain.kind == Kind.SET:
        members = np.diff(spans.sets[j][0]).astype(np.float64)
        return np.where(members > 1, members, 0.0)
    place = domain.places
    low, high = codes_covered(domain, spans, j)
    raw = spans.low[:, j] == spans.high[:, j]
    if domain.kind == Kind.TREE:
        # the missing value stays what it is on every level but the last
        raw = (spans.levels[:, j] == 0) | (low == domain.missing)
    return np.where(raw, 0.0, place[high] - place[low] + 1)


def _node_loss(node: Node) -> float:
    """L of a node of the lattice; nothing is weighed there."""
    total = 0.0
    for j, (domain, level) in enumerate(zip(node.cells.domains, node.levels, strict=True)):
        if level:
            leaves = leaves_at(domain, level)
            if domain.missing >= 0 and len(leaves) > 1:
                leaves[-1] = 0  # the missing value stays what it is
            total += float((leaves * node.rows_at(j)).sum())
        total += node.suppressed_rows * domain.width
    return total


def _loss_of_one_group(cells: Cells | Totals, weights: Mapping[str, float] | None = None) -> float:
    """L of the table with all rows in one group."""
    n, total = cells.n_rows, 0.0
    for domain, rows in zip(cells.domains, cells.rows_of_values, strict=True):
        present = np.flatnonzero(rows).astype(np.int32)
        low, high = present[:1], present[-1:]
        levels = np.zeros((1, 1), np.int32)
        if domain.hierarchy is not None:
            levels[0] = domain.hierarchy.lowest(low, high)
        members = {0: (np.array([0, len(present)]), present)}
        spans = Spans(np.array([n]), low[:, None], high[:, None], levels, members)
        total += _weight(weights, domain.name) * n * float(_label_widths(domain, spans, 0)[0])
    return total


def _weight(weights: Mapping[str, float] | None, name: str) -> float:
    return 1.0 if weights is None else float(weights.get(name, 1.0))
