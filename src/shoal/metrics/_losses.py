"""The loss of every label: what NCP sums up."""

import numpy as np
import numpy.typing as npt

from shoal.cells.domain import UNIT, Domain, Kind
from shoal.cells.spans import Spans
from shoal.metrics.base import Node, Parts


def column_losses(parts: Parts) -> dict[str, float]:
    """Per quasi-identifier the sum over rows of its label's loss, each in 0..1; suppressed rows
    lose all."""
    losses = {}
    for grouping, spans in zip(parts.groupings, parts.spans, strict=True):
        starred = parts.cells.n_rows - int(spans.sizes.sum())
        for j, column in enumerate(grouping.columns):
            domain = parts.cells.domains[column]
            loss = label_losses(domain, spans, j)
            losses[domain.name] = float((loss * spans.sizes).sum()) + starred
    return losses


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


def label_losses(domain: Domain, spans: Spans, j: int) -> npt.NDArray[np.float64]:
    """(g,) the loss of each group's label in one column."""
    low, high = spans.low[:, j], spans.high[:, j]
    if domain.kind == Kind.RANGE:
        assert domain.positions is not None
        return np.minimum(1.0, (domain.positions[high] - domain.positions[low]) / UNIT)
    if domain.kind == Kind.SET:
        members = np.diff(spans.sets[j][0])
        return np.where(members > 1, members / domain.size, 0.0)
    assert domain.hierarchy is not None
    loss = np.zeros(len(low))
    for level in range(1, domain.hierarchy.height + 1):
        at = spans.levels[:, j] == level
        loss[at] = domain.hierarchy.shares(level)[domain.hierarchy.nodes[level, low[at]]]
    return loss
