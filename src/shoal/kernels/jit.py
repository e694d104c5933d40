"""What all kernels share: how they are compiled, and the hash by which they mix numbers.

A kernel is a plain Python function over arrays. For more than a few numbers it is compiled by numba.
A table of some dozen rows does not wait for that: loading numba takes longer than the interpreter
needs for all its loops. Both run the same source and give the same numbers.

Mixing follows the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
generators", 2014).
"""

import functools
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

from shoal.progress import on_screen

P = ParamSpec("P")
Result = TypeVar("Result")
number: Callable[[int | np.uint64], int] = cast(Any, np.int64)
"""Kernels pass `number(0)` to each other: where numba works by itself, what is called with `0`, and then
with a number that changes, is compiled twice, the second time for any number."""
truth: Callable[[bool], bool] = cast(Any, np.bool_)
"""The same for False and True."""

FEW = 512
"""Up to this many numbers in its arrays a call is interpreted."""
FEW_ROWS = 64
"""Up to this many rows of a table every call is: most numbers are room for more."""
PATIENCE = 400_000
"""So many numbers in all calls of a process; then, or once numba is loaded, every call is compiled."""


class Notice:
    """Says once, above a bar, that the user waits for the compiler."""

    line = (
        "The first run compiles code for this machine, which takes some seconds; later ones do not."
    )
    patience = 1.0
    """Seconds after which it is said."""

    def __init__(self) -> None:
        self.began: float | None = None
        self.said = False

    def __call__(self) -> None:
        """Numba begins to compile another function."""
        self.began = time.monotonic() if self.began is None else self.began
        if on_screen and not self.said and time.monotonic() - self.began > self.patience:
            self.said = True
            for say in on_screen:
                say(self.line)


on_compile: list[Callable[[], None]] = [Notice()]
"""Called, in the thread that waits, whenever numba begins to compile what it has not kept on disk."""


class _Interpreter(threading.local):
    """What this thread interprets."""

    busy = False
    """Whether it is inside an interpreted kernel: what that calls is interpreted too, since it passes
    scalars of other types than a compiled one does."""
    limit = FEW
    """Up to this many numbers a call is interpreted."""


_interpreter = _Interpreter()
_lock = threading.RLock()


@contextmanager
def interpreting() -> Iterator[None]:
    """Interpret every kernel that this thread calls."""
    before, _interpreter.busy = _interpreter.busy, True
    try:
        with np.errstate(over="ignore"):  # hashes are meant to overflow
            yield
    finally:
        _interpreter.busy = before


@contextmanager
def expecting(rows: int) -> Iterator[None]:
    """Run kernels on a table of so many rows."""
    before = _interpreter.limit
    _interpreter.limit = PATIENCE if rows <= FEW_ROWS else FEW
    try:
        yield
    finally:
        _interpreter.limit = before


class Kernel(Generic[P, Result]):
    """A loop over arrays, interpreted or compiled."""

    left = PATIENCE
    """Numbers that may still be interpreted, of all kernels."""

    def __init__(self, function: Callable[P, Result], **options: Any) -> None:
        self.function = function
        self.options = options
        self.compiled: Callable[P, Result] | None = None
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result:
        """Run the loop."""
        if _interpreter.busy:
            return self.function(*args, **kwargs)
        if "no_cpython_wrapper" in self.options:
            with interpreting():
                return self.function(*args, **kwargs)
        if self.compiled is not None:
            return self.compiled(*args, **kwargs)
        if (numbers := _numbers(args)) <= min(_interpreter.limit, Kernel.left):
            Kernel.left -= numbers
            with interpreting():
                return self.function(*args, **kwargs)
        return self.compile()(*args, **kwargs)

    def compile(self) -> Callable[P, Result]:
        """Return what numba makes of the loop; it compiles on first use and keeps the result on disk.

        The kernels that the loop calls are handed to numba in its own terms, in a copy of the module's
        names, so that another thread may still be interpreting.
        """
        with _lock:
            if self.compiled is None:
                from shoal.kernels.compiler import compiled

                _announce_compilation()
                Kernel.left = -1

                source = cast(FunctionType, self.function)
                names = dict(source.__globals__)
                copied = FunctionType(source.__code__, names, source.__name__, source.__defaults__)
                copied.__module__, copied.__qualname__ = source.__module__, source.__qualname__
                copied.__annotations__ = source.__annotations__
                self.compiled = compiled(copied, no_cfunc_wrapper=True, **self.options)
                for name in source.__code__.co_names:
                    if isinstance(called := names.get(name), Kernel):
                        names[name] = called.compile()
            assert self.compiled is not None
            return self.compiled

    def __reduce__(self) -> str:
        return cast(FunctionType, self.function).__qualname__  # found by its name, like a function


@functools.cache
def _announce_compilation() -> None:
    """Let numba call the functions in `on_compile`, from now on."""
    from numba.core import event

    class Announcer(event.Listener):  # type: ignore[misc]
        """Tells of every function that is compiled; what is found on disk is not."""

        def on_start(self, _: Any) -> None:
            for announce in on_compile:
                announce()

        def on_end(self, _: Any) -> None:
            """Nothing is announced."""

    event.register("numba:compile", Announcer())


def _numbers(values: Iterable[Any]) -> int:
    """How many numbers there are in arrays, also those of named tuples."""
    found = 0
    for value in values:
        if isinstance(value, np.ndarray):
            found += value.size
        elif isinstance(value, tuple):
            found += _numbers(value)
    return found


def kernel(function: Callable[P, Result]) -> Callable[P, Result]:
    """Compile on first use, keep the result across runs, let other threads run meanwhile."""
    return Kernel(function)


def in_place(function: Callable[P, Result]) -> Callable[P, Result]:
    """A kernel that makes no array: it only writes to those that it is given. It compiles faster, since
    no references to arrays are counted that would have to be freed."""
    return Kernel(function, _nrt=False)


def inner(function: Callable[P, Result]) -> Callable[P, Result]:
    """A part of other kernels that makes no array and that Python does not call: it compiles faster;
    called from Python, it is interpreted."""
    return Kernel(function, no_cpython_wrapper=True, _nrt=False)


def inlined(function: Callable[P, Result]) -> Callable[P, Result]:
    """A small step of other kernels, pasted into them."""
    return Kernel(function, no_cpython_wrapper=True, _nrt=False, forceinline=True)


@inlined
def mix(state: np.uint64, word: np.uint64) -> np.uint64:
    """Stir one word into a state."""
    z = (state ^ word) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
