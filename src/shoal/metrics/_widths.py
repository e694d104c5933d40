"""How wide every label is, counted in values or whole units: what the loss L sums up."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from shoal.cells.cells import Cells
from shoal.cells.domain import Domain, Kind
from shoal.cells.spans import Spans
from shoal.cells.units import places, whole
from shoal.metrics._covered import covered, leaves_at
from shoal.metrics.base import Node, Parts, Whole


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


def label_widths(domain: Domain, spans: Spans, j: int) -> npt.NDArray[np.float64]:
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
