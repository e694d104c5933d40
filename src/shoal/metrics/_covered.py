"""Which values a label covers, and how many rows of the table hold one of them."""

import numpy as np
import numpy.typing as npt

from shoal.cells.domain import Domain, Kind
from shoal.cells.spans import Spans


def covered(
    domain: Domain, spans: Spans, j: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
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


def leaves_at(domain: Domain, level: int) -> npt.NDArray[np.int64]:
    """(nodes of the level,) the leaves under each node of a TREE column."""
    assert domain.hierarchy is not None
    first, last = domain.hierarchy.spans(level)
    return last - first + 1


def values_covered(domain: Domain, spans: Spans, j: int) -> npt.NDArray[np.int64]:
    """(g,) how many values of the column lie under each label."""
    if domain.kind == Kind.SET:
        return np.diff(spans.sets[j][0])
    low, high = covered(domain, spans, j)
    return high.astype(np.int64) - low + 1


def rows_covered(
    domain: Domain, spans: Spans, j: int, rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """(g,) how many rows of the table hold a value under each label; `rows`: those of each value."""
    if domain.kind == Kind.SET:
        starts, members = spans.sets[j]
        return np.diff(np.concatenate([[0], np.cumsum(rows[members])])[starts])
    below = np.concatenate([[0], np.cumsum(rows)])
    low, high = covered(domain, spans, j)
    return below[high + 1] - below[low]
