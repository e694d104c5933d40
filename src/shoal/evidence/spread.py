"""How many published rows hold each value of a column, as a reader of the release would guess."""

import numpy as np
import numpy.typing as npt

from shoal.cells.domain import Domain, Kind
from shoal.cells.grouping import SUPPRESSED
from shoal.cells.spans import Spans
from shoal.metrics._covered import covered
from shoal.metrics.base import Parts

Floats = npt.NDArray[np.float64]


def spread_sensitive(parts: Parts, name: str) -> Floats:
    """(size,) published rows of each value of a sensitive column; where people's wishes count, raised
    values are spread too."""
    domain, codes = parts.cells.sensitive_domains[name], parts.cells.sensitive[name]
    hidden = starred_rows(parts)
    if not hidden.any() and name not in parts.raised:
        return np.bincount(codes, minlength=domain.size).astype(np.float64)
    kept = ~hidden
    levels = (
        parts.raised[name][kept] if name in parts.raised else np.zeros(int(kept.sum()), np.int8)
    )
    seen = codes[kept]
    after = np.bincount(seen[levels == 0], minlength=domain.size).astype(np.float64)
    for level in np.unique(levels[levels > 0]):
        assert domain.hierarchy is not None
        nodes = domain.hierarchy.nodes[level].copy()
        rows = np.bincount(nodes[seen[levels == level]], minlength=int(nodes.max()) + 1)
        if domain.missing >= 0:  # it is under no label that a value is raised to
            nodes = nodes[: domain.missing]
        leaves = np.bincount(nodes, minlength=len(rows))
        after[: len(nodes)] += (rows / np.maximum(leaves, 1))[nodes]
    return after


def starred_rows(parts: Parts) -> npt.NDArray[np.bool_]:
    """(n_rows,) rows of which no sensitive or plain value is published: suppressed in all columns, or
    in some with too few others to hide among."""
    hidden = parts.suppressed.copy()
    for grouping in parts.groupings:
        if grouping.least:
            gone = grouping.group == SUPPRESSED
            if gone.sum() < grouping.least:
                hidden |= gone
    return hidden


def spread_quasi(domain: Domain, spans: Spans, j: int) -> Floats:
    """(size,) published rows of each value of a quasi-identifier, those under a wider label spread
    evenly over it."""
    rows = spans.sizes.astype(np.float64)
    if domain.kind == Kind.SET:
        starts, members = spans.sets[j]
        many = np.diff(starts)
        return _sums(members, np.repeat(rows / np.maximum(many, 1), many), domain.size)
    some = np.flatnonzero(spans.sizes)
    low, high = (ends[some].astype(np.int64) for ends in covered(domain, spans, j))
    rows, wide = rows[some], low < high
    found = _sums(low[~wide], rows[~wide], domain.size)
    if not wide.any():
        return found
    # each wide label adds its rows per value where it begins and takes them off after its end
    pairs, of = np.unique(low[wide] * (domain.size + 1) + high[wide], return_inverse=True)
    first, last = np.divmod(pairs, domain.size + 1)
    each = np.bincount(of, rows[wide]) / (last - first + 1)
    steps = _sums(first, each, domain.size + 1) - _sums(last + 1, each, domain.size + 1)
    return found + np.maximum(np.cumsum(steps)[: domain.size], 0.0)


def _sums(at: npt.NDArray[np.integer], rows: Floats, size: int) -> Floats:
    found: Floats = np.bincount(at, rows, size).astype(np.float64)
    return found
