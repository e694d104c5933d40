"""The loss of every label: what NCP sums up."""

from collections.abc import Mapping

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.domain import UNIT, Domain, Kind, places, whole
from shoal.encoding.grouping import Spans
from shoal.metrics.base import Node, Parts, Whole


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


def leaves_under(parts: Parts, name: str) -> Ints:
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


def label_losses(domain: Domain, spans: Spans, j: int) -> Floats:
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


# Which values a label covers, and how many rows of the table hold one of them.


def covered(domain: Domain, spans: Spans, j: int) -> tuple[Codes, Codes]:
    """(g,) twice: the first and the last code under each label of a RANGE or TREE column.

    A range that holds the missing value and another reads `*`: it covers the whole column.
    """
    low, high = spans.low[:, j].copy(), spans.high[:, j].copy()
    if domain.kind == Kind.RANGE:
        low[(high == domain.missing) & (low != high)] = 0
        return low, high
    assert domain.hierarchy is not None
    for level in range(1, domain.hierarchy.height + 1):
        at = spans.levels[:, j] == level
        first, last = domain.hierarchy.spans(level)
        node = domain.hierarchy.nodes[level, low[at]]
        low[at], high[at] = first[node], last[node]
    return low, high


def leaves_at(domain: Domain, level: int) -> Ints:
    """(nodes of the level,) the leaves under each node of a TREE column."""
    assert domain.hierarchy is not None
    first, last = domain.hierarchy.spans(level)
    return last - first + 1


def values_covered(domain: Domain, spans: Spans, j: int) -> Ints:
    """(g,) how many values of the column lie under each label."""
    if domain.kind == Kind.SET:
        return np.diff(spans.sets[j][0])
    low, high = covered(domain, spans, j)
    return high.astype(np.int64) - low + 1


def rows_covered(domain: Domain, spans: Spans, j: int, rows: Ints) -> Ints:
    """(g,) how many rows of the table hold a value under each label; `rows`: those of each value."""
    if domain.kind == Kind.SET:
        starts, members = spans.sets[j]
        return np.diff(np.concatenate([[0], np.cumsum(rows[members])])[starts])
    below = np.concatenate([[0], np.cumsum(rows)])
    low, high = covered(domain, spans, j)
    return below[high + 1] - below[low]


# How wide every label is, counted in values or whole units: what the loss L sums up.


def weighted_loss(widths: Mapping[str, float], weights: Mapping[str, float] | None) -> float:
    """L of a release: the widths of all labels that say less than the value did, by column."""
    return sum(_weight(weights, name) * width for name, width in widths.items())


def node_loss(node: Node) -> float:
    """L of a node of the lattice; nothing is weighed there."""
    total = 0.0
    for j, (domain, level) in enumerate(zip(node.cells.domains, node.levels, strict=True)):
        if level:
            leaves = leaves_at(domain, level)
            if domain.missing >= 0 and len(leaves) > 1:
                leaves[-1] = 0  # the missing value stays what it is
            total += float((leaves * node.rows_at(j)).sum())
        total += node.suppressed_rows * whole(domain)
    return total


def loss_of_one_group(cells: Cells | Whole, weights: Mapping[str, float] | None = None) -> float:
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
        total += _weight(weights, domain.name) * n * float(label_widths(domain, spans, 0)[0])
    return total


def column_widths(parts: Parts) -> dict[str, float]:
    """Per quasi-identifier the sum over rows of its label's width, 0 for a raw value; a suppressed
    cell is as wide as the column."""
    widths = {}
    for grouping, spans in zip(parts.groupings, parts.spans, strict=True):
        starred = parts.cells.n_rows - int(spans.sizes.sum())
        for j, column in enumerate(grouping.columns):
            domain = parts.cells.domains[column]
            width = label_widths(domain, spans, j)
            widths[domain.name] = float((width * spans.sizes).sum()) + starred * whole(domain)
    return widths


def label_widths(domain: Domain, spans: Spans, j: int) -> Floats:
    """(g,) the width of each group's label in one column, 0 where it is the raw value."""
    if domain.kind == Kind.SET:
        members = np.diff(spans.sets[j][0]).astype(np.float64)
        return np.where(members > 1, members, 0.0)
    place = places(domain)
    low, high = covered(domain, spans, j)
    raw = spans.low[:, j] == spans.high[:, j]
    if domain.kind == Kind.TREE:
        # the missing value stays what it is on every level but the last
        raw = (spans.levels[:, j] == 0) | (low == domain.missing)
    return np.where(raw, 0.0, place[high] - place[low] + 1)


def _weight(weights: Mapping[str, float] | None, name: str) -> float:
    return 1.0 if weights is None else float(weights.get(name, 1.0))
