"""Linkage: which classes of a release each row may belong to, and what that gives away.

A set of classes is a row of bits, one for each class.
"""

import numpy as np

from shoal.arrays import Codes, Ints, Words
from shoal.kernels.jit import kernel

ONE = np.uint64(1)


@kernel
def lowest(word: np.uint64) -> int:
    """The place of the lowest bit that is set."""
    at = 0
    for step in (32, 16, 8, 4, 2, 1):
        if word & ((ONE << np.uint64(step)) - ONE) == 0:
            word >>= np.uint64(step)
            at += step
    return at


@kernel
def list_bits(
    words: Words,
) -> tuple[Ints, Codes]:
    """The bits set in each row of words: (rows + 1,) where each row's begin, and their places."""
    n, width = words.shape
    starts = np.zeros(n + 1, np.int64)
    for i in range(n):
        found = 0
        for w in range(width):
            word = words[i, w]
            while word:
                word &= word - ONE
                found += 1
        starts[i + 1] = starts[i] + found
    places = np.empty(starts[n], np.int32)
    at = 0
    for i in range(n):
        for w in range(width):
            word = words[i, w]
            while word:
                places[at] = 64 * w + lowest(word)
                at += 1
                word &= word - ONE
    return starts, places


@kernel
def guesses(
    starts: Ints,
    classes: Codes,
    value_starts: Ints,
    values: Codes,
    counts: Ints,
    size: int,
) -> tuple[Codes, Ints, Ints]:
    """Of each row's classes together: the most frequent value (-1 if none; of several the first), how
    often it occurs, and how often any value does.

    Row i lies under classes[starts[i]:starts[i+1]]; class c holds the values
    values[value_starts[c]:value_starts[c+1]], all below `size`, so many times each.
    """
    n = len(starts) - 1
    best = np.full(n, -1, np.int32)
    times = np.zeros(n, np.int64)
    known = np.zeros(n, np.int64)
    tally = np.zeros(size, np.int64)
    for i in range(n):
        for at in range(starts[i], starts[i + 1]):
            c = classes[at]
            for entry in range(value_starts[c], value_starts[c + 1]):
                tally[values[entry]] += counts[entry]
                known[i] += counts[entry]
        for at in range(starts[i], starts[i + 1]):
            c = classes[at]
            for entry in range(value_starts[c], value_starts[c + 1]):
                value = values[entry]
                count = tally[value]
                if count > times[i] or (count == times[i] and count and value < best[i]):
                    best[i], times[i] = value, count
        for at in range(starts[i], starts[i + 1]):
            c = classes[at]
            for entry in range(value_starts[c], value_starts[c + 1]):
                tally[values[entry]] = 0
    return best, times, known
