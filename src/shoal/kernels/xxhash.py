"""XXH64, a hash of bytes (Collet, "xxHash: extremely fast hash algorithm", 2012), row after row.

Each row has a state, the seed of what is hashed next, so that a row of several columns has one hash.
"""

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints, Words
from shoal.kernels.jit import in_place, inner

P1, P2, P3, P4, P5 = (
    np.uint64(prime)
    for prime in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)


@inner
def _turned(word: np.uint64, bits: np.uint64) -> np.uint64:
    return (word << bits) | (word >> (np.uint64(64) - bits))


@inner
def _spread(word: np.uint64) -> np.uint64:
    return _turned(word * P2, np.uint64(31)) * P1


@inner
def _take_four(state: np.uint64, word: np.uint64) -> np.uint64:
    return _turned(state ^ (word * P1), np.uint64(23)) * P2 + P3


@inner
def _take_eight(state: np.uint64, word: np.uint64) -> np.uint64:
    return _turned(state ^ _spread(word), np.uint64(27)) * P1 + P4


@inner
def _ended(state: np.uint64) -> np.uint64:
    state = (state ^ (state >> np.uint64(33))) * P2
    state = (state ^ (state >> np.uint64(29))) * P3
    return state ^ (state >> np.uint64(32))


@inner
def _word(data: npt.NDArray[np.uint8], at: int, size: int) -> np.uint64:
    """Bytes as a number, the lowest one first."""
    word = np.uint64(0)
    for i in range(size):
        word |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return word


@in_place
def take_numbers(state: Words, words: Words, size: int, present: npt.NDArray[np.bool_]) -> None:
    """Take a number of `size` bytes, 4 or 8, into the state of each row where it is present."""
    for i in range(len(state)):
        if present[i]:
            start = state[i] + P5 + np.uint64(size)
            taken = _take_four(start, words[i]) if size == 4 else _take_eight(start, words[i])
            state[i] = _ended(taken)


@in_place
def take_bytes(state: Words, begins: Ints, ends: Ints, data: npt.NDArray[np.uint8]) -> None:
    """Take data[begins[i]:ends[i]] into the state of each row; not where the end is negative."""
    for i in range(len(state)):
        at, end = begins[i], ends[i]
        if end < 0:
            continue
        length = end - at
        now = state[i] + P5
        if length >= 32:
            a, b, c, d = state[i] + P1 + P2, state[i] + P2, state[i], state[i] - P1
            while at + 32 <= end:
                a = _turned(a + _word(data, at, 8) * P2, np.uint64(31)) * P1
                b = _turned(b + _word(data, at + 8, 8) * P2, np.uint64(31)) * P1
                c = _turned(c + _word(data, at + 16, 8) * P2, np.uint64(31)) * P1
                d = _turned(d + _word(data, at + 24, 8) * P2, np.uint64(31)) * P1
                at += 32
            now = _turned(a, np.uint64(1)) + _turned(b, np.uint64(7))
            now += _turned(c, np.uint64(12)) + _turned(d, np.uint64(18))
            now = (now ^ _spread(a)) * P1 + P4
            now = (now ^ _spread(b)) * P1 + P4
            now = (now ^ _spread(c)) * P1 + P4
            now = (now ^ _spread(d)) * P1 + P4
        now += np.uint64(length)
        while at + 8 <= end:
            now = _take_eight(now, _word(data, at, 8))
            at += 8
        if at + 4 <= end:
            now = _take_four(now, _word(data, at, 4))
            at += 4
        while at < end:
            now = _turned(now ^ (np.uint64(data[at]) * P5), np.uint64(11)) * P1
            at += 1
        state[i] = _ended(now)
