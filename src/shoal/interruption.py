"""Interruption: Ctrl-C, SIGTERM and SIGHUP end a command, whatever it does.

Python handles a signal between two steps of its main thread, but a step may be a call into compiled
code that reads a file or groups a table for minutes. So a command works in a thread of its own, and
the main thread waits for signals. A signal is raised in the working thread, and queries of databases
are told to stop; the thread then unwinds and removes its temporary files. Where it cannot do so in
time, the main thread removes them and ends the process.

A commit is not interrupted. A signal that arrives before it begins prevents it, and a signal that
arrives later has no effect: the exit code is 0 if and only if the release is in place.
"""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

Result = TypeVar("Result")
GRACE = 0.6
"""Seconds in which interrupted work may unwind by itself."""
REMOVING = 0.4
"""Seconds in which temporary files are removed again and again, as the work may still make some."""
POLL = 0.1
"""Seconds between looks for a signal."""
SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Interruptible(Protocol):
    """Something that works in compiled code, and can be told to stop by another thread."""

    def interrupt(self) -> object:
        """Stop; an error is raised where it works."""


class _State:
    """What the threads of this process agree on."""

    def __init__(self) -> None:
        self.worker: threading.Thread | None = None
        """The thread of `interruptible`, where there is one."""
        self.lock = threading.RLock()
        """Held during a commit of that thread, and while a signal is acted on."""
        self.stopping = False
        """Whether the work is to end: nothing may be committed any more."""
        self.committed = False
        """Whether everything that the command was to write is in place."""
        self.told = False
        """Whether the user was told that the work was stopped."""
        self.removers: dict[object, Callable[[], object]] = {}
        """What removes temporary files, should the work not unwind in time."""
        self.working = WeakSet[Interruptible]()
        """What is told to stop."""


_state = _State()
if hasattr(os, "register_at_fork"):
    # a forked child has other work than its parent, and removes nothing of it
    os.register_at_fork(after_in_child=lambda: _state.__init__())  # type: ignore[misc]


def is_stopping() -> bool:
    """Whether a signal is ending the work: an error that follows is no news."""
    return _state.stopping


def is_committed() -> bool:
    """Whether everything that the command was to write is in place."""
    return _state.committed


def begin() -> None:
    """Say that something is to be written: what was committed before does not count any more."""
    _state.committed = _state.told = False


def is_first_to_tell() -> bool:
    """Whether nobody has told the user yet: both threads would, where the work unwinds late."""
    first = not _state.told
    _state.told = True
    return first


def interrupting(working: Interruptible) -> None:
    """Tell it to stop when a signal ends the work."""
    _state.working.add(working)


def register(remove: Callable[[], object]) -> object:
    """Call `remove` where an interruption ends the process before `unregister`; returns its key.

    `remove` returns whether something is still there, and is called again then.
    """
    key = object()
    _state.removers[key] = remove
    return key


def unregister(key: object) -> None:
    """Forget what was registered."""
    _state.removers.pop(key, None)


@contextmanager
def removing(remove: Callable[[], object]) -> Iterator[None]:
    """Call `remove` after the block, or where the end of the process is the end of it."""
    key = register(remove)
    try:
        yield
    finally:
        remove()
        unregister(key)  # not before: the process may be ended while this is removed


@contextmanager
def committing() -> Iterator[None]:
    """A block that signals do not interrupt; raises `KeyboardInterrupt` where one came before it."""
    in_worker = threading.current_thread() is _state.worker
    with _state.lock if in_worker else _postponed_signals():
        if _state.stopping and in_worker:
            raise KeyboardInterrupt
        yield
        _state.committed = True


@contextmanager
def _postponed_signals() -> Iterator[None]:
    """Let signals take effect after the block; of use in the main thread alone, which handles them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    kept = {
        number: signal.signal(number, lambda number, _: received.append(number))
        for number in SIGNALS
        # a handler that is not Python's cannot be put back
        if signal.getsignal(number) not in (signal.SIG_IGN, None)
    }
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
        for number in dict.fromkeys(received):
            signal.raise_signal(number)


class Outcome:
    """What became of the work."""

    def __init__(self) -> None:
        self.value: Any = None
        self.error: BaseException | None = None
        self.done = threading.Event()


def interruptible(work: Callable[[], Result], stopped: Callable[[], object]) -> Result:
    """Do the work in a thread, so that a signal ends the process in time.

    The process then ends with 128 and the number of the signal, as shells report it. `stopped` is called
    before where the work did not unwind by itself. Where everything is in place at the end, signals are
    ignored from then on: Python takes a while to leave.
    """
    outcome, received = Outcome(), list[int]()

    def receive(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as signal calls it
        received.append(number)

    handled = [n for n in SIGNALS if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, receive) for number in handled}
    thread = threading.Thread(target=_do, args=(work, outcome), name="shoal-work", daemon=True)
    _state.worker = thread
    thread.start()
    try:
        while not outcome.done.wait(POLL):
            if received and not _state.stopping:
                _stop(thread, outcome, stopped, received)
    finally:
        _state.worker = None
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if _state.committed else handler)
    if outcome.error is not None:
        raise outcome.error
    result: Result = outcome.value
    return result


def _do(work: Callable[[], object], outcome: Outcome) -> None:
    try:
        outcome.value = work()
    except BaseException as error:  # raised again in the main thread
        outcome.error = error
    finally:
        outcome.done.set()


def _stop(
    thread: threading.Thread, outcome: Outcome, stopped: Callable[[], object], received: list[int]
) -> None:
    """End the work and the process, unless everything is in place already."""
    number = received[0]
    with _state.lock:  # a commit that has begun is finished first
        if _state.committed:
            return
        _state.stopping = True
    assert thread.ident is not None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt)
    )
    end = time.monotonic() + GRACE
    # after a query that is stopped the work may begin another one, before it sees that it is to end
    while _interrupt() and not outcome.done.wait(POLL) and time.monotonic() < end:
        pass
    if not outcome.done.is_set():
        _remove_all()
        stopped()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    # threads that are still in compiled code would be waited for otherwise
    os._exit(128 + number)


def _interrupt() -> bool:
    """Tell everything that works to stop."""
    with suppress(RuntimeError):  # another thread adds one: there is a next time
        for working in [*_state.working]:
            with suppress(Exception):  # it was closed
                working.interrupt()
    return True


def _remove_all() -> None:
    """Remove what the work would remove, until nothing is left or time is up."""
    end, left = time.monotonic() + REMOVING, [*_state.removers.values()]
    while left and time.monotonic() < end:
        left = [remove for remove in left if _is_left(remove)]


def _is_left(remove: Callable[[], object]) -> bool:
    with suppress(Exception):
        return bool(remove())
    return False
