"""What each group covers: its smallest and largest code per column, and the members of its sets."""

import numpy as np

from shoal.arrays import Codes, Ints, Words
from shoal.kernels.jit import kernel


@kernel
def spans(
    codes: Codes,
    starts: Ints,
    group: Codes,
    n_groups: int,
) -> tuple[Ints, Codes, Codes]:
    """Size (g,), smallest (g, d) and largest (g, d) code of each group; suppressed rows are left out."""
    d = codes.shape[1]
    sizes = np.zeros(n_groups, np.int64)
    low = np.full((n_groups, d), np.iinfo(np.int32).max, np.int32)
    high = np.full((n_groups, d), -1, np.int32)
    for cell in range(len(codes)):
        last = -1
        for row in range(starts[cell], starts[cell + 1]):
            g = group[row]
            if g < 0:
                continue
            sizes[g] += 1
            if g == last:
                continue
            last = g
            for j in range(d):
                low[g, j] = min(low[g, j], codes[cell, j])
                high[g, j] = max(high[g, j], codes[cell, j])
    return sizes, low, high


@kernel
def members(
    codes: Codes,
    rows: Codes,
    row_starts: Ints,
    size: int,
) -> tuple[Ints, Codes]:
    """The distinct codes of one column in each group, ascending: (g + 1,) starts and the codes.

    `rows` lists the canonical rows group by group, `row_starts` where each group begins; `codes` is
    the column (n_rows,) in canonical order.
    """
    n_groups = len(row_starts) - 1
    seen = np.full(size, -1, np.int64)
    out_starts = np.zeros(n_groups + 1, np.int64)
    out = np.empty(len(rows), np.int32)
    at = 0
    for g in range(n_groups):
        begin = at
        for i in range(row_starts[g], row_starts[g + 1]):
            code = codes[rows[i]]
            if seen[code] != g:
                seen[code] = g
                out[at] = code
                at += 1
        out[begin:at].sort()
        out_starts[g + 1] = at
    return out_starts, out[:at].copy()


# Sets of classes as bits: which rows of one table lie under which classes of another.


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
