"""How general the cells of a column are published, and which values a reader would assume there."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shoal.arrays import Bools, Floats, Ints
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import SUPPRESSED, Spans
from shoal.evidence.evidence import Generality
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.dates import DateParts
from shoal.hierarchy.intervals import Intervals
from shoal.hierarchy.mask import Mask
from shoal.hierarchy.tree import HierarchyTree
from shoal.metrics.base import ReleaseView
from shoal.metrics.labels import codes_covered
from shoal.metrics.ncp import label_losses

AS_IT_WAS, ANYTHING, STARRED, APART = "as it was", "anything (*)", "suppressed", "in a table apart"
WIDTHS = (
    (0.05, "up to 5 % of the range"),
    (0.2, "up to 20 % of the range"),
    (0.5, "up to half of the range"),
    (np.inf, "more than half of the range"),
)
NUMBERS = (
    (1, AS_IT_WAS),
    (2, "one of 2 values"),
    (5, "one of 3 to 5 values"),
    (10, "one of 6 to 10 values"),
    (np.inf, "one of more than 10 values"),
)


def generality(levels: Sequence[str], rows: Sequence[float], n: int) -> tuple[Generality, ...]:
    """The generality of a column; of n rows those that are not counted are suppressed."""
    each = zip([*levels, STARRED], [*rows, n - sum(rows)], strict=True)
    return tuple(Generality(label, float(count) / n) for label, count in each if count)


def level_names(domain: Domain, spec: Hierarchy | None) -> list[str]:
    """The levels of generality of a quasi-identifier, from the finest on; `spec` is its hierarchy in the
    policy."""
    if domain.kind == Kind.SET:
        return [name for _, name in NUMBERS]
    if domain.kind == Kind.RANGE:
        return [AS_IT_WAS, *(name for _, name in WIDTHS), ANYTHING]
    assert domain.hierarchy is not None
    return _tree_level_names(domain.hierarchy, spec)


def _tree_level_names(tree: HierarchyTree, spec: Hierarchy | None) -> list[str]:
    """The names of the levels of a hierarchy."""
    between = range(1, tree.height)
    words = [f"at level {level}" for level in between]
    if isinstance(spec, DateParts):
        parts = spec.parts[len(spec.parts) - len(between) :]  # a day is no level of bare dates
        words = [f"by {part}" for part in parts]
    elif isinstance(spec, Intervals):
        words = [f"in intervals of {width:g}" for width in spec.widths]
    elif isinstance(spec, Mask):
        words = [f"{n} character{'' if n == 1 else 's'} hidden" for n in between]
    root = tree.labels[-1][0]
    return [AS_IT_WAS, *words, ANYTHING if root == "*" else root]


def sensitive_level_names(levels: int, apart: bool) -> list[str]:
    """The levels of a sensitive column, whose values may be raised; `apart`: it is published in a table
    of its own."""
    first = APART if apart else AS_IT_WAS
    return [first, *(f"raised to level {level + 1}" for level in range(1, levels))]


def rows_by_level(domain: Domain, spans: Spans, j: int) -> Ints:
    """(levels,) published rows at each level; levels may be missing at the end."""
    return np.bincount(_level(domain, spans, j), spans.sizes).astype(np.int64)


def _level(domain: Domain, spans: Spans, j: int) -> npt.NDArray[np.integer]:
    """(g,) the level of generality of the label of each group."""
    if domain.kind == Kind.SET:
        members = np.diff(spans.sets[j][0])
        return np.searchsorted([most for most, _ in NUMBERS], members)
    if domain.kind == Kind.RANGE:
        loss = label_losses(domain, spans, j)
        which = 1 + np.searchsorted([most for most, _ in WIDTHS], loss)
        wide = spans.low[:, j] != spans.high[:, j]
        which[~wide] = 0
        which[wide & (spans.high[:, j] == domain.missing)] = 1 + len(WIDTHS)
        return which
    tree = domain.hierarchy
    assert tree is not None
    which = spans.levels[:, j].astype(np.int64)
    for level in range(1, tree.height + 1):
        at = np.flatnonzero(which == level)
        which[at[_unchanged(tree, level)[tree.nodes[level, spans.low[at, j]]]]] = 0
    return which


def _unchanged(tree: HierarchyTree, level: int) -> Bools:
    """(nodes of the level,) whether it reads as the one leaf under it does."""
    first, last = tree.spans(level)
    leaves, nodes = tree.labels[0], tree.labels[level]
    same = np.array([leaves[leaf] == text for leaf, text in zip(first, nodes, strict=True)])
    alone: Bools = (first == last) & same & (level < tree.height)
    return alone


def sensitive_rows_by_level(parts: ReleaseView, name: str) -> Ints:
    """(levels,) published rows of a sensitive column at each level that people prefer."""
    if parts.alike is not None and name not in parts.raised:
        return np.array([int(parts.alike.times.sum())])
    hidden, levels = starred_rows(parts), parts.raised.get(name)
    if levels is None:
        return np.array([int((~hidden).sum())])
    return np.bincount(levels[~hidden], minlength=1)


def starred_rows(parts: ReleaseView) -> Bools:
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
    low, high = (ends[some].astype(np.int64) for ends in codes_covered(domain, spans, j))
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


def spread_sensitive(parts: ReleaseView, name: str) -> Floats:
    """(size,) published rows of each value of a sensitive column; values that were raised by a
    preference are spread too."""
    domain = parts.cells.sensitive_domains[name]
    if parts.alike is not None and name not in parts.raised:
        return parts.alike.with_value(name, domain.size).astype(np.float64)
    codes = parts.cells.sensitive[name]
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


def _sums(at: npt.NDArray[np.integer], rows: Floats, size: int) -> Floats:
    found: Floats = np.bincount(at, rows, size).astype(np.float64)
    return found
