"""A 64-bit hash of a row's published values.

It decides in which order equal-looking rows are handed out, so it must be the same on every machine
and for every order of the rows.
"""

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints, Words
from shoal.kernels.jit import kernel, mix


@kernel
def hash_texts(offsets: Ints, data: npt.NDArray[np.uint8]) -> Words:
    """(n,) hash of each byte string data[offsets[i]:offsets[i+1]]."""
    n = len(offsets) - 1
    out = np.empty(n, np.uint64)
    for i in range(n):
        begin, end = offsets[i], offsets[i + 1]
        state = mix(np.uint64(0), np.uint64(end - begin))
        word = np.uint64(0)
        filled = 0
        for at in range(begin, end):
            word |= np.uint64(data[at]) << np.uint64(8 * filled)
            filled += 1
            if filled == 8:
                state = mix(state, word)
                word = np.uint64(0)
                filled = 0
        out[i] = mix(state, word)
    return out


@kernel
def stir(state: Words, words: Words) -> None:
    """Stir one word per row into the rows' states, in place."""
    for i in range(len(state)):
        state[i] = mix(state[i], words[i])
