"""The bits that a column held and lost: what non-uniform entropy sums up."""

import math

import numpy as np
import numpy.typing as npt

from shoal.metrics._covered import rows_covered
from shoal.metrics.base import Node, Parts

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def column_bits(parts: Parts) -> dict[str, tuple[float, float]]:
    """Per quasi-identifier the bits lost over all rows, and the bits there were to lose."""
    bits = {}
    n = parts.cells.n_rows
    for grouping, spans in zip(parts.groupings, parts.spans, strict=True):
        starred = n - int(spans.sizes.sum())
        for j, column in enumerate(grouping.columns):
            domain = parts.cells.domains[column]
            rows = parts.cells.rows_of_values[column]
            under = rows_covered(domain, spans, j, rows)
            bits[domain.name] = _bits(rows, spans.sizes, under, starred)
    return bits


def node_bits(node: Node) -> list[tuple[float, float]]:
    """The same for a node of the lattice, column by column."""
    bits = []
    for j, (domain, level) in enumerate(zip(node.cells.domains, node.levels, strict=True)):
        assert domain.hierarchy is not None
        rows, kept = node.cells.rows_of_values[j], node.rows_at(j)
        under = np.bincount(domain.hierarchy.nodes[level], rows)[kept > 0]
        bits.append(_bits(rows, kept[kept > 0], under, node.suppressed_rows))
    return bits


def _bits(rows: Ints, kept: Ints, under: Ints | Floats, starred: int) -> tuple[float, float]:
    """rows: those of each value; kept, under: published rows of each label, and the table's rows with
    a value under it; starred: suppressed rows."""
    n = int(rows.sum())
    held = rows[rows > 0]
    raw = float((held * np.log2(held)).sum())
    labels = float((kept * np.log2(under)).sum()) + starred * math.log2(n)
    # sums of rounded logarithms may end a hair below 0
    return max(0.0, labels - raw), max(0.0, n * math.log2(n) - raw)
