"""The worker: a process that keeps the table and does the long work, so that the page never waits.

The studio sends calls by standard input and gets answers by standard output, both as pickled messages
with their length before them. A call is a function of a module that can be imported, with its
arguments; its first two arguments are the `Tables` that the worker keeps and a function to report
progress. A call that is not wanted any more is cancelled where it next reports progress. When standard
input ends, so has the studio, and the worker ends too.
"""

import os
import pickle
import queue
import signal
import struct
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any

from shoal import api
from shoal.errors import InputError, ShoalError
from shoal.progress import ProgressCallback, ProgressEvent

LENGTH = struct.Struct("<Q")
INTERVAL = 0.1
"""Seconds between two reports of one step."""


class CancelledError(Exception):
    """The call is not wanted any more."""


@dataclass
class Tables:
    """What a worker keeps between calls."""

    place: str | None = None
    """The file or address of the table."""
    table: "api.Prepared | None" = None
    sample: "api.Prepared | None" = None
    kept: dict[str, Any] = field(default_factory=dict)
    """Whatever else a task keeps for its next call, by a name of its own."""

    def opened(self) -> "api.Prepared":
        """The table."""
        if self.table is None:
            if self.place is None:
                raise RuntimeError("no table was named")
            self.table = api.prepare(self.place)
        return self.table


Task = Callable[..., Any]
"""A function of `Tables`, a progress callback, and whatever else it is called with."""


@dataclass(frozen=True)
class Call:
    """A task to do."""

    number: int
    task: Task
    arguments: tuple[Any, ...]
    at_once: bool
    """Whether it is quick and may be done beside another call."""


@dataclass(frozen=True)
class Cancel:
    """A call that is not wanted any more."""

    number: int


@dataclass(frozen=True)
class Report:
    """How far a call is."""

    number: int
    event: ProgressEvent


@dataclass(frozen=True)
class Answer:
    """The result of a call, or why there is none."""

    number: int
    result: Any = None
    error: ShoalError | None = None
    failure: str = ""
    """The type of an unexpected error; its text may hold a value of the table."""
    cancelled: bool = False


def send(stream: IO[bytes], message: Any) -> None:
    """Write one message."""
    data = pickle.dumps(message)
    left = memoryview(LENGTH.pack(len(data)) + data)
    while left:
        left = left[stream.write(left) :]
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one message; raises `EOFError` at the end."""
    (size,) = LENGTH.unpack(_exactly(stream, LENGTH.size))
    return pickle.loads(_exactly(stream, size))


def _exactly(stream: IO[bytes], size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        if not (piece := stream.read(size - len(found))):
            raise EOFError
        found += piece
    return bytes(found)


def _of_system(number: int, error: OSError) -> Answer:
    """What the system refused, such as a file on a full disk, in the words of the command line."""
    if not error.strerror:
        return Answer(number, failure=type(error).__name__)
    place = f"{error.filename}: " if error.filename else "A file could not be written or read: "
    return Answer(number, error=InputError(f"{place}{error.strerror}. Nothing was published."))


def _failed(call: Call, error: BaseException) -> Answer:
    if os.environ.get("SHOAL_DEBUG"):
        traceback.print_exception(error)
    return Answer(call.number, failure=type(error).__name__)


class _Doing(threading.local):
    """What this thread is doing."""

    number: int | None = None


class _Worker:
    def __init__(self) -> None:
        self._source = os.fdopen(os.dup(0), "rb")
        self._target = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)  # whatever else prints goes to standard error
        self._writing = threading.Lock()
        self._calls: queue.Queue[Call] = queue.Queue()
        self._cancelled: set[int] = set()
        self._tables = Tables()
        self._doing = _Doing()
        self._in_turn: int | None = None
        """The call that is done in its turn, by threads of its own too."""

    def run(self) -> None:
        api.call_when_compiling(self._compiling)
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            call = self._calls.get()
            self._in_turn = call.number
            self._do(call)
            self._in_turn = None

    def _listen(self) -> None:
        while True:
            try:
                message = receive(self._source)
            except Exception:  # the end; or what cannot be read, after which nothing else can
                os._exit(0)
            if isinstance(message, Cancel):
                self._cancelled.add(message.number)
            elif message.at_once:
                threading.Thread(target=self._do, args=(message,), daemon=True).start()
            else:
                self._calls.put(message)

    def _compiling(self) -> None:
        """Say that it takes longer this once, and why."""
        number = self._in_turn if self._doing.number is None else self._doing.number
        if number is not None:
            self._send(Report(number, ProgressEvent("compile", 0.0)))

    def _do(self, call: Call) -> None:
        self._doing.number = call.number
        try:
            result = call.task(self._tables, self._reporter(call.number), *call.arguments)
            answer = Answer(call.number, result)
        except CancelledError:
            answer = Answer(call.number, cancelled=True)
        except ShoalError as error:
            answer = Answer(call.number, error=error)
        except OSError as error:
            answer = _of_system(call.number, error)
        except BaseException as error:  # also in a thread of its own somebody waits for the answer
            answer = _failed(call, error)
        self._cancelled.discard(call.number)
        try:
            self._send(answer)
        except Exception as error:  # it cannot travel
            self._send(_failed(call, error))

    def _reporter(self, number: int) -> ProgressCallback:
        step, last = "", 0.0

        def report(event: ProgressEvent) -> None:
            nonlocal step, last
            if number in self._cancelled:
                raise CancelledError
            now = time.monotonic()
            if event.step != step or now - last >= INTERVAL:
                step, last = event.step, now
                self._send(Report(number, event))

        report(ProgressEvent("start", 0.0))
        return report

    def _send(self, message: Any) -> None:
        with self._writing:
            try:
                send(self._target, message)
            except (BrokenPipeError, OSError):
                os._exit(0)


def main() -> None:
    """Do calls until standard input ends."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is for the studio, which ends this process
    warnings.simplefilter("ignore")
    _Worker().run()


if __name__ == "__main__":
    # as `__main__` the classes of messages would be others than those of the studio
    from shoal.studio import worker

    worker.main()
    sys.exit(0)
