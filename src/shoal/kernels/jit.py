"""How every kernel is compiled: cached on disk, without the interpreter lock."""

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
