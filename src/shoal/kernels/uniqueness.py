"""Uniqueness: which keys of rows occur once, counted in one pass over a table of slots.

A key is a hash of what is compared, so its lowest bits choose the slot.
"""

import numpy as np

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.kernels.jit import in_place, kernel, mix

PARTS = 256
"""Many keys are divided by their highest bits, so that the slots of one part stay in the cache."""
MANY = 1 << 17
"""So many are."""


def count_keys(keys: Words) -> tuple[int, int, int]:
    """Different keys, those of them that occur once, and the sum of all counts squared."""
    if len(keys) < MANY:
        size = _room_for(len(keys))
        return _count_keys(keys, np.zeros(size, np.uint64), np.zeros(size, np.int32))
    ends, parted = np.zeros(PARTS + 1, np.int64), np.empty(len(keys), np.uint64)
    _divide(keys, ends, parted)
    room = _room_for(int(np.diff(ends).max()))
    slots, counts = np.zeros(room, np.uint64), np.zeros(room, np.int32)
    distinct, single, squares = 0, 0, 0
    for part in range(PARTS):
        mine = parted[ends[part] : ends[part + 1]]
        size = _room_for(len(mine))
        counts[:size] = 0
        more = _count_keys(mine, slots[:size], counts[:size])
        distinct, single, squares = distinct + more[0], single + more[1], squares + more[2]
    return distinct, single, squares


def _room_for(n: int) -> int:
    """Slots for n keys: a power of 2, at least twice as many."""
    size = 4
    while size < 2 * n:
        size *= 2
    return size


@in_place
def _divide(keys: Words, ends: Ints, parted: Words) -> None:
    """Sort keys into PARTS by the highest bits of what they are mixed to, which is different where they
    are; ends: (PARTS + 1,) zeros, then where each part begins."""
    for i in range(len(keys)):
        ends[np.int64(mix(np.uint64(0), keys[i]) >> np.uint64(56)) + 1] += 1
    for part in range(PARTS):
        ends[part + 1] += ends[part]
    # each place moves to the end of its part, which is where the next one begins
    for i in range(len(keys)):
        mixed = mix(np.uint64(0), keys[i])
        mine = np.int64(mixed >> np.uint64(56))
        parted[ends[mine]] = mixed
        ends[mine] += 1
    for part in range(PARTS, 0, -1):
        ends[part] = ends[part - 1]
    ends[0] = 0


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


def distinct_pairs(first: Codes, second: Codes, width: int, size: int) -> Ints:
    """The different numbers first * width + second, all below `size`, as they first appear."""
    found = np.empty(len(first), np.int64)
    n = _distinct_pairs(first, second, width, np.zeros(size // 64 + 1, np.uint64), found)
    return found[:n].copy()


@in_place
def _distinct_pairs(first: Codes, second: Codes, width: int, seen: Words, found: Ints) -> int:
    """`distinct_pairs` with a bit for each number, 0, and room for all; returns how many there are."""
    n = 0
    for i in range(len(first)):
        pair = np.int64(first[i]) * width + second[i]
        bit = np.uint64(1) << np.uint64(pair & 63)
        if seen[pair >> 6] & bit == np.uint64(0):
            seen[pair >> 6] |= bit
            found[n] = pair
            n += 1
    return n


def are_among(wanted: Ints, known: Ints, size: int) -> Bools:
    """(n,) whether each number is one of the known ones; all are below `size`."""
    found = np.empty(len(wanted), np.bool_)
    _are_among(wanted, known, np.zeros(size // 64 + 1, np.uint64), found)
    return found


@in_place
def _are_among(wanted: Ints, known: Ints, seen: Words, found: Bools) -> None:
    """`are_among` with a bit for each number, 0."""
    for i in range(len(known)):
        seen[known[i] >> 6] |= np.uint64(1) << np.uint64(known[i] & 63)
    for i in range(len(wanted)):
        bit = np.uint64(1) << np.uint64(wanted[i] & 63)
        found[i] = seen[wanted[i] >> 6] & bit != np.uint64(0)


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
