"""Labels of growing groups: what they cover, how wide they are, what one more value makes of them.

A label is, per column, a range of codes and, where the column generalises to sets, a set of bits.
Ranges are kept whole: a hierarchy's label spans all leaves of its node, and a range that holds the
missing value and another spans the column. A value then lies inside a label exactly when it changes
nothing.
"""

from typing import NamedTuple

import numpy as np

from shoal.arrays import Bools, Codes, Floats, Ints, Words
from shoal.kernels.jit import inlined, kernel, number

RANGE, SET, TREE = 0, 1, 2


class Columns(NamedTuple):
    """Per column, the tables from which the width of any label is read."""

    kind: Ints
    """(d,) RANGE, SET or TREE."""
    size: Ints
    """(d,) number of codes."""
    missing: Ints
    """(d,) RANGE: the code of the missing value, or -1."""
    weight: Floats
    """(d,) how much the column counts."""
    one: float
    """Width of a single value."""
    plus: float
    """What a range is wider than the way between its ends."""
    most: float
    """No range is wider."""
    base: Ints
    """(d + 1,) where the column's codes begin in `place` and in every table by code."""
    place: Floats
    """RANGE: where each code stands."""
    counted: Floats
    """SET, TREE: width of a label over 0..size values, from base + column on."""
    tree: Ints
    """(d,) TREE: where the column begins in the next two arrays."""
    levels: Ints
    """(d,) TREE: number of levels, the leaves' included."""
    first: Codes
    """TREE: the first leaf under the node above a code, at tree + level * size + code."""
    last: Codes
    """TREE: the last one."""
    word: Ints
    """(d + 1,) SET: where the column's bits begin among the words of a label."""


class Label(NamedTuple):
    """Labels of many groups; the first axis is the group."""

    low: Codes
    """(g, d) the smallest code; of a set of several values, -1."""
    high: Codes
    """(g, d) the largest code; of a set of several values, -1."""
    bits: Words
    """(g, words) the members of sets."""
    width: Floats
    """(g, d)"""


@inlined
def range_width(columns: Columns, j: int, low: int, high: int) -> float:
    """Width of a range or node that spans these codes."""
    if low == high:
        return columns.one
    base = columns.base[j]
    if columns.kind[j] == RANGE:
        return min(
            columns.most, columns.place[base + high] - columns.place[base + low] + columns.plus
        )
    return columns.counted[base + j + high - low + 1]


@inlined
def range_over(columns: Columns, j: int, low: int, high: int) -> tuple[int, int]:
    """The whole range or node over these codes."""
    if low == high:
        return low, high
    if columns.kind[j] == RANGE:
        if high == columns.missing[j]:
            low = 0
        return low, high
    size = columns.size[j]
    at = columns.tree[j] + low
    while columns.last[at] < high:
        at += size
    return columns.first[at], columns.last[at]


@inlined
def has(label: Label, g: int, word: int, code: int) -> bool:
    """Whether a set whose bits begin at `word` holds a code."""
    return (label.bits[g, word + (code >> 6)] >> np.uint64(code & 63)) & np.uint64(1) != 0


@inlined
def inside(columns: Columns, label: Label, g: int, j: int, code: int) -> bool:
    """Whether the label already covers a code."""
    if columns.kind[j] == SET:
        return has(label, g, columns.word[j], code)
    return label.low[g, j] <= code <= label.high[g, j]


@inlined
def ones(word: np.uint64) -> int:
    """Number of bits that are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def start_label(columns: Columns, label: Label, g: int, codes: Codes) -> None:
    """Make the label of one row."""
    label.bits[g, :] = 0
    for j in range(len(columns.kind)):
        code = codes[j]
        label.low[g, j] = label.high[g, j] = code
        label.width[g, j] = columns.one
        if columns.kind[j] == SET:
            label.bits[g, columns.word[j] + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)


@kernel
def widen(columns: Columns, label: Label, g: int, codes: Codes) -> None:
    """Let the label cover one more row."""
    for j in range(len(columns.kind)):
        code = codes[j]
        if inside(columns, label, g, j, code):
            continue
        if columns.kind[j] == SET:
            label.bits[g, columns.word[j] + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)
            label.low[g, j] = label.high[g, j] = -1
            recount(columns, label, g, j)
        else:
            low, high = range_over(
                columns, j, min(label.low[g, j], code), max(label.high[g, j], code)
            )
            label.low[g, j], label.high[g, j] = low, high
            label.width[g, j] = range_width(columns, j, low, high)


@kernel
def recount(columns: Columns, label: Label, g: int, j: int) -> None:
    """Work out the width of a set of several values."""
    members = 0
    for at in range(columns.word[j], columns.word[j + 1]):
        members += ones(label.bits[g, at])
    label.width[g, j] = columns.counted[columns.base[j] + j + members]


@kernel
def unite(columns: Columns, label: Label, g: int, other: Label, h: int) -> None:
    """Let label g cover label h of another array as well."""
    for j in range(len(columns.kind)):
        if columns.kind[j] == SET:
            if label.low[g, j] >= 0 and label.low[g, j] == other.low[h, j]:
                continue
            for at in range(columns.word[j], columns.word[j + 1]):
                label.bits[g, at] |= other.bits[h, at]
            label.low[g, j] = label.high[g, j] = -1
            recount(columns, label, g, j)
        else:
            low = min(label.low[g, j], other.low[h, j])
            high = max(label.high[g, j], other.high[h, j])
            low, high = range_over(columns, j, low, high)
            label.low[g, j], label.high[g, j] = low, high
            label.width[g, j] = range_width(columns, j, low, high)


@kernel
def widths_with(columns: Columns, label: Label, g: int, j: int, widths: Floats) -> None:
    """Per code of a column, the width of the label once it covers that code too."""
    base, size, now = columns.base[j], columns.size[j], label.width[g, j]
    # arrays by their own names: reaching into tuples inside the loops costs more than the work
    mine, first_leaf, last_leaf = widths[base : base + size], columns.first, columns.last
    if columns.kind[j] == SET:
        bits = label.bits[g, columns.word[j] : columns.word[j + 1]]
        members = 0
        for at in range(len(bits)):
            members += ones(bits[at])
        more = columns.counted[base + j + members + 1] if members < size else now
        mine[:] = more
        for at in range(len(bits)):
            left = bits[at]
            while left:
                mine[64 * at + ones((left & (~left + np.uint64(1))) - np.uint64(1))] = now
                left &= left - np.uint64(1)
        return
    low, high = label.low[g, j], label.high[g, j]
    mine[low : high + 1] = now
    if columns.kind[j] == RANGE:
        place, missing = columns.place[base : base + size], columns.missing[j]
        most, plus, top = columns.most, columns.plus, place[high]
        whole = min(most, place[max(missing, 0)] - place[0] + plus)
        if high == missing:
            mine[:low] = whole
            return
        for code in range(low):
            mine[code] = min(most, top - place[code] + plus)
        bottom = place[low]
        for code in range(high + 1, size):
            mine[code] = min(most, place[code] - bottom + plus)
        if missing >= 0:
            mine[missing] = whole
        return
    counted = columns.counted[base + j : base + j + size + 1]
    at = columns.tree[j] + low
    left, right = low, high
    while right - left + 1 < size:
        first, last = first_leaf[at], last_leaf[at]
        at += size
        if first >= left and last <= right:
            continue
        mine[first:left] = counted[last - first + 1]
        mine[right + 1 : last + 1] = counted[last - first + 1]
        left, right = first, last


# An index of items by their keys, one column a level, that shrinks and grows.


FEW = 8
"""A node with more items is split; one that shrinks to half of it becomes a list again."""
NONE = -1


class Trie(NamedTuple):
    """Nodes and items; node 0 is the root."""

    keys: Codes
    """(items, levels) the key of each item on each level."""
    masks: Words
    """(items,) what each item offers."""
    node_of: Codes
    """(items,) the list an item is in, or NONE."""
    after: Codes
    """(items,) the next item of its list."""
    before: Codes
    """(items,) the one before."""
    head: Codes
    """(nodes,) the first item of a list; NONE for other nodes."""
    up: Codes
    """(nodes,)"""
    down: Codes
    """(nodes,) the first child; NONE for lists."""
    right: Codes
    """(nodes,) the next child of the same parent; for a free node the next free one."""
    left: Codes
    """(nodes,)"""
    key: Codes
    """(nodes,) the key that all its items share on the level above."""
    level: Codes
    """(nodes,) keys shared so far."""
    below: Codes
    """(nodes,) items below."""
    offers: Words
    """(nodes,) what the items below offer, together."""
    free: Ints
    """(2,) the first free node, or NONE; nodes used so far."""


def empty_trie(keys: Codes, masks: Words) -> Trie:
    """An index that holds none of the items yet."""
    items, levels = keys.shape
    # a node that is no list holds more than FEW / 2 items of its own on its level
    nodes = items + 2 * levels * items // FEW + levels + 2

    def filled(n: int) -> Codes:
        return np.full(n, NONE, np.int32)

    return Trie(
        keys, masks, filled(items), filled(items), filled(items),
        filled(nodes), filled(nodes), filled(nodes), filled(nodes), filled(nodes), filled(nodes),
        np.zeros(nodes, np.int32), np.zeros(nodes, np.int32), np.zeros(nodes, np.uint64),
        np.array([NONE, 1], np.int64),
    )  # fmt: skip


@inlined
def _new_node(trie: Trie, parent: int, key: int) -> int:
    node = trie.free[0]
    if node == NONE:
        node = trie.free[1]
        trie.free[1] += 1
    else:
        trie.free[0] = trie.right[node]
    trie.head[node] = trie.down[node] = NONE
    trie.up[node], trie.key[node] = parent, key
    trie.level[node] = trie.level[parent] + 1
    trie.below[node], trie.offers[node] = 0, 0
    first = trie.down[parent]
    trie.right[node], trie.left[node] = first, NONE
    if first != NONE:
        trie.left[first] = node
    trie.down[parent] = node
    return node


@inlined
def _drop_node(trie: Trie, node: int) -> None:
    left, right = trie.left[node], trie.right[node]
    if left != NONE:
        trie.right[left] = right
    else:
        trie.down[trie.up[node]] = right
    if right != NONE:
        trie.left[right] = left
    trie.right[node] = trie.free[0]
    trie.free[0] = node


@inlined
def _hang(trie: Trie, node: int, item: int) -> None:
    first = trie.head[node]
    trie.after[item], trie.before[item] = first, NONE
    if first != NONE:
        trie.before[first] = item
    trie.head[node] = item
    trie.node_of[item] = node


@kernel
def _child(trie: Trie, node: int, key: int) -> int:
    child = trie.down[node]
    while child != NONE:
        if trie.key[child] == key:
            return child
        child = trie.right[child]
    return _new_node(trie, node, key)


@kernel
def insert(trie: Trie, item: int) -> None:
    """Put an item in."""
    levels = trie.keys.shape[1]
    node, mask = number(0), trie.masks[item]
    while True:
        trie.below[node] += 1
        trie.offers[node] |= mask
        level = trie.level[node]
        if trie.down[node] == NONE:
            _hang(trie, node, item)
            if trie.below[node] <= FEW or level == levels:
                return
            _split(trie, node)
            # what was split off may be too much for one child again
            child = trie.down[node]
            while trie.right[child] == NONE and level + 1 < levels:
                node, level = number(child), level + 1
                _split(trie, node)
                child = trie.down[node]
            return
        node = number(_child(trie, node, trie.keys[item, level]))


@kernel
def insert_all(trie: Trie) -> None:
    """Put every item in."""
    for item in range(len(trie.keys)):
        insert(trie, item)


@kernel
def _split(trie: Trie, node: int) -> None:
    item, level = trie.head[node], trie.level[node]
    trie.head[node] = NONE
    while item != NONE:
        following = trie.after[item]
        child = _child(trie, node, trie.keys[item, level])
        trie.below[child] += 1
        trie.offers[child] |= trie.masks[item]
        _hang(trie, child, item)
        item = following


@kernel
def _gather(trie: Trie, node: int) -> None:
    """Make a list of all items below a node whose children are lists."""
    child = trie.down[node]
    trie.down[node] = NONE
    while child != NONE:
        following = trie.right[child]
        item = trie.head[child]
        while item != NONE:
            then = trie.after[item]
            _hang(trie, node, item)
            item = then
        trie.right[child] = trie.free[0]
        trie.free[0] = child
        child = following


@kernel
def _gather_deep(trie: Trie, node: int) -> None:
    """The same for a whole subtree: always the deepest first."""
    at = node
    while True:
        child = trie.down[at]
        while child != NONE and trie.down[child] == NONE:
            child = trie.right[child]
        if child != NONE:
            at = child
            continue
        _gather(trie, at)
        if at == node:
            return
        at = trie.up[at]


@kernel
def remove(trie: Trie, item: int) -> None:
    """Take an item out."""
    node = trie.node_of[item]
    before, after = trie.before[item], trie.after[item]
    if before != NONE:
        trie.after[before] = after
    else:
        trie.head[node] = after
    if after != NONE:
        trie.before[after] = before
    trie.node_of[item] = NONE
    small, less = NONE, True
    while node != NONE:
        parent = trie.up[node]
        trie.below[node] -= 1
        if trie.below[node] == 0 and parent != NONE:
            _drop_node(trie, node)
        else:
            if less:
                old = trie.offers[node]
                _offer_again(trie, node)
                less = trie.offers[node] != old
            if trie.below[node] <= FEW // 2 and trie.down[node] != NONE:
                small = node
        node = parent
    if small != NONE:
        _gather_deep(trie, small)


@inlined
def _offer_again(trie: Trie, node: int) -> None:
    mask = np.uint64(0)
    if trie.down[node] == NONE:
        item = trie.head[node]
        while item != NONE:
            mask |= trie.masks[item]
            item = trie.after[item]
    else:
        child = trie.down[node]
        while child != NONE:
            mask |= trie.offers[child]
            child = trie.right[child]
    trie.offers[node] = mask


@kernel
def offer(trie: Trie, item: int, mask: np.uint64) -> None:
    """Say that an item now offers less than before."""
    trie.masks[item] = mask
    node = trie.node_of[item]
    while node != NONE:
        old = trie.offers[node]
        _offer_again(trie, node)
        if trie.offers[node] == old:
            return
        node = trie.up[node]


# Finished clusters, and which of them is nearest to a growing one.


CLASSES = 6
"""Labels are told apart by width: 1, 2, 3-4, 5-8, 9-16 and more."""
SLACK = 1.0 - 1e-9
"""A bound is lowered by this much before it may rule anything out: it may have been added up in
another order than the distance itself."""


class Herd(NamedTuple):
    """Clusters, each in a place of its own."""

    label: Label
    """Their labels."""
    size: Ints
    """(c,) rows."""
    finished: Ints
    """(c,) when it was finished: 0, 1, 2, …"""
    anchor: Codes
    """(c, d) one of its rows."""
    trie: Trie
    """An index of them by their anchors and widths."""
    level: Ints
    """(d,) the column of each level of the index."""
    shift: Ints
    """(d,) per column, how many codes share a key: 1 << shift."""


class Seeker(NamedTuple):
    """The growing cluster, and what it costs to reach each code from it."""

    label: Label
    """(1, …) its label."""
    widths: Floats
    """By code: the width of the label once it covers the code."""
    near: Floats
    """By key: the least width over its codes."""
    near_base: Ints
    """(d,) where the column's keys begin."""
    inside: Bools
    """By key: whether it holds a code that the label covers already."""
    stack: Codes
    """Nodes to be visited."""
    sums: Floats
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
