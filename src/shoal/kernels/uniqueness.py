"""Uniqueness: which keys of rows occur once, counted in one pass over a table of slots.

A key is a hash of what is compared, so its lowest bits choose the slot.
"""

import numpy as np

from shoal.arrays import Bools, Ints, Words
from shoal.kernels.jit import kernel, mix

PARTS = 256
"""Keys are divided by their highest bits, so that the slots of one part stay in the cache."""


@kernel
def count_keys(keys: Words) -> tuple[int, int, int]:
    """Different keys, those of them that occur once, and the sum of all counts squared."""
    n = len(keys)
    ends = np.zeros(PARTS + 1, np.int64)
    for i in range(n):
        ends[np.int64(mix(np.uint64(0), keys[i]) >> np.uint64(56)) + 1] += 1
    most = 0
    for part in range(PARTS):
        most = max(most, ends[part + 1])
        ends[part + 1] += ends[part]
    # what is mixed is different where the keys are
    parted, at = np.empty(n, np.uint64), ends[:PARTS].copy()
    for i in range(n):
        mixed = mix(np.uint64(0), keys[i])
        mine = np.int64(mixed >> np.uint64(56))
        parted[at[mine]] = mixed
        at[mine] += 1
    room = 4
    while room < 2 * most:
        room *= 2
    slots, counts = np.zeros(room, np.uint64), np.zeros(room, np.int32)
    distinct, single, squares = 0, 0, 0
    for part in range(PARTS):
        size = 4
        while size < 2 * (ends[part + 1] - ends[part]):
            size *= 2
        last = np.uint64(size - 1)
        counts[:size] = 0
        for i in range(ends[part], ends[part + 1]):
            key = parted[i]
            slot = np.int64(key & last)
            while counts[slot] and slots[slot] != key:
                slot = (slot + 1) & (size - 1)
            count = counts[slot]
            if count == 0:
                slots[slot] = key
                distinct += 1
                single += 1
            elif count == 1:
                single -= 1
            counts[slot] = count + 1
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
