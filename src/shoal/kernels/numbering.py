"""Number equal things alike: the keys of rows under a constraint."""

import numpy as np
import numpy.typing as npt

from shoal.kernels.hashing import mix
from shoal.kernels.jit import kernel

NONE = -1


@kernel
def number_small(
    words: npt.NDArray[np.uint64], size: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
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
def number_pairs(
    before: npt.NDArray[np.int32], words: npt.NDArray[np.uint64]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
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
def count_distinct(codes: npt.NDArray[np.int32], size: int) -> int:
    """How many different codes, all below `size`, there are."""
    seen = np.zeros(size, np.bool_)
    for code in codes:
        seen[code] = True
    return int(seen.sum())
