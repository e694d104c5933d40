"""Freed memory that is used again, while a run holds a large table.

The system clears every page of memory before it hands it out. The arrays of a large table are longer
than what the C library keeps when they are freed, so each of them was new memory: clearing it took a
quarter of the CPU time of a run on ten million rows. While `reusing` lasts, what is freed stays with the
process, what Arrow frees too; afterwards all that is free goes back to the system. This needs glibc, and
leaves alone what the user has set by the environment.
"""

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LARGE = 1 << 25
"""Bytes of a table from which on it is worth while."""
TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD, MMAP_MAX, ARENA_MAX = -1, -2, -3, -4, -8
"""What `mallopt` can set."""
REUSING = {MMAP_MAX: 0, TRIM_THRESHOLD: -1, TOP_PAD: 1 << 26}
"""No block is taken from the system by itself, and none given back; what is taken at once."""
USUAL = {MMAP_MAX: 1 << 16, MMAP_THRESHOLD: 1 << 25, TRIM_THRESHOLD: 1 << 26, TOP_PAD: 1 << 17}
"""As it is without us; the thresholds are those to which glibc raises its own as blocks are freed."""
OURS = ("GLIBC_TUNABLES", "MALLOC_")
"""How the names of variables begin by which a user sets the same."""
ARROWS = "ARROW_DEFAULT_MEMORY_POOL"


class _State:
    """What the threads of this process agree on."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        """Runs that reuse memory now."""
        self.pool: Any = None
        """Where Arrow took its memory before the first of them."""


_state = _State()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _state.__init__())  # type: ignore[misc]


@contextmanager
def reusing(size: int) -> Iterator[None]:
    """Keep freed memory for what comes next, if a table of so many bytes is large enough."""
    library = _library() if size >= LARGE else None
    if library is None:
        yield
        return
    with _state.lock:
        _state.users += 1
        if _state.users == 1:
            _begin(library)
    try:
        yield
    finally:
        with _state.lock:
            _state.users -= 1
            if _state.users == 0:
                _end(library)


def share_one_arena() -> None:
    """Let all threads of this process, which is ours, take memory from one place, where `reusing` keeps
    it; threads that have taken some already go on."""
    library = _library()
    if library is not None:
        library.mallopt(ARENA_MAX, 1)


def _library() -> Any:
    """glibc; None where there is another library, or the user has set how it works."""
    if any(name.startswith(OURS) for name in os.environ):
        return None
    try:
        known = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError, OSError):
        return None
    return ctypes.CDLL(None) if known and known.startswith("glibc") else None


def _begin(library: Any) -> None:
    import pyarrow as pa

    for what, value in REUSING.items():
        library.mallopt(what, value)
    if ARROWS not in os.environ:
        _state.pool = pa.default_memory_pool()
        pa.set_memory_pool(pa.system_memory_pool())


def _end(library: Any) -> None:
    import pyarrow as pa

    if _state.pool is not None:
        pa.set_memory_pool(_state.pool)
        _state.pool = None
    for what, value in USUAL.items():
        library.mallopt(what, value)
    library.malloc_trim(0)
