"""How coarse the cells of a column were published, in words."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from shoal.cells.domain import Domain, Kind
from shoal.cells.spans import Spans
from shoal.evidence.evidence import Generality
from shoal.evidence.spread import starred_rows
from shoal.hierarchy.dates import DateParts
from shoal.hierarchy.intervals import Intervals
from shoal.hierarchy.mask import Mask
from shoal.hierarchy.spec import HierarchySpec
from shoal.hierarchy.tree import Hierarchy
from shoal.metrics._losses import label_losses
from shoal.metrics.base import Parts

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


def generality_of_quasi(
    parts: Parts, how: Mapping[str, HierarchySpec | None]
) -> dict[str, tuple[Generality, ...]]:
    """Per quasi-identifier; `how` are the hierarchies that the policy gives them."""
    found, n = {}, parts.cells.n_rows
    for grouping, spans in zip(parts.groupings, parts.spans, strict=True):
        for j, column in enumerate(grouping.columns):
            domain = parts.cells.domains[column]
            labels, which = _coarseness(domain, spans, j, how.get(domain.name))
            rows = np.bincount(which, spans.sizes, len(labels))
            found[domain.name] = _shares([*labels, STARRED], [*rows, n - rows.sum()], n)
    return found


def generality_of_sensitive(parts: Parts, name: str, apart: bool) -> tuple[Generality, ...]:
    """Of a sensitive column; `apart`: it is published in a table of its own."""
    hidden = starred_rows(parts)
    levels = parts.raised.get(name)
    if levels is None:
        rows = [int((~hidden).sum())]
        labels = [APART if apart else AS_IT_WAS]
    else:
        rows = np.bincount(levels[~hidden], minlength=1).tolist()
        labels = [AS_IT_WAS, *(f"raised to level {level + 1}" for level in range(1, len(rows)))]
    return _shares([*labels, STARRED], [*rows, int(hidden.sum())], parts.cells.n_rows)


def _shares(labels: Sequence[str], rows: Sequence[float], n: int) -> tuple[Generality, ...]:
    each = zip(labels, rows, strict=True)
    return tuple(Generality(label, float(count) / n) for label, count in each if count)


def _coarseness(
    domain: Domain, spans: Spans, j: int, spec: HierarchySpec | None
) -> tuple[list[str], npt.NDArray[np.integer]]:
    """The words, and (g,) which of them fits the label of each group."""
    if domain.kind == Kind.SET:
        members = np.diff(spans.sets[j][0])
        return [w for _, w in NUMBERS], np.searchsorted([most for most, _ in NUMBERS], members)
    if domain.kind == Kind.RANGE:
        loss = label_losses(domain, spans, j)
        which = 1 + np.searchsorted([most for most, _ in WIDTHS], loss)
        wide = spans.low[:, j] != spans.high[:, j]
        which[~wide] = 0
        which[wide & (spans.high[:, j] == domain.missing)] = 1 + len(WIDTHS)
        return [AS_IT_WAS, *(words for _, words in WIDTHS), ANYTHING], which
    tree = domain.hierarchy
    assert tree is not None
    which = spans.levels[:, j].astype(np.int64)
    for level in range(1, tree.height + 1):
        at = np.flatnonzero(which == level)
        which[at[_unchanged(tree, level)[tree.nodes[level, spans.low[at, j]]]]] = 0
    return _levels(tree, spec), which


def _unchanged(tree: Hierarchy, level: int) -> npt.NDArray[np.bool_]:
    """(nodes of the level,) whether it reads as the one leaf under it does."""
    first, last = tree.spans(level)
    leaves, nodes = tree.labels[0], tree.labels[level]
    same = np.array([leaves[leaf] == text for leaf, text in zip(first, nodes, strict=True)])
    alone: npt.NDArray[np.bool_] = (first == last) & same & (level < tree.height)
    return alone


def _levels(tree: Hierarchy, spec: HierarchySpec | None) -> list[str]:
    """What the levels of a tree mean."""
    between = range(1, tree.height)
    words = [f"at level {level}" for level in between]
    if isinstance(spec, DateParts):
        parts = spec.date[len(spec.date) - len(between) :]  # a day is no level of bare dates
        words = [f"by {part}" for part in parts]
    elif isinstance(spec, Intervals):
        words = [f"in intervals of {width:g}" for width in spec.intervals]
    elif isinstance(spec, Mask):
        words = [f"{n} character{'' if n == 1 else 's'} hidden" for n in between]
    root = tree.labels[-1][0]
    return [AS_IT_WAS, *words, ANYTHING if root == "*" else root]
