"""Sorting rows by packed codes and by hash, stable and without comparing."""

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.kernels.jit import in_place, inner

BITS = 11
FEW = 256
"""Up to this many keys are sorted by comparing: buckets would be more than keys."""
INSERTION = 32
"""Up to this many keys are sorted by insertion. Longer runs are merged from such parts; numba's own
sorts would take seconds to compile."""


def radix_argsort(keys: Words, bits: int, order: Ints) -> Ints:
    """`order` sorted by keys[order], stable; only the lowest `bits` of a key are looked at."""
    return radix_sort(keys, bits, order)[0]


def radix_sort(keys: Words, bits: int, order: Ints) -> tuple[Ints, Words]:
    """`order` sorted by keys[order], stable, and the keys in their new order; only the lowest `bits` of
    a key are looked at."""
    if len(order) <= FEW:
        mine = keys[order]
        by = np.argsort(mine & np.uint64((1 << bits) - 1), kind="stable")
        return order[by], mine[by]
    # keys move with the rows: each digit reads them one after the other
    count, mine, spare = np.empty(1 << BITS, np.int64), keys[order], np.empty_like(order)
    spare_keys = np.empty_like(mine)
    for shift in range(0, bits, BITS):
        _sort_digit(mine, np.uint64(shift), order, spare_keys, spare, count)
        mine, spare_keys = spare_keys, mine
        # what is given is left as it is
        order, spare = spare, order if shift else np.empty_like(order)
    return order, mine


@in_place
def _sort_digit(
    keys: Words, by: np.uint64, order: Ints, out_keys: Words, out: Ints, count: Ints
) -> None:
    """Sort by the bits from `by` on, as many as tell apart so many counts; keys: of each place."""
    mask = np.uint64(len(count) - 1)
    count[:] = 0
    for i in range(len(order)):
        count[(keys[i] >> by) & mask] += 1
    total = 0
    for b in range(len(count)):
        total, count[b] = total + count[b], total
    for i in range(len(order)):
        to = count[(keys[i] >> by) & mask]
        out[to], out_keys[to] = order[i], keys[i]
        count[(keys[i] >> by) & mask] = to + 1


def sort_runs(order: Ints, starts: Ints, keys: Words) -> None:
    """Sort each run order[starts[i]:starts[i+1]] by keys[order], in place, stable."""
    longest = int(np.diff(starts).max(initial=0))
    _sort_runs(order, starts, keys, np.empty(longest if longest > INSERTION else 0, np.int64))


@in_place
def _sort_runs(order: Ints, starts: Ints, keys: Words, spare: Ints) -> None:
    """`sort_runs` with room for the longest run."""
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


def counting_order(codes: Codes, size: int, order: Codes) -> None:
    """Write to `order` the positions of `codes` (each in 0..size-1), sorted by code, stable."""
    _counting_order(codes, order, np.zeros(size + 1, np.int64))


@in_place
def _counting_order(codes: Codes, order: Codes, at: Ints) -> None:
    """`counting_order` with room for a place per code, 0."""
    for code in codes:
        at[code + 1] += 1
    for value in range(len(at) - 1):
        at[value + 1] += at[value]
    for i in range(len(codes)):
        order[at[codes[i]]] = i
        at[codes[i]] += 1


def run_starts(keys: Sequence[Words]) -> Bools:
    """(n,) whether a new run of rows that are equal in all keys begins at each place of these."""
    first, *others = keys
    begins = np.ones(len(first), np.bool_)
    np.not_equal(first[1:], first[:-1], out=begins[1:])
    for key in others:
        begins[1:] |= key[1:] != key[:-1]
    return begins
