"""How many rows hold each value of a column: in truth, and as a reader of the release would guess."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.cells.domain import Domain, Kind
from shoal.cells.grouping import SUPPRESSED
from shoal.cells.spans import Spans
from shoal.metrics._covered import covered
from shoal.metrics.base import Parts

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """Rows of each value of a column."""

    domain: Domain
    before: Ints
    """(size,) rows of the input."""
    after: Floats
    """(size,) rows published in the column, those under a wider label spread evenly over it."""


def spread_quasi(parts: Parts) -> dict[str, Rows]:
    """Per quasi-identifier."""
    found = {}
    for grouping, spans in zip(parts.groupings, parts.spans, strict=True):
        for j, column in enumerate(grouping.columns):
            domain = parts.cells.domains[column]
            before = parts.cells.rows_of_values[column]
            found[domain.name] = Rows(domain, before, _spread(domain, spans, j))
    return found


def spread_sensitive(parts: Parts, name: str) -> Rows:
    """For a sensitive column; where people's wishes count, raised values are spread too."""
    domain, codes = parts.cells.sensitive_domains[name], parts.cells.sensitive[name]
    before = np.bincount(codes, minlength=domain.size)
    hidden = starred_rows(parts)
    if not hidden.any() and name not in parts.raised:
        return Rows(domain, before, before.astype(np.float64))
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
    return Rows(domain, before, after)


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


def _spread(domain: Domain, spans: Spans, j: int) -> Floats:
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
