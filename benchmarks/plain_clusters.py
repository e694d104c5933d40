"""The plain double loop of L-clustering and k-clustering, compiled: what the index is measured against.

Every open row and every finished cluster is looked at in every step. Distances are worked out column
by column and given up as soon as they are too large, as a careful programmer would.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def _ones(word):
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@numba.njit(cache=True, nogil=True, inline="always")
def _far(ordered, low_a, high_a, bits_a, a, rows_a, low_b, high_b, bits_b, b, rows_b, best):
    of_a = of_b = 0.0
    for j in range(len(ordered)):
        if ordered[j]:
            low, high = min(low_a[a, j], low_b[b, j]), max(high_a[a, j], high_b[b, j])
            width = high - low + 1.0
            if low != low_a[a, j] or high != high_a[a, j]:
                of_a += width / (high_a[a, j] - low_a[a, j] + 1.0)
            if low != low_b[b, j] or high != high_b[b, j]:
                of_b += width / (high_b[b, j] - low_b[b, j] + 1.0)
        elif bits_a[a, j] != bits_b[b, j]:
            both = bits_a[a, j] | bits_b[b, j]
            width = float(_ones(both))
            if both != bits_a[a, j]:
                of_a += width / _ones(bits_a[a, j])
            if both != bits_b[b, j]:
                of_b += width / _ones(bits_b[b, j])
        if (rows_a * of_a + rows_b * of_b) * (1.0 - 1e-9) > best:
            break
    return rows_a * of_a + rows_b * of_b


@numba.njit(cache=True, nogil=True)
def l_clusters(ordered, values, sensitive, n_sensitive, l, order):  # noqa: E741
    """(n,) the cluster of each row.

    ordered: (d,) flags; values: (n, d) numbers, or numbers below 64 of unordered values.
    """
    n, d = values.shape
    group = np.full(n, -1, np.int64)
    low, high = np.zeros((n // l + 1, d)), np.zeros((n // l + 1, d))
    bits = np.zeros((n // l + 1, d), np.uint64)
    row_bits = np.zeros((n, d), np.uint64)
    for i in range(n):
        for j in range(d):
            if not ordered[j]:
                row_bits[i, j] = np.uint64(1) << np.uint64(values[i, j])
    size, finished = np.zeros(n // l + 1, np.int64), np.zeros(n // l + 1, np.int64)
    open_rows, n_open = np.arange(n), n
    left = np.bincount(sensitive, minlength=n_sensitive)
    taken = np.zeros(n, np.bool_)
    seen = np.full(n_sensitive, -1)
    clusters = now = at = 0
    my_low, my_high, my_bits = np.zeros((1, d)), np.zeros((1, d)), np.zeros((1, d), np.uint64)
    mine = np.zeros(l, np.int64)
    while (left > 0).sum() >= l:
        while taken[order[at]]:
            at += 1
        row = order[at]
        rows, into = 0, -1
        while True:
            taken[row] = True
            left[sensitive[row]] -= 1
            seen[sensitive[row]] = now
            mine[rows] = row
            for j in range(d):
                my_low[0, j] = values[row, j] if rows == 0 else min(my_low[0, j], values[row, j])
                my_high[0, j] = values[row, j] if rows == 0 else max(my_high[0, j], values[row, j])
                my_bits[0, j] = row_bits[row, j] | (np.uint64(0) if rows == 0 else my_bits[0, j])
            rows += 1
            if rows == l:
                break
            best, found, kept = np.inf, -1, 0
            for i in range(n_open):
                other = open_rows[i]
                if taken[other]:
                    continue
                open_rows[kept] = other
                kept += 1
                if seen[sensitive[other]] == now:
                    continue
                far = _far(ordered, values, values, row_bits, other, 1,
                           my_low, my_high, my_bits, 0, rows, best)  # fmt: skip
                if far < best:
                    best, found = far, other
            n_open = kept
            for c in range(clusters):
                far = _far(ordered, my_low, my_high, my_bits, 0, rows,
                           low, high, bits, c, size[c], best)  # fmt: skip
                if far < best or (far == best and into >= 0 and finished[c] < finished[into]):
                    best, into = far, c
            if into >= 0:
                break
            row = found
        c = into
        if c < 0:
            c = clusters
            clusters += 1
            low[c], high[c], bits[c], size[c] = my_low[0], my_high[0], my_bits[0], rows
        else:
            low[c], high[c] = np.minimum(low[c], my_low[0]), np.maximum(high[c], my_high[0])
            bits[c] |= my_bits[0]
            size[c] += rows
        finished[c] = now
        now += 1
        for i in range(rows):
            group[mine[i]] = c
    for row in order:
        if taken[row]:
            continue
        best, into = np.inf, -1
        for c in range(clusters):
            far = _far(ordered, values, values, row_bits, row, 1,
                       low, high, bits, c, size[c], best)  # fmt: skip
            if far < best or (far == best and into >= 0 and finished[c] < finished[into]):
                best, into = far, c
        group[row] = into
        low[into] = np.minimum(low[into], values[row])
        high[into] = np.maximum(high[into], values[row])
        bits[into] |= row_bits[row]
        size[into] += 1
    return group
