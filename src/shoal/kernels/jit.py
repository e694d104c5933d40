"""What all kernels share: how they are compiled, and the hash by which they mix numbers.

Mixing follows the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
generators", 2014).
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
number: Callable[[int], int] = cast(Any, np.int64)
"""Kernels pass `number(0)` to each other: what is called with `0`, and then with a number that changes,
is compiled twice, the second time for any number."""
truth: Callable[[bool], bool] = cast(Any, np.bool_)
"""The same for False and True."""


def kernel(function: Kernel) -> Kernel:
    """Compile on first use, keep the result across runs, let other threads run meanwhile."""
    compiled: Kernel = numba.njit(cache=True, nogil=True)(function)
    return compiled


def inlined(function: Kernel) -> Kernel:
    """A small step of other kernels, pasted into them."""
    compiled: Kernel = numba.njit(cache=True, nogil=True, inline="always")(function)
    return compiled


@kernel
def mix(state: np.uint64, word: np.uint64) -> np.uint64:
    """Stir one word into a state."""
    z = (state ^ word) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
