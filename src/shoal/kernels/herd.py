"""Finished clusters, and which of them is nearest to a growing one.

Source: the distances of L-clustering. DS(G, H) = |G| L(tg, t*) + |H| L(th, t*), where t* covers both
and L adds up, over the columns in their order, the width of t* over the width of the label it
replaces; nothing where they are the same.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.jit import inlined, kernel
from shoal.kernels.labels import RANGE, SET, Columns, Label, ones
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
def enter(herd: Herd, c: int) -> None:
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
def nearest_cluster(
    columns: Columns, herd: Herd, seeker: Seeker, rows: int, least: int, most: float
) -> tuple[int, float]:
    """The cluster nearest to the growing one, and how far it is; the one finished first of equals.

    None unless it is nearer than `most`. Every cluster has `least` rows.
    """
    # arrays by their own names: reaching into tuples inside the loops costs more than the work
    kind, weight, word, base = columns.kind, columns.weight, columns.word, columns.base
    size_of, missing, place, counted = columns.size, columns.missing, columns.place, columns.counted
    tree, first_leaf, last_leaf = columns.tree, columns.first, columns.last
    my_low, my_high, my_bits = seeker.label.low[0], seeker.label.high[0], seeker.label.bits[0]
    my_width, near, near_base, within = (
        seeker.label.width[0],
        seeker.near,
        seeker.near_base,
        seeker.inside,
    )
    low_of, high_of, bits_of = herd.label.low, herd.label.high, herd.label.bits
    width_of, rows_of, finished, column_at = herd.label.width, herd.size, herd.finished, herd.level
    down, right, head, after = herd.trie.down, herd.trie.right, herd.trie.head, herd.trie.after
    node_key, node_level = herd.trie.key, herd.trie.level
    stack, sums = seeker.stack, seeker.sums
    d = len(kind)
    best, found = most, NONE
    stack[0], sums[0] = 0, 0.0
    top = 1
    while top > 0:
        top -= 1
        node, so_far = stack[top], sums[top]
        if so_far * SLACK > best:
            continue
        child = down[node]
        if child == NONE:
            c = head[node]
            while c != NONE:
                mine = theirs = 0.0
                many = rows_of[c]
                for j in range(d):
                    low, high = low_of[c, j], high_of[c, j]
                    if low >= 0 and low == my_low[j] and high == my_high[j]:
                        continue
                    if kind[j] == SET:
                        members, more_mine, more_theirs = 0, False, False
                        for at in range(word[j], word[j + 1]):
                            a, b = my_bits[at], bits_of[c, at]
                            members += ones(a | b)
                            more_mine |= (b & ~a) != 0
                            more_theirs |= (a & ~b) != 0
                        width = counted[base[j] + j + members]
                    else:
                        low, high = min(low, my_low[j]), max(high, my_high[j])
                        if low == high:
                            continue
                        if kind[j] == RANGE:
                            if high == missing[j]:
                                low = 0
                            width = place[base[j] + high] - place[base[j] + low] + 1.0
                        else:
                            at = tree[j] + low
                            while last_leaf[at] < high:
                                at += size_of[j]
                            low, high = first_leaf[at], last_leaf[at]
                            width = counted[base[j] + j + high - low + 1]
                        more_mine = low != my_low[j] or high != my_high[j]
                        more_theirs = low != low_of[c, j] or high != high_of[c, j]
                    if more_mine:
                        mine += weight[j] * (width / my_width[j])
                    if more_theirs:
                        theirs += weight[j] * (width / width_of[c, j])
                    if (rows * mine + many * theirs) * SLACK > best:
                        break
                far = rows * mine + many * theirs
                if far < best or (far == best and found != NONE and finished[c] < finished[found]):
                    best, found = far, c
                c = after[c]
            continue
        j = column_at[node_level[node]]
        first, first_cost = NONE, np.inf
        while child != NONE:
            # what a cluster with this key costs at least in this column
            key = node_key[child]
            at, sort = near_base[j] + key // CLASSES, key % CLASSES
            width, cost = near[at], so_far
            if sort == 0:
                if not within[at]:
                    cost += weight[j] * (rows * width / my_width[j] + least * width)
                elif my_width[j] > 1:
                    cost += weight[j] * (least * my_width[j])
            else:
                floor = 2.0 if sort == 1 and missing[j] < 0 else class_floor(sort)
                width = max(width, floor)
                if width > my_width[j]:
                    cost += weight[j] * (rows * width / my_width[j])
            if cost * SLACK <= best:
                if cost < first_cost:
                    if first != NONE:
                        stack[top], sums[top] = first, first_cost
                        top += 1
                    first, first_cost = child, cost
                else:
                    stack[top], sums[top] = child, cost
                    top += 1
            child = right[child]
        if first != NONE:
            stack[top], sums[top] = first, first_cost
            top += 1
    return found, best
