"""The plain double loop of L-clustering and k-clustering, compiled: what the index is measured against.

Every open row is looked at in every step, and for L-clustering every finished cluster too. Distances
are worked out column by column and given up as soon as they are too large, as a careful programmer
would. k-clustering may also look up what each code costs in a table made once a step. There is no
index, and equal rows are not treated as one.
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


@numba.njit(cache=True, nogil=True, inline="always")
def _width(kind, base, positions, counted, first, last, low, high, members, covered, j, code):
    """The width of the label of a column once it covers a code too."""
    begin = base[j]
    if kind[j] == 1:
        return counted[begin + j + members[j] + (not covered[begin + code])]
    a, b = min(low[j], code), max(high[j], code)
    if kind[j] == 0:
        return positions[begin + b] - positions[begin + a]
    up = 0
    while last[up, begin + a] < b:
        up += 1
    return counted[begin + j + last[up, begin + a] - first[up, begin + a] + 1]


@numba.njit(cache=True, nogil=True)
def _cover(kind, base, first, last, low, high, members, covered, codes):
    for j in range(len(kind)):
        code = codes[j]
        if kind[j] == 1:
            members[j] += not covered[base[j] + code]
            covered[base[j] + code] = True
        low[j], high[j] = min(low[j], code), max(high[j], code)
        if kind[j] == 2:
            up, leaf = 0, base[j] + low[j]
            while last[up, leaf] < high[j]:
                up += 1
            low[j], high[j] = first[up, leaf], last[up, leaf]


@numba.njit(cache=True, nogil=True)
def k_clusters(kind, base, positions, counted, first, last, values, k, order, tables):
    """(n,) the cluster of each row.

    kind: (d,) 0 for ranges, 1 for sets, 2 for trees; values: (n, d) codes. By column and code, from
    base on: positions of ranges, and per level the first and last leaf of the node above. counted:
    from base + column on, the width of a label of 0, 1, ... values. With `tables` what each code costs
    is worked out once a step, not for every row. Rows that equal a cluster without loss start
    none where they are too few for another.
    """
    n, d = values.shape
    group = np.full(n, -1, np.int64)
    most = n // k
    low, high = np.zeros((most, d), np.int64), np.zeros((most, d), np.int64)
    members, covered = np.zeros((most, d), np.int64), np.zeros((most, base[d]), np.bool_)
    size = np.zeros(most, np.int64)
    wide, cost = np.zeros(d), np.zeros(base[d])
    at_code = values + base[:d]
    open_rows, n_open = np.arange(n), n
    home = np.full(n, -1, np.int64)
    at = clusters = 0
    for c in range(most):
        while at < n:
            if group[order[at]] < 0:
                equal = k if home[order[at]] < 0 else 0
                for i in range(n_open if equal == 0 else 0):
                    equal += group[open_rows[i]] < 0 and home[open_rows[i]] == home[order[at]]
                if equal >= k:
                    break
            at += 1
        if at == n:
            break
        row = order[at]
        clusters, best = clusters + 1, 0.0
        low[c], high[c] = values[row], values[row]
        while True:
            group[row] = c
            _cover(kind, base, first, last, low[c], high[c], members[c], covered[c], values[row])
            size[c] += 1
            if size[c] == k:
                break
            for j in range(d):
                wide[j] = _width(
                    kind,
                    base,
                    positions,
                    counted,
                    first,
                    last,
                    low[c],
                    high[c],
                    members[c],
                    covered[c],
                    j,
                    values[row, j],
                )
                if tables:
                    for code in range(base[j + 1] - base[j]):
                        width = _width(
                            kind,
                            base,
                            positions,
                            counted,
                            first,
                            last,
                            low[c],
                            high[c],
                            members[c],
                            covered[c],
                            j,
                            code,
                        )
                        cost[base[j] + code] = width + size[c] * (width - wide[j])
            best, kept = np.inf, 0
            for i in range(n_open):
                other = open_rows[i]
                if group[other] >= 0:
                    continue
                open_rows[kept] = other
                kept += 1
                far = 0.0
                for j in range(d):
                    if tables:
                        far += cost[at_code[other, j]]
                    else:
                        width = _width(
                            kind,
                            base,
                            positions,
                            counted,
                            first,
                            last,
                            low[c],
                            high[c],
                            members[c],
                            covered[c],
                            j,
                            values[other, j],
                        )
                        far += width + size[c] * (width - wide[j])
                    if far >= best:
                        break
                if far < best:
                    best, row = far, other
            n_open = kept
        if best == 0.0:
            for i in range(n_open):
                same = True
                for j in range(d):
                    same = same and values[open_rows[i], j] == values[order[at], j]
                if same and home[open_rows[i]] < 0:
                    home[open_rows[i]] = c
    for row in order:
        if group[row] < 0 and home[row] >= 0:
            group[row] = home[row]
            size[home[row]] += 1
    for row in order:
        if group[row] >= 0:
            continue
        best, into = np.inf, -1
        for c in range(clusters):
            far = 0.0
            for j in range(d):
                # a code that the label covers costs its width as it is
                inside = low[c, j]
                while kind[j] == 1 and not covered[c, base[j] + inside]:
                    inside += 1
                now = _width(
                    kind,
                    base,
                    positions,
                    counted,
                    first,
                    last,
                    low[c],
                    high[c],
                    members[c],
                    covered[c],
                    j,
                    inside,
                )
                width = _width(
                    kind,
                    base,
                    positions,
                    counted,
                    first,
                    last,
                    low[c],
                    high[c],
                    members[c],
                    covered[c],
                    j,
                    values[row, j],
                )
                far += width + size[c] * (width - now)
            if far < best:
                best, into = far, c
        group[row] = into
        size[into] += 1
        _cover(kind, base, first, last, low[into], high[into], members[into], covered[into],
               values[row])  # fmt: skip
    return group
