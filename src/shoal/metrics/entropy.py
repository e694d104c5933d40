"""The bits that a column held and lost: what non-uniform entropy sums up."""

import math

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.metrics.base import Node, Parts, Sums, Whole, whole_of
from shoal.metrics.losses import rows_covered

LABELS, STARRED = "labels:", "starred:"
"""Before a column's name: the bits under its labels, and its suppressed cells."""


def label_bits(parts: Parts) -> Sums:
    """Per quasi-identifier, over all published rows, the bits of who is under the label; and the
    suppressed rows."""
    bits: Sums = {}
    table = whole_of(parts)
    for grouping, spans in zip(parts.groupings, parts.spans, strict=True):
        for j, column in enumerate(grouping.columns):
            domain = table.domains[column]
            under = rows_covered(domain, spans, j, table.rows_of_values[column])
            bits[LABELS + domain.name] = _labels(spans.sizes, under)
            bits[STARRED + domain.name] = parts.cells.n_rows - int(spans.sizes.sum())
    return bits


def column_bits(sums: Sums, whole: Whole) -> list[tuple[float, float]]:
    """Per quasi-identifier the bits lost over all rows, and the bits there were to lose."""
    return [
        _bits(rows, sums[LABELS + domain.name], int(sums[STARRED + domain.name]))
        for domain, rows in zip(whole.domains, whole.rows_of_values, strict=True)
        if LABELS + domain.name in sums
    ]


def node_bits(node: Node) -> list[tuple[float, float]]:
    """The same for a node of the lattice, column by column."""
    bits = []
    for j, (domain, level) in enumerate(zip(node.cells.domains, node.levels, strict=True)):
        assert domain.hierarchy is not None
        rows, kept = node.cells.rows_of_values[j], node.rows_at(j)
        under = np.bincount(domain.hierarchy.nodes[level], rows)[kept > 0]
        bits.append(_bits(rows, _labels(kept[kept > 0], under), node.suppressed_rows))
    return bits


def _labels(kept: Ints, under: Ints | Floats) -> float:
    """kept, under: published rows of each label, and the table's rows with a value under it."""
    return float((kept * np.log2(under)).sum())


def _bits(rows: Ints, labels: float, starred: int) -> tuple[float, float]:
    """rows: those of each value; labels: the bits under all labels; starred: suppressed rows."""
    n = int(rows.sum())
    held = rows[rows > 0]
    raw = float((held * np.log2(held)).sum())
    labels += starred * math.log2(n)
    # sums of rounded logarithms may end a hair below 0
    return max(0.0, labels - raw), max(0.0, n * math.log2(n) - raw)
