"""Finished clusters, and which of them is nearest to a growing one.

Source: the distances of L-clustering. DS(G, H) = |G| L(tg, t*) + |H| L(th, t*), where t* covers both
and L adds up, over the columns in their order, the width of t* over the width of the label it
replaces; nothing where they are the same.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.jit import inlined, kernel
from shoal.kernels.labels import (
    SET,
    Columns,
    Label,
    inside,
    ones,
    range_over,
    range_width,
)
from shoal.kernels.trie import NONE, Trie, insert, remove

CLASSES = 6
"""Labels are told apart by width: 1, 2, 3-4, 5-8, 9-16 and more."""
SLACK = 1.0 - 1e-9
"""A bound is lowered by this much before it may rule anything out: it may have been added up in
another order than the distance itself."""


class Herd(NamedTuple):
    """Clusters, each in a place of its own."""

    label: Label
    """Their labels."""
    size: npt.NDArray[np.int64]
    """(c,) rows."""
    finished: npt.NDArray[np.int64]
    """(c,) when it was finished: 0, 1, 2, …"""
    anchor: npt.NDArray[np.int32]
    """(c, d) one of its rows."""
    trie: Trie
    """An index of them by their anchors and widths."""
    level: npt.NDArray[np.int64]
    """(d,) the column of each level of the index."""
    shift: npt.NDArray[np.int64]
    """(d,) per column, how many codes share a key: 1 << shift."""


class Seeker(NamedTuple):
    """The growing cluster, and what it costs to reach each code from it."""

    label: Label
    """(1, …) its label."""
    widths: npt.NDArray[np.float64]
    """By code: the width of the label once it covers the code."""
    near: npt.NDArray[np.float64]
    """By key: the least width over its codes."""
    near_base: npt.NDArray[np.int64]
    """(d,) where the column's keys begin."""
    inside: npt.NDArray[np.bool_]
    """By key: whether it holds a code that the label covers already."""
    stack: npt.NDArray[np.int32]
    """Nodes to be visited."""
    sums: npt.NDArray[np.float64]
    """What they cost at least."""


@inlined
def width_class(label: Label, c: int, j: int) -> int:
    """The class of a label: 0 for a single value."""
    width = label.width[c, j]
    if label.low[c, j] >= 0 and label.low[c, j] == label.high[c, j]:
        return 0
    if width <= 2:
        return 1
    if width <= 4:
        return 2
    if width <= 8:
        return 3
    return 4 if width <= 16 else 5


@inlined
def class_floor(kind: int) -> float:
    """The least width of a class of several values (one value and the missing one may have 1)."""
    return 1.0 if kind == 1 else float((1 << (kind - 1)) + 1)


@kernel
def enter(columns: Columns, herd: Herd, c: int) -> None:
    """Put a cluster into the index, by its label as it is now."""
    for level in range(len(herd.level)):
        j = herd.level[level]
        kind = width_class(herd.label, c, j)
        # a code of the label; a single value is its own anchor
        key = herd.anchor[c, j] >> herd.shift[j]
        herd.trie.keys[c, level] = key * CLASSES + kind
    insert(herd.trie, c)


@kernel
def leave(herd: Herd, c: int) -> None:
    """Take a cluster out of the index."""
    remove(herd.trie, c)


@kernel
def settle(columns: Columns, herd: Herd, c: int) -> None:
    """Put a cluster whose label has changed into its right place."""
    for level in range(len(herd.level)):
        j = herd.level[level]
        if herd.trie.keys[c, level] % CLASSES != width_class(herd.label, c, j):
            leave(herd, c)
            enter(columns, herd, c)
            return


@kernel
def between(
    columns: Columns, a: Label, g: int, b: Label, h: int, rows_a: int, rows_b: int, most: float
) -> float:
    """DS of two clusters; or, once it is sure to be above `most`, anything above it."""
    of_a = of_b = 0.0
    for j in range(len(columns.kind)):
        wide_a, wide_b = a.width[g, j], b.width[h, j]
        if columns.kind[j] == SET:
            if a.low[g, j] >= 0 and a.low[g, j] == b.low[h, j]:
                continue
            members = more_a = more_b = 0
            for at in range(columns.word[j], columns.word[j + 1]):
                bits_a, bits_b = a.bits[g, at], b.bits[h, at]
                members += ones(bits_a | bits_b)
                more_a += (bits_b & ~bits_a) != 0
                more_b += (bits_a & ~bits_b) != 0
            width = columns.counted[columns.base[j] + j + members]
            if more_a:
                of_a += columns.weight[j] * (width / wide_a)
            if more_b:
                of_b += columns.weight[j] * (width / wide_b)
        else:
            low, high = range_over(
                columns, j, min(a.low[g, j], b.low[h, j]), max(a.high[g, j], b.high[h, j])
            )
            width = range_width(columns, j, low, high)
            if low != a.low[g, j] or high != a.high[g, j]:
                of_a += columns.weight[j] * (width / wide_a)
            if low != b.low[h, j] or high != b.high[h, j]:
                of_b += columns.weight[j] * (width / wide_b)
        if (rows_a * of_a + rows_b * of_b) * SLACK > most:
            return np.inf
    return rows_a * of_a + rows_b * of_b


@inlined
def key_cost(
    columns: Columns, seeker: Seeker, j: int, key: int, rows: float, least: float
) -> float:
    """What a cluster with this key costs at least in one column; every cluster has `least` rows."""
    kind = key % CLASSES
    at = seeker.near_base[j] + key // CLASSES
    near, mine = seeker.near[at], seeker.label.width[0, j]
    if kind == 0:
        if seeker.inside[at]:
            return 0.0 if mine <= 1 else columns.weight[j] * (least * mine)
        return columns.weight[j] * (rows * near / mine + least * near)
    floor = 2.0 if kind == 1 and columns.missing[j] < 0 else class_floor(kind)
    near = max(near, floor)
    return columns.weight[j] * (rows * near / mine) if near > mine else 0.0


@kernel
def nearest_cluster(
    columns: Columns, herd: Herd, seeker: Seeker, rows: int, least: int, most: float, tied: bool
) -> tuple[int, float]:
    """The cluster nearest to the growing one, and how far it is; the one finished first of equals.

    None unless it is nearer than `most`, or as near where `tied`.
    """
    trie, stack, sums = herd.trie, seeker.stack, seeker.sums
    best, found = most, NONE
    stack[0], sums[0] = 0, 0.0
    top = 1
    while top > 0:
        top -= 1
        node, so_far = stack[top], sums[top]
        if so_far * SLACK > best:
            continue
        child = trie.down[node]
        if child == NONE:
            c = trie.head[node]
            while c != NONE:
                far = between(columns, seeker.label, 0, herd.label, c, rows, herd.size[c], best)
                if far < best or (
                    far == best
                    and (tied if found == NONE else herd.finished[c] < herd.finished[found])
                ):
                    best, found = far, c
                c = trie.after[c]
            continue
        j = herd.level[trie.level[node]]
        first, first_cost = NONE, np.inf
        while child != NONE:
            cost = so_far + key_cost(columns, seeker, j, trie.key[child], rows, least)
            if cost * SLACK <= best:
                if cost < first_cost:
                    if first != NONE:
                        stack[top], sums[top] = first, first_cost
                        top += 1
                    first, first_cost = child, cost
                else:
                    stack[top], sums[top] = child, cost
                    top += 1
            child = trie.right[child]
        if first != NONE:
            stack[top], sums[top] = first, first_cost
            top += 1
    return found, best


@kernel
def look_around(columns: Columns, seeker: Seeker, shift: npt.NDArray[np.int64]) -> None:
    """Fill in, by code and by key, what the growing cluster's label would become."""
    from_key = seeker.near_base
    for j in range(len(columns.kind)):
        base, shifted = columns.base[j], shift[j]
        size = columns.size[j]
        for key in range(from_key[j], from_key[j] + ((size - 1) >> shifted) + 1):
            seeker.near[key] = np.inf
            seeker.inside[key] = False
        for code in range(size):
            key = from_key[j] + (code >> shifted)
            seeker.near[key] = min(seeker.near[key], seeker.widths[base + code])
            if inside(columns, seeker.label, 0, j, code):
                seeker.inside[key] = True
