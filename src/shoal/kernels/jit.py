"""How every kernel is compiled: cached on disk, without the interpreter lock."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def kernel(function: Kernel) -> Kernel:
    """Compile on first use, keep the result across runs, let other threads run meanwhile."""
    compiled: Kernel = numba.njit(cache=True, nogil=True)(function)
    return compiled


def inlined(function: Kernel) -> Kernel:
    """A small step of other kernels, pasted into them."""
    compiled: Kernel = numba.njit(cache=True, nogil=True, inline="always")(function)
    return compiled
