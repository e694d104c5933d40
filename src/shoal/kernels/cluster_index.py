"""An index of the rows and clusters of k-clustering and L-clustering, by which the nearest is found.

A label is, per column, a range of codes and, where the column generalises to sets, a set of bits. Ranges
are kept whole: a hierarchy's label spans all leaves of its node, and a range that holds the missing
value and another spans the column. A value then lies inside a label exactly when it changes nothing.

Items are indexed by their keys in a trie, one column a level. A search goes down where an item costs
least, and leaves out whatever costs more than the best found so far.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.arrays import Bools, Codes, Floats, Ints, Words
from shoal.kernels.jit import in_place, inlined, inner, number

RANGE, SET, TREE = 0, 1, 2
NONE = -1
FEW = 8
"""A node of the index with more items is split; one that shrinks to half of it becomes a list again."""
SLACK = 1.0 - 1e-9
"""A bound is lowered by this much before it may rule anything out: it may have been added up in
another order than the distance itself."""
TAKEN, OPEN = 1, 0
"""Whether a row belongs to a cluster."""


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
    most: Floats
    """(d,) no range is wider."""
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
        width = columns.place[base + high] - columns.place[base + low] + columns.plus
        return min(columns.most[j], width)
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
    return number((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inner
def start_label(columns: Columns, label: Label, g: int, codes: Codes) -> None:
    """Make the label of one row."""
    label.bits[g, :] = 0
    for j in range(len(columns.kind)):
        code = codes[j]
        label.low[g, j] = label.high[g, j] = code
        label.width[g, j] = columns.one
        if columns.kind[j] == SET:
            label.bits[g, columns.word[j] + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)


@in_place
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


@inner
def width_with(columns: Columns, label: Label, g: int, j: int, code: int) -> float:
    """The width of a label once it covers a code that it does not cover yet."""
    if columns.kind[j] == SET:
        members = 1
        for at in range(columns.word[j], columns.word[j + 1]):
            members += ones(label.bits[g, at])
        return columns.counted[columns.base[j] + j + members]
    low, high = range_over(columns, j, min(label.low[g, j], code), max(label.high[g, j], code))
    return range_width(columns, j, low, high)


@inner
def copy_label(label: Label, g: int, other: Label, h: int) -> None:
    """Make label g the same as label h of another array."""
    for j in range(label.low.shape[1]):
        label.low[g, j], label.high[g, j] = other.low[h, j], other.high[h, j]
        label.width[g, j] = other.width[h, j]
    for at in range(label.bits.shape[1]):
        label.bits[g, at] = other.bits[h, at]


@inner
def recount(columns: Columns, label: Label, g: int, j: int) -> None:
    """Work out the width of a set of several values."""
    members = 0
    for at in range(columns.word[j], columns.word[j + 1]):
        members += ones(label.bits[g, at])
    label.width[g, j] = columns.counted[columns.base[j] + j + members]


@inner
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


@inner
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
            word = bits[at]
            while word:
                mine[64 * at + ones((word & (~word + np.uint64(1))) - np.uint64(1))] = now
                word &= word - np.uint64(1)
        return
    low, high = label.low[g, j], label.high[g, j]
    mine[low : high + 1] = now
    if columns.kind[j] == RANGE:
        place, missing = columns.place[base : base + size], columns.missing[j]
        most, plus, top = columns.most[j], columns.plus, place[high]
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


@inner
def _child(trie: Trie, node: int, key: int) -> int:
    child = trie.down[node]
    while child != NONE:
        if trie.key[child] == key:
            return child
        child = trie.right[child]
    return _new_node(trie, node, key)


@inner
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


@in_place
def insert_all(trie: Trie) -> None:
    """Put every item in."""
    for item in range(len(trie.keys)):
        insert(trie, item)


@inner
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


@inner
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


@inner
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


@inner
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


@inner
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


class RowPool(NamedTuple):
    """The rows that belong to no cluster yet.

    Equal rows are one cell; rows of a cell with equal sensitive values are one atom. Canonical rows
    ascend with their cells.
    """

    codes: Codes
    """(cells, d)"""
    cell_atoms: Ints
    """(cells + 1,) cell i holds the atoms cell_atoms[i]..cell_atoms[i + 1]."""
    atom_cell: Codes
    """(atoms,)"""
    atom_rows: Ints
    """(atoms + 1,) atom i holds the rows rows[atom_rows[i]..atom_rows[i + 1]]."""
    rows: Codes
    """(n,) canonical rows, ascending in each atom."""
    atom_of: Codes
    """(n,) the atom of each canonical row."""
    head: Ints
    """(atoms,) no row before this one is open."""
    alive: Codes
    """(atoms,) open rows."""
    taken: npt.NDArray[np.int8]
    """(n,) OPEN or TAKEN, by canonical row."""
    values: Codes
    """(atoms, sensitive columns) the sensitive value, numbered through all columns; -1 if missing."""
    bits: Words
    """(atoms,) its values as bits; where there are more than 64, several share one."""
    left: Ints
    """(values,) open rows with each value."""
    column: Ints
    """(values,) the sensitive column of each value."""
    distinct: Ints
    """(sensitive columns,) values that some open row has."""
    trie: Trie
    """An index of the cells."""
    level: Ints
    """(d,) the column of each level of the index."""
    shift: Ints
    """(d,) per column, how many codes share a key of the index: 1 << shift."""


class GrowingCluster(NamedTuple):
    """The cluster that grows, and what it costs it to cover each code of each column."""

    label: Label
    """(1, …) its label."""
    widths: Floats
    """By code: the width of the label once it covers the code."""
    own: Floats
    """By code: what a row with it loses itself."""
    others: Floats
    """By code: what each row of the cluster loses then."""
    key: Floats
    """By key: the least of both together."""
    near: Floats
    """By key: the least width over its codes."""
    inside: Bools
    """By key: whether it holds a code that the label covers already."""
    key_base: Ints
    """(d,) where the column's keys begin."""
    rest: Floats
    """(d + 1,) per level of the index, the least cost of this and all deeper ones."""
    stack: Codes
    """Nodes of the index to be visited."""
    sums: Floats
    """What they cost at least."""


@inner
def take(pool: RowPool, row: int) -> None:
    """Take a row out."""
    pool.taken[row] = TAKEN
    atom = pool.atom_of[row]
    pool.alive[atom] -= 1
    for a in range(pool.values.shape[1]):
        value = pool.values[atom, a]
        if value >= 0:
            pool.left[value] -= 1
            if pool.left[value] == 0:
                pool.distinct[a] -= 1
    if pool.alive[atom] > 0:
        return
    cell = pool.atom_cell[atom]
    offers, open_rows = np.uint64(0), 0
    for other in range(pool.cell_atoms[cell], pool.cell_atoms[cell + 1]):
        if pool.alive[other] > 0:
            offers |= pool.bits[other]
            open_rows += pool.alive[other]
    if open_rows == 0:
        remove(pool.trie, number(cell))
    elif offers != pool.trie.masks[cell]:
        offer(pool.trie, cell, offers)


@inner
def brings(pool: RowPool, atom: int, need: Ints, seen: Ints, now: int) -> bool:
    """Whether a row of the atom has a new value for a column that still needs some."""
    for a in range(len(need)):
        if need[a] > 0:
            value = pool.values[atom, a]
            if value >= 0 and seen[value] != now:
                return True
    return False


@inner
def wanted(pool: RowPool, need: Ints, seen: Ints, now: int) -> np.uint64:
    """The bits of which a row must have one."""
    if len(seen) > 64:
        return ~np.uint64(0)
    bits = np.uint64(0)
    for value in range(len(seen)):
        if seen[value] != now and need[pool.column[value]] > 0:
            bits |= np.uint64(1) << np.uint64(value)
    return bits


@inner
def cell_brings(pool: RowPool, cell: int, need: Ints, seen: Ints, now: int) -> bool:
    """Whether some open row of the cell brings what is needed."""
    for atom in range(pool.cell_atoms[cell], pool.cell_atoms[cell + 1]):
        if pool.alive[atom] > 0 and brings(pool, atom, need, seen, now):
            return True
    return False


@inner
def lowest_row(pool: RowPool, cell: int, need: Ints, seen: Ints, now: int, any_row: bool) -> int:
    """The first open row of a cell that brings what is needed; with `any_row` the first at all."""
    found = len(pool.rows)
    for atom in range(pool.cell_atoms[cell], pool.cell_atoms[cell + 1]):
        if pool.alive[atom] == 0 or not (any_row or brings(pool, atom, need, seen, now)):
            continue
        at = pool.head[atom]
        while pool.taken[pool.rows[at]] == TAKEN:
            at += 1
        pool.head[atom] = at
        found = min(found, pool.rows[at])
    return found


@inlined
def visit_first(stack: Codes, sums: Floats, at: int, last: int) -> None:
    """Put a node to the end of the stack, so that it is visited first."""
    node, cost = stack[at], sums[at]
    stack[at], sums[at] = stack[last], sums[last]
    stack[last], sums[last] = node, cost


@inner
def nearest_cell(
    pool: RowPool,
    growing: GrowingCluster,
    base: Ints,
    rows: int,
    bits: np.uint64,
    need: Ints,
    seen: Ints,
    now: int,
    any_row: bool,
) -> tuple[int, float]:
    """The nearest cell that brings what is needed, and how far it is; the lowest of equals.

    With `any_row` every open row will do.
    """
    trie = pool.trie
    # arrays by their own names: reaching into tuples inside the loops costs more than the work
    down, right, head, after = trie.down, trie.right, trie.head, trie.after
    node_key, node_level, offers, masks = trie.key, trie.level, trie.offers, trie.masks
    codes, column_at, loss = pool.codes, pool.level, growing.own
    of_others, of_key, of_rest = growing.others, growing.key, growing.rest
    key_base, stack, sums = growing.key_base, growing.stack, growing.sums
    exact = len(seen) <= 64
    d = codes.shape[1]
    best, found = np.inf, NONE
    stack[0], sums[0] = 0, 0.0
    top = 1
    while top > 0:
        top -= 1
        node, so_far = stack[top], sums[top]
        level = node_level[node]
        if (so_far + of_rest[level]) * SLACK > best:
            continue
        child = down[node]
        if child == NONE:
            cell = head[node]
            while cell != NONE:
                if any_row or (
                    masks[cell] & bits and (exact or cell_brings(pool, cell, need, seen, now))
                ):
                    own = others = 0.0
                    for j in range(d):
                        at = base[j] + codes[cell, j]
                        own += loss[at]
                        others += of_others[at]
                    far = own + rows * others
                    if far < best or (far == best and cell < found):
                        best, found = far, cell
                cell = after[cell]
            continue
        rest, keys = of_rest[level + 1], key_base[column_at[level]]
        bottom = cheapest = top
        while child != NONE:
            if any_row or offers[child] & bits:
                cost = so_far + of_key[keys + node_key[child]]
                if (cost + rest) * SLACK <= best:
                    stack[top], sums[top] = child, cost
                    cheapest = top if cost < sums[cheapest] else cheapest
                    top += 1
            child = right[child]
        if top > bottom:
            visit_first(stack, sums, cheapest, top - 1)
    return found, best
