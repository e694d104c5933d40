"""A column's distribution before and after, in few bars, none of which tells of few people.

Which bar a value belongs to follows from the input alone, so the rows of a release can be counted in
parts that are added up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from shoal.cells.domain import Domain, Kind
from shoal.cells.tally import COMMON
from shoal.evidence.axis import Axis, axis_of, ends_of
from shoal.evidence.evidence import Bar

MOST_BARS = 12
"""Beside those of others and of the missing value."""
MOST_ROWS = 0.75
"""A level of a tree is shown if its bars tell of this share of the rows."""
OTHERS, MISSING = "others", "missing"

Ints = npt.NDArray[np.int64]


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Bars:
    """The bars of a column; the last is for all other values."""

    labels: tuple[str, ...]
    place: npt.NDArray[np.int8]
    """(values,) the bar that each value belongs to."""
    before: tuple[float, ...]
    """The share of the input rows that each bar has."""
    lumped: int
    """How many values that occur are told together as others."""

    def rows(self, after: npt.NDArray[np.number]) -> Floats:
        """(bars,) the published rows of each, from those of each value."""
        return np.bincount(self.place, after, len(self.labels)).astype(np.float64)

    def told(self, after: npt.NDArray[np.number]) -> tuple[Bar, ...]:
        """The distribution; `after` are the published rows of each bar."""
        shares = zip(self.labels, self.before, _of_one(after).tolist(), strict=True)
        found = [Bar(label, was, now) for label, was, now in shares]
        return tuple(found[:-1] if not self.lumped and not found[-1].after else found)


@dataclass(frozen=True)
class _Chosen:
    """Which bar each known value belongs to."""

    labels: list[str]
    of_value: Ints
    """(values,) -1 for others."""


def bars_of(domain: Domain, rows: Ints, sensitive: bool = False) -> Bars:
    """The bars of a column; `rows` are those of the input that hold each value.

    sensitive: numbers are told in bins even where the policy does not call the column ordered.
    """
    known = domain.size if domain.missing < 0 else domain.missing
    before = rows[:known]
    bars = _tree(domain, before) if domain.kind == Kind.TREE else None
    if domain.kind == Kind.RANGE or (sensitive and domain.kind == Kind.SET):
        bars = _binned(domain, before, guess=domain.kind == Kind.SET)
    if bars is None:
        bars = _chosen(_text_at(domain), before, in_order=domain.kind == Kind.RANGE)
    labels, place = list(bars.labels), np.full(domain.size, -1, np.int64)
    place[:known] = bars.of_value
    if domain.missing >= 0 and rows[domain.missing] >= COMMON:
        place[domain.missing] = len(labels)
        labels.append(MISSING)
    place[place < 0] = len(labels)
    told = np.bincount(place, rows.astype(np.float64), len(labels) + 1)
    lumped = int(((place == len(labels)) & (rows > 0)).sum())
    shares = tuple(_of_one(told).tolist())
    return Bars((*labels, OTHERS), place.astype(np.int8), shares, lumped)


def _of_one(rows: npt.NDArray[np.number]) -> Floats:
    # the last digits of a float depend on the order of sums
    shares: Floats = np.round(rows / max(float(rows.sum()), 1.0), 9)
    return shares


def _text_at(domain: Domain) -> Callable[[int], str]:
    texts = domain.texts
    return lambda code: texts[code].as_py()  # only those that are shown are looked up


def _chosen(text: Callable[[int], str], before: Ints, in_order: bool) -> _Chosen:
    """The most frequent values by name; the rare ones and those too many are others."""
    common = np.flatnonzero(before >= COMMON)
    common = common[np.argsort(-before[common], kind="stable")][:MOST_BARS]
    if in_order:
        common = np.sort(common)
    of_value = np.full(len(before), -1, np.int64)
    of_value[common] = np.arange(len(common))
    return _Chosen([_quoted(text(int(i))) for i in common], of_value)


def _quoted(text: str) -> str:
    """A value that reads like one of our own words is told apart."""
    return f"'{text}'" if text in (OTHERS, MISSING) else text


def _tree(domain: Domain, before: Ints) -> _Chosen:
    """The nodes of the lowest level on which a few of them hold most rows."""
    tree, known = domain.hierarchy, len(before)
    assert tree is not None
    for level in range(max(1, tree.height)):
        nodes = tree.nodes[level][:known].astype(np.int64)
        held = np.bincount(nodes, before, len(tree.labels[level])).astype(np.int64)
        bars = _chosen(tree.labels[level].__getitem__, held, in_order=True)
        of_value = bars.of_value[nodes]
        if before[of_value >= 0].sum() >= MOST_ROWS * before.sum():
            break
    return _Chosen(bars.labels, of_value)


def _binned(domain: Domain, before: Ints, guess: bool) -> _Chosen | None:
    """Bins with round edges; None where single values can be shown, or nothing else."""
    held = np.flatnonzero(before)
    if len(held) <= MOST_BARS and (before[held] >= COMMON).all():
        return None
    axis = axis_of(domain.texts.slice(0, len(before)), before, guess)
    if axis is None or (not guess and (np.diff(axis.at) < 0).any()):
        return None  # numbers that the policy puts into another order are words
    edges = _edges(axis, before)
    ends: list[Decimal | None] = [None, *edges, None]
    labels = [axis.label(low, high) for low, high in pairwise(ends)]
    return _Chosen(labels, _cut(axis, edges))


def _cut(axis: Axis, edges: Sequence[Decimal]) -> Ints:
    at: Ints = np.searchsorted([float(edge) for edge in edges], axis.at, side="right")
    return at


def _edges(axis: Axis, before: Ints) -> list[Decimal]:
    """Round edges, with enough rows in every bin."""
    low, high = ends_of(axis.at, before)
    first, last = (int(np.floor(end / float(axis.step))) for end in (low, high))
    if last - first > 2 * MOST_BARS:  # further apart than floats can count
        return []
    edges = [axis.step * k for k in range(first + 1, last + 1)]
    rows = np.bincount(_cut(axis, edges), before, len(edges) + 1)
    kept, inside = [], 0
    for edge, count in zip(edges, rows.tolist(), strict=False):
        inside += count
        if inside >= COMMON:
            kept.append(edge)
            inside = 0
    if kept and inside + rows[-1] < COMMON:
        kept.pop()
    return kept
