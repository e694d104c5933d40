"""The bits that a column held and lost: what non-uniform entropy sums up."""

import math

import numpy as np

from shoal.metrics._covered import rows_covered
from shoal.metrics.base import Parts


def column_bits(parts: Parts) -> dict[str, tuple[float, float]]:
    """Per quasi-identifier the bits lost over all rows, and the bits there were to lose."""
    bits = {}
    n = parts.cells.n_rows
    for grouping, spans in zip(parts.groupings, parts.spans, strict=True):
        starred = n - int(spans.sizes.sum())
        for j, column in enumerate(grouping.columns):
            domain = parts.cells.domains[column]
            rows = parts.rows_of_values[column]
            held = rows[rows > 0]
            raw = float((held * np.log2(held)).sum())
            under = rows_covered(domain, spans, j, rows)
            labels = float((spans.sizes * np.log2(under)).sum()) + starred * math.log2(n)
            # sums of rounded logarithms may end a hair below 0
            bits[domain.name] = (max(0.0, labels - raw), max(0.0, n * math.log2(n) - raw))
    return bits
