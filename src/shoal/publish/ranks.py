"""Rows of ranks, numbered in their order."""

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Codes
from shoal.encoding.cells import pack
from shoal.kernels.sorting import radix_sort, run_starts


def number_rows(ranks: Sequence[Codes], sizes: Sequence[int]) -> tuple[Codes, int]:
    """(n,) the place of each row among the distinct ones, and how many there are.

    ranks: per column (n,) a rank below its size; the first column counts most.
    """
    words = pack(ranks, sizes)
    order = np.arange(len(ranks[0]), dtype=np.int64)
    for word, bits in reversed(words):
        order, first = radix_sort(word, bits, order)
    begins = run_starts([first, *(word[order] for word, _ in words[1:])])
    classes = np.empty(len(order), np.int32)
    classes[order] = np.cumsum(begins) - 1
    return classes, int(begins.sum())
