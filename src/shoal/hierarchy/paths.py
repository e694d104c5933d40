"""From one path per leaf (the leaf, its parent, .. up to the top) to a hierarchy.

Texts become integers once; then "two parents" is a comparison of each row with the first row that
names the node, and depth-first order is a sort by where each ancestor was first named.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.errors import HierarchyError
from shoal.hierarchy.cycles import find_cycle
from shoal.hierarchy.tree import TOP, Hierarchy, changes, from_starts


@dataclass(frozen=True)
class _Paths:
    """The paths as integers, and where they came from."""

    name: str
    lines: Sequence[int] | None
    texts: list[str]
    ids: npt.NDArray[np.int64]
    """(levels, rows) which text stands where."""
    first: npt.NDArray[np.int64]
    """(levels, texts) the first row with the text on that level, or -1."""

    def at(self, row: int) -> str:
        """The place of a row, as far as it has one."""
        return self.name if self.lines is None else f"{self.name} line {self.lines[row]}"


def from_paths(
    paths: Sequence[Sequence[str]], name: str, lines: Sequence[int] | None = None
) -> Hierarchy:
    """The hierarchy that the paths spell, siblings in the order of their first appearance.

    paths: per leaf its text and those of its ancestors, lowest first, all equally long; a path may
    occur twice. name and lines say in errors where a path was written. When the paths have more
    than one top, or are one text long, a root `*` is added.
    """
    if not paths:
        raise HierarchyError(f"{name} names no leaf: write at least one.")
    coded = _code(paths, name, lines)
    _check_cycles(coded)
    for level in range(len(coded.ids) - 1):
        _check_parents(coded, level)
    _check_names(coded)
    return _assemble(coded)


def _code(paths: Sequence[Sequence[str]], name: str, lines: Sequence[int] | None) -> _Paths:
    columns = [pa.array(column, pa.string()) for column in zip(*paths, strict=True)]
    coded = pa.concat_arrays(columns).dictionary_encode()
    texts = coded.dictionary.to_pylist()
    ids = coded.indices.to_numpy().astype(np.int64).reshape(len(columns), -1)
    rows = np.arange(ids.shape[1])
    first = np.full((len(columns), len(texts)), -1)
    for level, row in enumerate(ids):
        # of several writes to one place the last one stays: backwards, that is the first row
        first[level, row[::-1]] = rows[::-1]
    return _Paths(name, lines, texts, ids, first)


def _check_cycles(paths: _Paths) -> None:
    """A text below and above another one cannot be a part of it."""
    cycle = find_cycle(paths.ids[:-1].ravel(), paths.ids[1:].ravel(), len(paths.texts))
    if cycle:
        _, row = np.argwhere((paths.ids[:-1] == cycle[0]) & (paths.ids[1:] == cycle[1]))[0]
        chain = " under ".join(f"'{paths.texts[text]}'" for text in cycle)
        raise HierarchyError(
            f"{paths.at(row)}: the hierarchy runs in a circle: {chain}. A text may not lie above "
            "itself with another one between: rename one of them or correct its ancestors."
        )


def _check_parents(paths: _Paths, level: int) -> None:
    """Each node of the level lies under one node of the next."""
    below, above = paths.ids[level], paths.ids[level + 1]
    known = paths.first[level, below]
    torn = np.flatnonzero(above[known] != above)
    if len(torn):
        row, before = int(torn[0]), int(known[torn[0]])
        one, other = _parents(paths, level, before, row)
        raise HierarchyError(
            f"{paths.at(row)}: '{paths.texts[below[row]]}' has two parents, '{one}'"
            f"{_said(paths, before)} and '{other}'{_said(paths, row)}. A node lies under one "
            f"parent: correct one of them, or give the two nodes different names."
        )


def _parents(paths: _Paths, level: int, *rows: int) -> list[str]:
    """The first ancestor with another text, since a leaf may be repeated below; else the next."""
    found = []
    for row in rows:
        column = paths.ids[level:, row]
        other = np.flatnonzero(column != column[0])
        found.append(paths.texts[column[other[0] if len(other) else 1]])
    if len(set(found)) < len(found):
        return [paths.texts[paths.ids[level + 1, row]] for row in rows]
    return found


def _said(paths: _Paths, row: int) -> str:
    return "" if paths.lines is None else f" (line {paths.lines[row]})"


def _rank(level: int) -> str:
    return f"on level {level}" if level else "as a leaf"


def _check_names(paths: _Paths) -> None:
    """One text on two levels must mean a node and a part of it, or a reader could not tell."""
    for low in range(len(paths.ids) - 1):
        for high in range(low + 1, len(paths.ids)):
            both = np.flatnonzero((paths.first[low] >= 0) & (paths.first[high] >= 0))
            rows = paths.first[low, both]
            apart = np.flatnonzero(paths.ids[high, rows] != both)
            if len(apart):
                text, row = paths.texts[both[apart[0]]], int(rows[apart[0]])
                there = int(paths.first[high, both[apart[0]]])
                raise HierarchyError(
                    f"{paths.at(row)}: '{text}' {_rank(low)}{_said(paths, row)} is no part of "
                    f"'{text}' {_rank(high)}{_said(paths, there)}. A reader could not tell the two "
                    "apart: give one of them another name."
                )


def _assemble(paths: _Paths) -> Hierarchy:
    seen = np.take_along_axis(paths.first, paths.ids, axis=1)
    order = np.lexsort(seen)
    order = order[changes(paths.ids[0, order])]  # a leaf named twice is one leaf
    ids = paths.ids[:, order]
    one_top = len(ids) > 1 and len(order) > 0 and bool((ids[-1] == ids[-1, 0]).all())
    between = ids[1:-1] if one_top else ids[1:]
    names = np.array(paths.texts, dtype=object)
    return from_starts(
        names[ids[0]].tolist(),
        [changes(row) for row in between],
        lambda level, firsts: names[ids[level, firsts]].tolist(),
        paths.texts[ids[-1, 0]] if one_top else TOP,
    )
