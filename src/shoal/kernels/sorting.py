"""Sorting rows by packed codes and by hash, stable and without comparing."""

import numpy as np

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.kernels.jit import kernel

BITS = 11
INSERTION = 32


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
    for run in range(len(starts) - 1):
        begin, end = starts[run], starts[run + 1]
        if end - begin > INSERTION:
            part = order[begin:end]
            order[begin:end] = part[np.argsort(keys[part], kind="mergesort")]
            continue
        for i in range(begin + 1, end):
            row = order[i]
            key = keys[row]
            j = i - 1
            while j >= begin and keys[order[j]] > key:
                order[j + 1] = order[j]
                j -= 1
            order[j + 1] = row


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
