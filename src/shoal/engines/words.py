"""Rows as words: the codes of all quasi-identifiers packed, so that comparing words compares rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Ints

WORD_BITS = 63


@dataclass(frozen=True)
class WordLayout:
    """Where the codes of each column are in a word, the first column highest."""

    bits: Ints
    shift: Ints

    @property
    def mask(self) -> Ints:
        """(d,) as many ones as a column has bits."""
        return (np.int64(1) << self.bits) - 1

    def pack(self, codes: Sequence[Codes]) -> Ints:
        """(n,) the words of rows."""
        word = np.zeros(len(codes[0]), np.int64)
        for column, bits in zip(codes, self.bits, strict=True):
            word <<= bits
            word |= column
        return word

    def unpack(self, word: int) -> tuple[int, ...]:
        """The codes of a row."""
        pairs = zip(self.shift.tolist(), self.mask.tolist(), strict=True)
        return tuple((word >> shift) & mask for shift, mask in pairs)


def word_layout(sizes: Sequence[int]) -> WordLayout | None:
    """How rows are packed whose columns have so many codes; None where they do not fit."""
    bits = np.array([max(1, (size - 1).bit_length()) for size in sizes], np.int64)
    if not len(bits) or bits.sum() > WORD_BITS:
        return None
    return WordLayout(bits, np.append(np.cumsum(bits[::-1])[::-1][1:], 0))
