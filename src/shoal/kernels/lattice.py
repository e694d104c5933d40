"""Roll counts up a generalisation lattice: lift a column, merge the classes that became equal.

A class is the tuple of its nodes, one field of bits for each column, in one or more words.
"""

import numpy as np

from shoal.arrays import Codes, Ints, Words
from shoal.kernels.jit import kernel, mix

FEW = 24
"""Up to this many values are sorted by inserting one after another."""


@kernel
def lift(words: Words, shift: np.uint64, mask: np.uint64, up: Words) -> None:
    """Replace one field of every word by the node above it, in place."""
    hole = ~(mask << shift)
    for i in range(len(words)):
        words[i] = (words[i] & hole) | (up[(words[i] >> shift) & mask] << shift)


@kernel
def merge_equal(words: Words, sizes: Ints) -> tuple[Codes, Words, Ints]:
    """Classes with equal words become one: (n,) the new class of each, numbered as they first
    appear, then the words (words, classes) and rows (classes,) of the new classes."""
    wide, n = words.shape
    size = 16
    while size < 2 * n:
        size *= 2
    bits, half = np.uint64(size - 1), np.uint64(32)
    # a slot holds a number, counted from 1, below half of the hash: most strangers that meet in a
    # slot are told apart without looking their words up
    slots = np.zeros(size, np.uint64)
    numbers = np.empty(n, np.int32)
    first = np.empty(n, np.int32)
    rows = np.zeros(n, np.int64)
    found = 0
    for i in range(n):
        hashed = np.uint64(0)
        for w in range(wide):
            hashed = mix(hashed, words[w, i])
        at = hashed & bits
        while True:
            slot = slots[at]
            if slot == 0:
                number = np.int64(found)
                first[found] = i
                found += 1
                slots[at] = (hashed >> half) << half | np.uint64(found)
                break
            if slot >> half == hashed >> half:
                number = np.int64(slot & np.uint64(0xFFFFFFFF)) - 1
                same = True
                for w in range(wide):
                    same &= words[w, first[number]] == words[w, i]
                if same:
                    break
            at = (at + np.uint64(1)) & bits
        numbers[i] = number
        rows[number] += sizes[i]
    merged = np.empty((wide, found), np.uint64)
    for w in range(wide):
        for new in range(found):
            merged[w, new] = words[w, first[new]]
    return numbers, merged, rows[:found].copy()


@kernel
def merge_histograms(
    numbers: Codes,
    n_classes: int,
    starts: Ints,
    values: Codes,
    counts: Ints,
    size: int,
) -> tuple[Ints, Codes, Ints]:
    """The histograms of the new classes: (classes + 1,) entry starts, values (all below `size`,
    ascending inside a class) and counts."""
    n = len(numbers)
    begins = np.zeros(n_classes + 1, np.int64)
    for number in numbers:
        begins[number + 1] += 1
    for number in range(n_classes):
        begins[number + 1] += begins[number]
    order = np.empty(n, np.int32)
    place = begins[:-1].copy()
    for i in range(n):
        order[place[numbers[i]]] = i
        place[numbers[i]] += 1
    tally = np.zeros(size, np.int64)
    seen = np.empty(size, np.int32)
    out_starts = np.zeros(n_classes + 1, np.int64)
    out_values = np.empty(len(values), np.int32)
    out_counts = np.empty(len(values), np.int64)
    at = 0
    for number in range(n_classes):
        n_seen = 0
        for member in range(begins[number], begins[number + 1]):
            i = order[member]
            for entry in range(starts[i], starts[i + 1]):
                value = values[entry]
                if tally[value] == 0:
                    seen[n_seen] = value
                    n_seen += 1
                tally[value] += counts[entry]
        if n_seen > FEW:
            seen[:n_seen].sort()
        else:
            for k in range(1, n_seen):
                value, at_most = seen[k], k
                while at_most > 0 and seen[at_most - 1] > value:
                    seen[at_most] = seen[at_most - 1]
                    at_most -= 1
                seen[at_most] = value
        for k in range(n_seen):
            out_values[at] = seen[k]
            out_counts[at] = tally[seen[k]]
            tally[seen[k]] = 0
            at += 1
        out_starts[number + 1] = at
    return out_starts, out_values[:at].copy(), out_counts[:at].copy()
