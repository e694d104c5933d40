"""A generalisation hierarchy as an integer matrix.

Leaves are numbered depth first, so every node covers one unbroken range of leaves. Then the lowest
node over a group is on the first level where its smallest and its largest leaf have the same node.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Floats, Ints
from shoal.errors import HierarchyError
from shoal.hierarchy.text import text_of

TOP = "*"
MISSING = ""
"""The label of the missing value's leaf and of the nodes right above it."""
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
"""A character after a backslash, which in labels is an ordinary one."""
MOST_CELLS = 1 << 26
"""Leaves times levels: a hierarchy beyond this would take several gigabytes."""


@dataclass(frozen=True)
class HierarchyTree:
    """A tree over `n` leaves with `height` levels above them and one root."""

    labels: tuple[tuple[str, ...], ...]
    """labels[level][node]: the text of each node. labels[0] are the leaves, depth first, as in the
    table; the last level is the root alone."""

    nodes: Codes
    """(height + 1, n): the node that covers leaf c on each level. Row 0 counts 0..n-1, every row
    ascends without gaps, the last row is 0."""

    @property
    def height(self) -> int:
        """Levels above the leaves."""
        return len(self.labels) - 1

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.labels[0])

    def spans(self, level: int) -> tuple[Ints, Ints]:
        """(nodes of the level,) twice: the first and the last leaf of each node."""
        row, every = self.nodes[level], np.arange(len(self.labels[level]))
        return np.searchsorted(row, every), np.searchsorted(row, every, side="right") - 1

    def shares(self, level: int) -> Floats:
        """(nodes of the level,) the share of all leaves that each node covers."""
        first, last = self.spans(level)
        return (last - first + 1) / max(self.n_leaves, 1)

    def lowest(self, first: npt.NDArray[np.integer], last: npt.NDArray[np.integer]) -> Codes:
        """(g,) the lowest level with one node over both the leaves first[i] and last[i].

        The node itself is `nodes[level, first]`.
        """
        level = np.zeros(len(first), dtype=np.int32)
        for row in self.nodes[:-1]:
            level += row[first] != row[last]
        return level

    def texts(
        self, levels: npt.NDArray[np.integer], nodes: npt.NDArray[np.integer]
    ) -> pa.StringArray:
        """(g,) the label of node nodes[i] on level levels[i]."""
        offsets = np.cumsum([0, *(len(level) for level in self.labels)])
        flat = pa.array([label for level in self.labels for label in level], pa.string())
        return flat.take(pa.array(offsets[levels] + nodes))


def check_size(n_leaves: int, height: int, column: str) -> None:
    """Refuse, before any work, a hierarchy that is too large for memory."""
    if n_leaves * height > MOST_CELLS:
        raise HierarchyError(
            f"Column '{column}': {n_leaves:,} different values with {height:,} levels above them "
            f"make {n_leaves * height:,} cells in its hierarchy; at most {MOST_CELLS:,} are "
            "allowed. Give it another hierarchy with fewer levels."
        )


def from_starts(
    leaves: Sequence[str],
    starts: Sequence[Bools],
    label: Callable[[int, npt.NDArray[np.intp]], Sequence[str]],
    root: str = TOP,
) -> HierarchyTree:
    """A tree over leaves that are in depth-first order already.

    starts: per level between leaves and root, lowest first, (n,) whether a leaf begins a new node.
    label: given a level (1 is right above the leaves) and the first leaf of each of its nodes, the
    texts of those nodes.
    """
    firsts = [np.flatnonzero(start) for start in starts]
    nodes = np.zeros((len(starts) + 2, len(leaves)), dtype=np.int32)
    nodes[0] = np.arange(len(leaves))
    labels = [tuple(leaves)]
    for level, (start, first) in enumerate(zip(starts, firsts, strict=True), 1):
        nodes[level] = np.cumsum(start) - 1
        labels.append(tuple(label(level, first)))
    return HierarchyTree((*labels, (root,)), nodes)


def with_missing(tree: HierarchyTree) -> HierarchyTree:
    """The same tree with one more leaf, the last, for the missing value.

    It is right under the root, alone on every level in between: only the root covers a missing value
    and another one.
    """
    *below, root = tree.labels
    labels = (*((*level, MISSING) for level in below), root)
    alone = np.array([*(len(level) for level in below), 0], dtype=np.int32)
    return HierarchyTree(labels, np.column_stack([tree.nodes, alone]))


def changes(keys: npt.NDArray[np.generic]) -> Bools:
    """(n,) whether each key differs from the one before; the first one does."""
    start = np.ones(len(keys), dtype=np.bool_)
    start[1:] = keys[1:] != keys[:-1]
    return start


def find_cycle(below: Ints, above: Ints, size: int) -> list[int]:
    """The numbers on one cycle, the first one again at the end; empty when there is none.

    above[i] is the parent of below[i]; numbers are 0..size-1. A number that is its own parent is no
    cycle. Numbers without children or without a parent are removed until none is left, or a cycle is.
    """
    is_parent = np.zeros(size, dtype=np.bool_)
    is_parent[above] = True
    # most numbers are leaves: they are removed before anything is sorted
    pairs = np.unique((below * size + above)[is_parent[below] & (below != above)])
    while len(pairs):
        below, above = pairs // size, pairs % size
        inside = np.isin(above, below) & np.isin(below, above)
        if inside.all():
            return _climb_to_cycle(dict(zip(below.tolist(), above.tolist(), strict=True)))
        pairs = pairs[inside]
    return []


def _climb_to_cycle(parent: dict[int, int]) -> list[int]:
    """Every number has a parent here, so climbing returns to a number that was visited before."""
    at = min(parent)
    visited: dict[int, None] = {}
    while at not in visited:
        visited[at] = None
        at = parent[at]
    path = list(visited)
    return [*path[path.index(at) :], at]


@dataclass(frozen=True)
class Leaves:
    """Distinct texts in text order, and which of them each value is."""

    texts: pa.Array
    """(n,) string, ascending by code point, no two equal, none missing."""
    of_value: Codes
    """(values,) the place of each value's text."""

    def codes(self, order: npt.NDArray[np.integer]) -> Codes:
        """(values,) the code of each value when the texts order[0], order[1], .. are the leaves.

        A value whose text is not in `order` gets -1.
        """
        place = np.full(len(self.texts), -1, dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return place[self.of_value]


def leaves_of(values: pa.Array) -> Leaves:
    """The leaves of some values, none of which may be missing."""
    coded = text_of(values).dictionary_encode()
    order = pc.sort_indices(coded.dictionary).to_numpy()
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return Leaves(coded.dictionary.take(pa.array(order)), rank[coded.indices.to_numpy()])


def codes_of(values: pa.Array, tree: HierarchyTree) -> Codes:
    """(values,) the leaf with each value's text, or -1."""
    leaves = pa.array(tree.labels[0], pa.string())
    codes: Codes = pc.index_in(text_of(values), value_set=leaves).fill_null(-1).to_numpy()
    return codes


@dataclass(frozen=True)
class _Paths:
    """The paths as integers, and where they were written.

    With the first row of every node, a second parent is found by comparing each row with the first one
    that names the node, and depth-first order is a sort by where each ancestor was first named.
    """

    name: str
    lines: Sequence[int] | None
    texts: list[str]
    ids: Ints
    """(levels, rows) the number of each text."""
    first: Ints
    """(levels, texts) the first row with the text on that level, or -1."""

    def at(self, row: int) -> str:
        """Where a row was written, for messages."""
        return self.name if self.lines is None else f"{self.name} line {self.lines[row]}"


def from_paths(
    paths: Sequence[Sequence[str]], name: str, lines: Sequence[int] | None = None
) -> HierarchyTree:
    """The tree with these paths, siblings in the order of their first appearance.

    paths: per leaf its text and those of its ancestors, lowest first, all equally long; a path may
    occur twice. name and lines are for messages. When the paths have more than one top, or are one
    text long, a root `*` is added.
    """
    if not paths:
        raise HierarchyError(f"{name} has no leaf: write at least one.")
    coded = _code(paths, name, lines)
    _check_cycles(coded)
    for level in range(len(coded.ids) - 1):
        _check_parents(coded, level)
    _check_names(coded)
    _check_escapes(coded)
    return _assemble(coded)


def _code(paths: Sequence[Sequence[str]], name: str, lines: Sequence[int] | None) -> _Paths:
    columns = [pa.array(column, pa.string()) for column in zip(*paths, strict=True)]
    coded = pa.concat_arrays(columns).dictionary_encode()
    texts = coded.dictionary.to_pylist()
    ids = coded.indices.to_numpy().astype(np.int64).reshape(len(columns), -1)
    rows = np.arange(ids.shape[1])
    first = np.full((len(columns), len(texts)), -1)
    for level, row in enumerate(ids):
        # of several writes to one place the last one counts: backwards, that is the first row
        first[level, row[::-1]] = rows[::-1]
    return _Paths(name, lines, texts, ids, first)


def _check_cycles(paths: _Paths) -> None:
    """No text may be both below and above another one."""
    cycle = find_cycle(paths.ids[:-1].ravel(), paths.ids[1:].ravel(), len(paths.texts))
    if cycle:
        _, row = np.argwhere((paths.ids[:-1] == cycle[0]) & (paths.ids[1:] == cycle[1]))[0]
        chain = " under ".join(f"'{paths.texts[text]}'" for text in cycle)
        raise HierarchyError(
            f"{paths.at(row)}: the hierarchy has a cycle: {chain}. A text may not be above itself "
            "with another one between: rename one of them or correct its ancestors."
        )


def _check_parents(paths: _Paths, level: int) -> None:
    """Each node of the level has one parent."""
    below, above = paths.ids[level], paths.ids[level + 1]
    known = paths.first[level, below]
    conflicts = np.flatnonzero(above[known] != above)
    if len(conflicts):
        row, before = int(conflicts[0]), int(known[conflicts[0]])
        one, other = _parents(paths, level, before, row)
        raise HierarchyError(
            f"{paths.at(row)}: '{paths.texts[below[row]]}' has two parents, '{one}'"
            f"{_line(paths, before)} and '{other}'{_line(paths, row)}. A node has one parent: "
            "correct one of them, or give the two nodes different names."
        )


def _parents(paths: _Paths, level: int, *rows: int) -> list[str]:
    """The first ancestor with another text, since a leaf may be repeated below; else the next."""
    parents = []
    for row in rows:
        column = paths.ids[level:, row]
        other = np.flatnonzero(column != column[0])
        parents.append(paths.texts[column[other[0] if len(other) else 1]])
    if len(set(parents)) < len(parents):
        return [paths.texts[paths.ids[level + 1, row]] for row in rows]
    return parents


def _line(paths: _Paths, row: int) -> str:
    return "" if paths.lines is None else f" (line {paths.lines[row]})"


def _rank(level: int) -> str:
    return f"on level {level}" if level else "as a leaf"


def _check_names(paths: _Paths) -> None:
    """A text on two levels must be a node and a part of it, or labels would be ambiguous."""
    for low in range(len(paths.ids) - 1):
        for high in range(low + 1, len(paths.ids)):
            both = np.flatnonzero((paths.first[low] >= 0) & (paths.first[high] >= 0))
            rows = paths.first[low, both]
            apart = np.flatnonzero(paths.ids[high, rows] != both)
            if len(apart):
                text, row = paths.texts[both[apart[0]]], int(rows[apart[0]])
                there = int(paths.first[high, both[apart[0]]])
                raise HierarchyError(
                    f"{paths.at(row)}: '{text}' {_rank(low)}{_line(paths, row)} is not part of "
                    f"'{text}' {_rank(high)}{_line(paths, there)}. Their labels would be ambiguous: "
                    "give one of them another name."
                )


def _check_escapes(paths: _Paths) -> None:
    """No node may be named as a leaf is published.

    A leaf is published with a backslash where its text could be taken for something else, such as a
    node of the same text: beside a node `Asia` the leaf `Asia` is `\\Asia`.
    """
    leaves = {paths.texts[i]: i for i in np.flatnonzero(paths.first[0] >= 0).tolist()}
    for level in range(1, len(paths.ids)):
        for node in np.flatnonzero(paths.first[level] >= 0).tolist():
            text = paths.texts[node]
            if "\\" not in text or (leaf := leaves.get(ESCAPED.sub(r"\1", text))) is None:
                continue
            below = paths.ids[0, paths.ids[level] == node]
            if (below == node).all():  # a leaf that is repeated above itself is published as a leaf
                continue
            row, there = int(paths.first[level, node]), int(paths.first[0, leaf])
            raise HierarchyError(
                f"{paths.at(row)}: the node '{text}' {_rank(level)}{_line(paths, row)} reads like the "
                f"leaf '{paths.texts[leaf]}'{_line(paths, there)}: in labels a backslash marks what "
                "follows it as a plain value. Their labels would be ambiguous: rename the node."
            )


def _assemble(paths: _Paths) -> HierarchyTree:
    order = np.lexsort(np.take_along_axis(paths.first, paths.ids, axis=1))
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
