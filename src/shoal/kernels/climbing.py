"""The largest anonymous subset: drop what fails, and whatever fails because of that.

Dropping a cell lowers the counts of its own keys alone, so nothing is ever counted again.
"""

import numpy as np

from shoal.arrays import Codes, Ints, Words
from shoal.kernels.jit import kernel, mix


@kernel
def add_counts(
    key: Codes,
    weights: Codes,
    left: Codes,
    counts: Codes,
) -> None:
    """counts[k]: rows of the cells `left` with key k under one constraint."""
    for cell in left:
        counts[key[cell]] += weights[cell]


@kernel
def sweep(
    keys: Codes,
    base: Ints,
    counts: Codes,
    least: Ints,
    weights: Codes,
    left: Codes,
) -> tuple[int, bool]:
    """Look at each of the cells `left` once and drop those that fail; the others move to the front.

    keys (m, n): the key of each cell under each constraint; counts, at base[c] + key: rows with that
    key. A drop lowers them at once, so later cells already feel it. How many are left, and whether
    one of those may fail now, since a key fell below its constraint after some cells had passed.
    """
    m = len(keys)
    kept = 0
    fell = False
    for cell in left:
        holds = True
        for c in range(m):
            if counts[base[c] + keys[c, cell]] < least[c]:
                holds = False
                break
        if holds:
            left[kept] = cell
            kept += 1
            continue
        for c in range(m):
            key = base[c] + keys[c, cell]
            before = counts[key]
            counts[key] = before - weights[cell]
            # a key that falls to nothing has no cell left to fail
            fell |= before >= least[c] > counts[key] > 0
    return kept, fell


@kernel
def chase(
    keys: Codes,
    base: Ints,
    counts: Codes,
    least: Ints,
    weights: Codes,
    left: Codes,
) -> int:
    """The same to the end: from each drop straight to the cells that fail because of it.

    Lists the cells of every key first, so that each cell and each key is visited once.
    """
    m = len(keys)
    starts = np.zeros(base[m] + 1, np.int64)
    for c in range(m):
        for cell in left:
            starts[base[c] + keys[c, cell] + 1] += 1
    starts = np.cumsum(starts)
    at = starts[:-1].copy()
    members = np.empty(m * len(left), np.int32)
    for c in range(m):
        for i in range(len(left)):
            key = base[c] + keys[c, left[i]]
            members[at[key]] = i
            at[key] += 1
    alive = np.ones(len(left), np.bool_)
    queue = np.empty(len(left), np.int32)
    filled = 0
    for i in range(len(left)):
        for c in range(m):
            if counts[base[c] + keys[c, left[i]]] < least[c]:
                alive[i] = False
                queue[filled] = i
                filled += 1
                break
    done = 0
    while done < filled:
        cell = left[queue[done]]
        done += 1
        for c in range(m):
            key = base[c] + keys[c, cell]
            before = counts[key]
            counts[key] -= weights[cell]
            if before >= least[c] > counts[key]:
                for j in members[starts[key] : starts[key + 1]]:
                    if alive[j]:
                        alive[j] = False
                        queue[filled] = j
                        filled += 1
    kept = 0
    for i in range(len(left)):
        if alive[i]:
            left[kept] = left[i]
            kept += 1
    return kept


# Number equal things alike: the keys of rows under a constraint.


NONE = -1


@kernel
def number_small(words: Words, size: int) -> tuple[Codes, Codes]:
    """(n,) equal words, all below `size`, get equal numbers 0, 1, 2, … as they first appear; and
    (numbers,) where each appears first."""
    of_word = np.full(size, NONE, np.int32)
    numbers = np.empty(len(words), np.int32)
    first = np.empty(len(words), np.int32)
    found = 0
    for i in range(len(words)):
        number = of_word[words[i]]
        if number == NONE:
            number = np.int32(found)
            of_word[words[i]] = number
            first[found] = i
            found += 1
        numbers[i] = number
    return numbers, first[:found].copy()


@kernel
def number_pairs(before: Codes, words: Words) -> tuple[Codes, Codes]:
    """The same for pairs of an earlier number and a word of any size."""
    n = len(words)
    size = 16
    while size < 2 * n:
        size *= 2
    mask, half = np.uint64(size - 1), np.uint64(32)
    # a slot holds a number, counted from 1, below half of the hash: most strangers that meet in a
    # slot are told apart without looking their words up
    slots = np.zeros(size, np.uint64)
    numbers = np.empty(n, np.int32)
    first = np.empty(n, np.int32)
    found = 0
    for i in range(n):
        hashed = mix(np.uint64(before[i]), words[i])
        at = hashed & mask
        while True:
            slot = slots[at]
            if slot == 0:
                first[found] = i
                numbers[i] = found
                found += 1
                slots[at] = (hashed >> half) << half | np.uint64(found)
                break
            if slot >> half == hashed >> half:
                number = np.int64(slot & np.uint64(0xFFFFFFFF)) - 1
                j = first[number]
                if words[j] == words[i] and before[j] == before[i]:
                    numbers[i] = number
                    break
            at = (at + np.uint64(1)) & mask
    return numbers, first[:found].copy()


@kernel
def count_distinct(codes: Codes, size: int) -> int:
    """How many different codes, all below `size`, there are."""
    seen = np.zeros(size, np.bool_)
    for code in codes:
        seen[code] = True
    return int(seen.sum())
