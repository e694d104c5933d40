"""The loss of every label: what NCP sums up."""

import numpy as np
import numpy.typing as npt

from shoal.cells.domain import UNIT, Domain, Kind
from shoal.cells.spans import Spans
from shoal.metrics.base import Node, Parts


def column_losses(parts: Parts) -> dict[str, float]:
    """Per quasi-identifier, and per sensitive column in which people's wishes count, the sum over
    rows of its label's loss, each in 0..1; suppressed rows lose all."""
    losses = {}
    for grouping, spans in zip(parts.groupings, parts.spans, strict=True):
        starred = parts.cells.n_rows - int(spans.sizes.sum())
        for j, column in enumerate(grouping.columns):
            domain = parts.cells.domains[column]
            loss = label_losses(domain, spans, j)
            losses[domain.name] = float((loss * spans.sizes).sum()) + starred
    for name in parts.raised:
        kept = ~parts.suppressed
        leaves = leaves_under(parts, name)[kept]
        domain = parts.cells.sensitive_domains[name]
        known = domain.size - (domain.missing >= 0)
        raised = parts.raised[name][kept] > 0
        losses[name] = float(leaves[raised].sum()) / max(known, 1) + int((~kept).sum())
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


def leaves_under(parts: Parts, name: str) -> npt.NDArray[np.int64]:
    """(n_rows,) the values under what is published of a sensitive column: 1 where it is not raised."""
    cells = parts.cells
    found = np.ones(cells.n_rows, np.int64)
    levels = parts.raised.get(name)
    tree = cells.sensitive_domains[name].hierarchy
    if levels is None or tree is None:
        return found
    for level in np.unique(levels[levels > 0]):
        at = levels == level
        # the missing value is a leaf of its own, under the root
        sizes = np.bincount(
            np.delete(tree.nodes[level], cells.sensitive_domains[name].missing)
            if cells.sensitive_domains[name].missing >= 0
            else tree.nodes[level]
        )
        found[at] = sizes[tree.nodes[level, cells.sensitive[name][at]]]
    return found


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
