"""Uniqueness: which keys of rows occur once, counted in one pass over a table of slots.

A key is a hash of what is compared, so its lowest bits choose the slot.
"""

import numpy as np

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.kernels.jit import in_place, kernel, mix


def count_keys(keys: Words) -> tuple[int, int, int]:
    """Different keys, those of them that occur once, and the sum of all counts squared."""
    size = 4
    while size < 2 * len(keys):
        size *= 2
    return _count_keys(keys, np.zeros(size, np.uint64), np.zeros(size, np.int32))


@in_place
def _count_keys(keys: Words, slots: Words, counts: Codes) -> tuple[int, int, int]:
    """`count_keys` with room for twice as many, a power of 2."""
    size = len(slots)
    last = np.uint64(size - 1)
    distinct, single, squares = 0, 0, 0
    for i in range(len(keys)):
        key = keys[i]
        at = np.int64(mix(np.uint64(0), key) & last)
        while counts[at] and slots[at] != key:
            at = (at + 1) & (size - 1)
        count = counts[at]
        if count == 0:
            slots[at] = key
            distinct += 1
            single += 1
        elif count == 1:
            single -= 1
        counts[at] = count + 1
        squares += 2 * count + 1
    return distinct, single, squares


@kernel
def mark_people(keys: Words, people: Ints, marked: Bools) -> None:
    """Mark the people who have a key that nobody else has; `people` are their numbers by row."""
    n = len(keys)
    size = 4
    while size < 2 * n:
        size *= 2
    slots, owner = np.zeros(size, np.uint64), np.full(size, -1, np.int64)
    last = np.uint64(size - 1)
    for i in range(n):
        key = keys[i]
        at = np.int64(mix(np.uint64(0), key) & last)
        while owner[at] != -1 and slots[at] != key:
            at = (at + 1) & (size - 1)
        if owner[at] == -1:
            slots[at] = key
            owner[at] = people[i]
        elif owner[at] != people[i]:
            owner[at] = -2
    for person in owner:
        if person >= 0:
            marked[person] = True
