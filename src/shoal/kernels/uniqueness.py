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
    ends, parted = np.array([0, len(keys)]), keys
    if len(keys) >= MANY:
        ends, parted = np.zeros(PARTS + 1, np.int64), np.empty(len(keys), np.uint64)
        _divide(keys, ends, parted)
    room = _room_for(int(np.diff(ends).max()))
    return _count_keys(parted, ends, np.zeros(room, np.uint64), np.zeros(room, np.int32))


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
def _count_keys(keys: Words, ends: Ints, slots: Words, counts: Codes) -> tuple[int, int, int]:
    """`count_keys` of keys that are equal in one part alone, with room for twice as many as the largest
    part has, a power of 2; counts: 0."""
    size = len(slots)
    last = np.uint64(size - 1)
    distinct, single, squares = 0, 0, 0
    for part in range(len(ends) - 1):
        for i in range(ends[part], ends[part + 1]):
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
        counts[:] = 0
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


def are_in_lists(which: Ints, wanted: Ints, starts: Ints, listed: Ints, size: int) -> Bools:
    """(n,) whether wanted[i] is in the list listed[starts[j]:starts[j+1]], j being which[i].

    All numbers are below `size`. Neighbours that ask for the same list are answered together, so other
    orders cost more.
    """
    found = np.empty(len(wanted), np.bool_)
    _are_in_lists(which, wanted, starts, listed, np.full(size, -1, np.int64), found)
    return found


@in_place
def _are_in_lists(
    which: Ints, wanted: Ints, starts: Ints, listed: Ints, mark: Ints, found: Bools
) -> None:
    """`are_in_lists` with room for the last list that had each number, -1."""
    last = -1
    for i in range(len(wanted)):
        if which[i] != last:
            last = which[i]
            for at in range(starts[last], starts[last + 1]):
                mark[listed[at]] = last
        found[i] = mark[wanted[i]] == last


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
