"""Normalised certainty penalty (NCP): how much of every value's certainty is lost."""

from typing import ClassVar

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.arrays import Floats
from shoal.encoding.domain import UNIT, Domain, Kind
from shoal.encoding.grouping import Spans
from shoal.metrics.base import AdditiveMetric, Node, ReleaseView, Sums, Totals
from shoal.metrics.labels import leaves_under


@dataclass(frozen=True)
class Ncp(AdditiveMetric):
    """NCP: how much of every value's certainty is lost, summed over rows and columns; 0 is best.

    A range costs its width over the column's width, a set or a hierarchy node its share of all
    values, a suppressed cell 1. Columns are the quasi-identifiers and the sensitive columns with a
    `preference`, in which a raised value costs its share of all values.

    Source: Xu et al., "Utility-based anonymization using local recoding", 2006.
    """

    high_is_good: ClassVar[bool] = False
    only_worsens: ClassVar[bool] = True

    def sums(self, view: ReleaseView) -> Sums:
        """The loss of each column."""
        return column_losses(view)

    def figure(self, sums: Sums, totals: Totals) -> float:  # noqa: ARG002
        """The sum."""
        return sum(sums.values())

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return sum(node_losses(node))


@dataclass(frozen=True)
class MeanNcp(Ncp):
    """Mean NCP ("GCP"): NCP of the average cell; 0 is the raw table, 1 is nothing left.

    Source: Ghinita et al., "Fast data anonymization with low information loss", 2007.
    """

    def figure(self, sums: Sums, totals: Totals) -> float:
        """NCP over rows times the columns it counts."""
        columns = len(totals.domains) + len(totals.raised)
        return super().figure(sums, totals) / (totals.n_rows * columns)

    def of_node(self, node: Node) -> float:
        """The same, from the classes."""
        return super().of_node(node) / (node.cells.n_rows * len(node.levels))


def column_losses(view: ReleaseView) -> dict[str, float]:
    """Per quasi-identifier, and per sensitive column with personal preferences, the sum over
    rows of its label's loss, each in 0..1; suppressed rows lose all."""
    losses = {}
    for grouping, spans in zip(view.groupings, view.spans, strict=True):
        starred = view.cells.n_rows - int(spans.sizes.sum())
        for j, column in enumerate(grouping.columns):
            domain = view.cells.domains[column]
            loss = label_losses(domain, spans, j)
            losses[domain.name] = float((loss * spans.sizes).sum()) + starred
    for name in view.raised:
        kept = ~view.suppressed
        leaves = leaves_under(view, name)[kept]
        domain = view.cells.sensitive_domains[name]
        known = domain.size - (domain.missing >= 0)
        raised = view.raised[name][kept] > 0
        losses[name] = float(leaves[raised].sum()) / max(known, 1) + int((~kept).sum())
    return losses


def label_losses(domain: Domain, spans: Spans, j: int) -> Floats:
    """(g,) the loss of each group's label in one column."""
    low, high = spans.low[:, j], spans.high[:, j]
    if domain.kind == Kind.RANGE:
        assert domain.positions is not None
        loss = np.minimum(1.0, (domain.positions[high] - domain.positions[low]) / UNIT)
        return np.maximum(loss, spans.least[j]) if j in spans.least else loss
    if domain.kind == Kind.SET:
        members = np.diff(spans.sets[j][0])
        return np.where(members > 1, members / domain.size, 0.0)
    assert domain.hierarchy is not None
    loss = np.zeros(len(low))
    for level in range(1, domain.hierarchy.height + 1):
        at = spans.levels[:, j] == level
        loss[at] = domain.hierarchy.shares(level)[domain.hierarchy.nodes[level, low[at]]]
    return loss


def node_losses(node: Node) -> list[float]:
    """Per column the same sum for a node of the lattice."""
    losses, starred = [], node.suppressed_rows
    for j, (domain, level) in enumerate(zip(node.cells.domains, node.levels, strict=True)):
        assert domain.hierarchy is not None
        loss = 0.0
        if level:
            loss = float((domain.hierarchy.shares(level) * node.rows_at(j)).sum())
        losses.append(loss + starred)
    return losses
