"""An index of items by their keys, one column a level, that shrinks and grows.

A node holds the items that share its keys so far; few items are kept in a list, more of them are
told apart by the next key. Whoever searches adds up, on the way down, what the keys cost at least,
and leaves out what cannot win.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.jit import inlined, kernel, number

FEW = 8
"""A node with more items is split; one that shrinks to half of it becomes a list again."""
NONE = -1


class Trie(NamedTuple):
    """Nodes and items; node 0 is the root."""

    keys: npt.NDArray[np.int32]
    """(items, levels) the key of each item on each level."""
    masks: npt.NDArray[np.uint64]
    """(items,) what each item offers."""
    node_of: npt.NDArray[np.int32]
    """(items,) the list an item is in, or NONE."""
    after: npt.NDArray[np.int32]
    """(items,) the next item of its list."""
    before: npt.NDArray[np.int32]
    """(items,) the one before."""
    head: npt.NDArray[np.int32]
    """(nodes,) the first item of a list; NONE for other nodes."""
    up: npt.NDArray[np.int32]
    """(nodes,)"""
    down: npt.NDArray[np.int32]
    """(nodes,) the first child; NONE for lists."""
    right: npt.NDArray[np.int32]
    """(nodes,) the next child of the same parent; for a free node the next free one."""
    left: npt.NDArray[np.int32]
    """(nodes,)"""
    key: npt.NDArray[np.int32]
    """(nodes,) the key that all its items share on the level above."""
    level: npt.NDArray[np.int32]
    """(nodes,) keys shared so far."""
    below: npt.NDArray[np.int32]
    """(nodes,) items below."""
    offers: npt.NDArray[np.uint64]
    """(nodes,) what the items below offer, together."""
    free: npt.NDArray[np.int64]
    """(2,) the first free node, or NONE; nodes used so far."""


def empty_trie(keys: npt.NDArray[np.int32], masks: npt.NDArray[np.uint64]) -> Trie:
    """An index that holds none of the items yet."""
    items, levels = keys.shape
    # a node that is no list holds more than FEW / 2 items of its own on its level
    nodes = items + 2 * levels * items // FEW + levels + 2

    def filled(n: int) -> npt.NDArray[np.int32]:
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
