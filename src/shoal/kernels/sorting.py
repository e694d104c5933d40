"""Sorting rows by packed codes and by hash, stable and without comparing."""

import numpy as np

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.kernels.jit import inner, kernel

BITS = 11
INSERTION = 32
"""Up to this many keys are sorted by insertion. Longer runs are merged from such parts; numba's own
sorts would take seconds to compile."""


@kernel
def radix_argsort(keys: Words, bits: int, order: Ints) -> Ints:
    """`order` sorted by keys[order], stable; only the lowest `bits` of a key are looked at."""
    n = len(order)
    spare = np.empty_like(order)
    buckets = 1 << BITS
    mask = np.uint64(buckets - 1)
    count = np.empty(buckets, np.int64)
    for shift in range(0, bits, BITS):
        by = np.uint64(shift)
        count[:] = 0
        for i in range(n):
            count[(keys[order[i]] >> by) & mask] += 1
        total = 0
        for b in range(buckets):
            total, count[b] = total + count[b], total
        for i in range(n):
            bucket = (keys[order[i]] >> by) & mask
            spare[count[bucket]] = order[i]
            count[bucket] += 1
        order, spare = spare, order
    return order


@kernel
def sort_runs(order: Ints, starts: Ints, keys: Words) -> None:
    """Sort each run order[starts[i]:starts[i+1]] by keys[order], in place, stable."""
    longest = 0
    for run in range(len(starts) - 1):
        longest = max(longest, starts[run + 1] - starts[run])
    spare = np.empty(longest if longest > INSERTION else 0, np.int64)
    for run in range(len(starts) - 1):
        begin, end = starts[run], starts[run + 1]
        for first in range(begin, end, INSERTION):
            for i in range(first + 1, min(first + INSERTION, end)):
                row = order[i]
                key = keys[row]
                j = i - 1
                while j >= first and keys[order[j]] > key:
                    order[j + 1] = order[j]
                    j -= 1
                order[j + 1] = row
        size, sorted_size = end - begin, INSERTION
        while sorted_size < size:
            for i in range(size):
                spare[i] = order[begin + i]
            for first in range(0, size, 2 * sorted_size):
                middle, last = min(first + sorted_size, size), min(first + 2 * sorted_size, size)
                left, right = first, middle
                for at in range(first, last):
                    if right == last or (left < middle and keys[spare[left]] <= keys[spare[right]]):
                        order[begin + at] = spare[left]
                        left += 1
                    else:
                        order[begin + at] = spare[right]
                        right += 1
            sorted_size *= 2


@inner
def sort_codes(codes: Codes, n: int) -> None:
    """Sort the first n codes, in place: by insertion at falling distances (Shell)."""
    distance = 1
    while 3 * distance < n:
        distance = 3 * distance + 1
    while distance > 0:
        for i in range(distance, n):
            code, at = codes[i], i
            while at >= distance and codes[at - distance] > code:
                codes[at] = codes[at - distance]
                at -= distance
            codes[at] = code
        distance //= 3


@kernel
def counting_order(codes: Codes, size: int, order: Codes) -> None:
    """Write to `order` the positions of `codes` (each in 0..size-1), sorted by code, stable."""
    at = np.zeros(size + 1, np.int64)
    for code in codes:
        at[code + 1] += 1
    for value in range(size):
        at[value + 1] += at[value]
    for i in range(len(codes)):
        order[at[codes[i]]] = i
        at[codes[i]] += 1


@kernel
def run_starts(keys: Words, order: Ints) -> Bools:
    """(n,) whether a new run of equal keys (rows of a 2-D array) begins at each place of `order`."""
    n = len(order)
    begins = np.zeros(n, np.bool_)
    for i in range(n):
        begins[i] = i == 0
        for word in range(keys.shape[0]):
            if i > 0 and keys[word, order[i]] != keys[word, order[i - 1]]:
                begins[i] = True
    return begins
