"""Which values the label of a group covers, and how many rows of the table hold one of them."""

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import Spans
from shoal.metrics.base import ReleaseView


def codes_covered(domain: Domain, spans: Spans, j: int) -> tuple[Codes, Codes]:
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


def values_covered(domain: Domain, spans: Spans, j: int) -> Ints:
    """(g,) how many values of the column lie under each label."""
    if domain.kind == Kind.SET:
        return np.diff(spans.sets[j][0])
    low, high = codes_covered(domain, spans, j)
    return high.astype(np.int64) - low + 1


def rows_covered(domain: Domain, spans: Spans, j: int, rows: Ints) -> Ints:
    """(g,) how many rows of the table hold a value under each label; `rows`: those of each value."""
    if domain.kind == Kind.SET:
        starts, members = spans.sets[j]
        return np.diff(np.concatenate([[0], np.cumsum(rows[members])])[starts])
    below = np.concatenate([[0], np.cumsum(rows)])
    low, high = codes_covered(domain, spans, j)
    return below[high + 1] - below[low]


def leaves_at(domain: Domain, level: int) -> Ints:
    """(nodes of the level,) the leaves under each node of a TREE column."""
    assert domain.hierarchy is not None
    first, last = domain.hierarchy.spans(level)
    return last - first + 1


def leaves_under(view: ReleaseView, name: str) -> Ints:
    """(n_rows,) the values under what is published of a sensitive column: 1 where it is not raised."""
    cells = view.cells
    found = np.ones(cells.n_rows, np.int64)
    levels = view.raised.get(name)
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
