"""A 64-bit hash of a row's published values.

It decides in which order equal-looking rows are handed out, so it must be the same on every machine
and for every order of the rows. Under a large seed it is keyed: SipHash-2-4 (Aumasson and Bernstein,
"SipHash: a fast short-input PRF", 2012), because the order of published rows shows something of it.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints, Words
from shoal.kernels.jit import in_place, inner, mix, number

AT_ONCE = 1 << 15
"""Rows whose states stay in the cache while all their columns are hashed."""


def hash_texts(offsets: Ints, data: npt.NDArray[np.uint8]) -> Words:
    """(n,) hash of each byte string data[offsets[i]:offsets[i+1]]."""
    out = np.empty(len(offsets) - 1, np.uint64)
    _hash_texts(offsets, data, out)
    return out


@in_place
def _hash_texts(offsets: Ints, data: npt.NDArray[np.uint8], out: Words) -> None:
    for i in range(len(out)):
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


@inner
def _rounds(
    a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64, times: int
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Rounds of SipHash."""
    for _ in range(times):
        a += b
        b = (b << np.uint64(13)) | (b >> np.uint64(51))
        b ^= a
        a = (a << np.uint64(32)) | (a >> np.uint64(32))
        c += d
        d = (d << np.uint64(16)) | (d >> np.uint64(48))
        d ^= c
        a += d
        d = (d << np.uint64(21)) | (d >> np.uint64(43))
        d ^= a
        c += b
        b = (b << np.uint64(17)) | (b >> np.uint64(47))
        b ^= c
        c = (c << np.uint64(32)) | (c >> np.uint64(32))
    return a, b, c, d


@in_place
def keyed_start(states: npt.NDArray[np.uint64], first: np.uint64, second: np.uint64) -> None:
    """Begin keyed hashes: (n, 4) states, in place."""
    for i in range(len(states)):
        states[i, 0] = first ^ np.uint64(0x736F6D6570736575)
        states[i, 1] = second ^ np.uint64(0x646F72616E646F6D)
        states[i, 2] = first ^ np.uint64(0x6C7967656E657261)
        states[i, 3] = second ^ np.uint64(0x7465646279746573)


@in_place
def keyed_stir(states: npt.NDArray[np.uint64], words: Words) -> None:
    """Take one word per row into keyed hashes, in place."""
    for i in range(len(states)):
        word = words[i]
        a, b, c, d = _rounds(
            states[i, 0], states[i, 1], states[i, 2], states[i, 3] ^ word, number(2)
        )
        states[i, 0], states[i, 1], states[i, 2], states[i, 3] = a ^ word, b, c, d


@in_place
def keyed_end(states: npt.NDArray[np.uint64], out: Words) -> None:
    """Finish keyed hashes."""
    for i in range(len(states)):
        a, b, c, d = _rounds(
            states[i, 0], states[i, 1], states[i, 2] ^ np.uint64(0xFF), states[i, 3], number(4)
        )
        out[i] = a ^ b ^ c ^ d


def keyed_hash(n: int, columns: Iterable[Words], key: tuple[int, int]) -> Words:
    """(n,) SipHash-2-4 of each row's words: nobody who lacks the key can tell it from chance."""
    every, out = list(columns), np.empty(n, np.uint64)
    length = np.uint64((8 * len(every) % 256) << 56)
    states = np.empty((min(n, AT_ONCE), 4), np.uint64)
    ends = np.full(len(states), length, np.uint64)
    for begin in range(0, n, AT_ONCE):
        end = min(begin + AT_ONCE, n)
        some = states[: end - begin]
        keyed_start(some, np.uint64(key[0]), np.uint64(key[1]))
        for words in every:
            keyed_stir(some, words[begin:end])
        keyed_stir(some, ends[: len(some)])
        keyed_end(some, out[begin:end])
    return out


@in_place
def stir(state: Words, words: Words) -> None:
    """Stir one word per row into the rows' states, in place."""
    for i in range(len(state)):
        state[i] = mix(state[i], words[i])
