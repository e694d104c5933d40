"""The studio's side of its worker processes."""

import asyncio
import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError
from shoal.progress import ProgressEvent
from shoal.studio.worker import Answer, Call, Cancel, Report, Task, receive, send

PATIENCE = 20.0
"""Seconds that a cancelled call may take to notice; then its process is ended and started again.

Long enough for a busy machine. What is done at once, beside another call, ends by itself.
"""
ENDED = (
    "The process that does the work ended; perhaps the memory ran out. Nothing is lost: it is started "
    "again with the next step."
)


class WorkerFailedError(ShoalError):
    """A worker ended in the middle, or something unexpected happened in it."""


class CallCancelledError(Exception):
    """The call was cancelled."""


class _RestartedError(Exception):
    """The process ended before this call began, or because of another one: it is done again."""


@dataclass
class _Waiting:
    answer: "asyncio.Future[Any]"
    progress: Callable[[ProgressEvent], object] | None


class _Process:
    """A process, with the calls that wait for its answers.

    All but `_listen` runs in the event loop, so a call either finds that the process has ended, or is
    among those that are told so.
    """

    def __init__(self) -> None:
        self.has_ended = False
        """Whether nothing more comes from it; the calls that waited for it have been told."""
        self.waiting: dict[int, _Waiting] = {}
        self.preparing: asyncio.Task[Any] | None = None
        """What it does first, once that has begun."""
        self._numbers = itertools.count(1)
        self._loop = asyncio.get_running_loop()
        self._compiling = False
        """Whether it last said that it compiles, which is not done in vain."""
        path = os.pathsep.join(each or str(Path.cwd()) for each in sys.path)
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "shoal.studio.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,  # nothing is left to be written when it ended
            stderr=None if os.environ.get("SHOAL_DEBUG") else subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path},
            start_new_session=True,
        )
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked for something, as far as is known."""
        return not self.has_ended and self._child.poll() is None

    @property
    def number(self) -> int:
        """The number of the process."""
        return self._child.pid

    async def do(
        self,
        task: Task,
        arguments: tuple[Any, ...],
        progress: Callable[[ProgressEvent], object] | None,
        at_once: bool,
    ) -> Any:
        """Do a task, as `Worker.call` does."""
        if self.has_ended:
            raise _RestartedError
        number = next(self._numbers)
        self._send(Call(number, task, arguments, at_once))
        waiting = self.waiting[number] = _Waiting(self._loop.create_future(), progress)
        try:
            return await asyncio.shield(waiting.answer)
        except asyncio.CancelledError:
            if number in self.waiting:
                self._send(Cancel(number))
                if not at_once:
                    self._loop.call_later(PATIENCE, self._end_if_waiting, number)
            raise

    def end(self) -> None:
        """End the process, and whatever it has started."""
        self._kill()
        self._child.wait()
        self._close()

    def _close(self) -> None:
        assert self._child.stdin is not None
        with suppress(OSError):
            self._child.stdin.close()

    def _kill(self) -> None:
        if self._child.returncode is None:  # until it was waited for, no other has its number
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)

    def _send(self, message: Any) -> None:
        assert self._child.stdin is not None
        with suppress(OSError, ValueError):  # it ended: the listener says so
            send(self._child.stdin, message)

    def _listen(self) -> None:
        """Pass on what arrives, in a thread of its own, until nothing more can."""
        assert self._child.stdout is not None
        try:
            while True:
                message = receive(self._child.stdout)
                self._loop.call_soon_threadsafe(self._take, message)
        except Exception:  # the end; or what cannot be read, after which nothing else can
            self._kill()
        finally:
            with suppress(RuntimeError):  # the loop ended as well
                self._loop.call_soon_threadsafe(self._ended)
            self._child.wait()
            self._child.stdout.close()

    def _take(self, message: Answer | Report) -> None:
        waiting = self.waiting.get(message.number)
        if waiting is None:
            return
        self._compiling = isinstance(message, Report) and message.event.step == "compile"
        if isinstance(message, Report):
            if waiting.progress is not None and not waiting.answer.done():
                waiting.progress(message.event)
            return
        del self.waiting[message.number]
        if message.cancelled:
            _fail(waiting, CallCancelledError())
        elif message.error is not None:
            _fail(waiting, message.error)
        elif message.failure:
            words = f"an unexpected error occurred ({message.failure}), which is a bug in Shoal."
            _fail(waiting, WorkerFailedError(words))
        elif not waiting.answer.done():
            waiting.answer.set_result(message.result)

    def _ended(self) -> None:
        """Tell all calls that nothing more comes."""
        self.has_ended = True
        self._close()
        waiting, self.waiting = self.waiting, {}
        for one in waiting.values():
            _fail(one, WorkerFailedError(ENDED))

    def _end_if_waiting(self, number: int) -> None:
        """End a process that does not notice that a call was cancelled; others are done again."""
        if number not in self.waiting:
            return
        if self._compiling:  # what is compiled is kept, and needed again
            self._loop.call_later(PATIENCE, self._end_if_waiting, number)
            return
        _fail(self.waiting.pop(number), CallCancelledError())
        for other in self.waiting.values():
            _fail(other, _RestartedError())
        self._ended()
        self.end()


class Worker:
    """A process that does one call after another; it is started again when it ended."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._process: _Process | None = None
        self._preparation: tuple[Task, tuple[Any, ...]] | None = None

    @property
    def process_id(self) -> int | None:
        """The process, while there is one."""
        process = self._process
        return process.number if process is not None and process.is_alive else None

    @property
    def is_busy(self) -> bool:
        """Whether a call is waiting for its answer."""
        return self._process is not None and bool(self._process.waiting)

    def prepare_with(self, task: Task, *arguments: Any) -> None:
        """What every new process does first, such as opening the table."""
        self._preparation = (task, arguments)
        if self._process is not None:
            self._process.preparing = None

    async def call(
        self,
        task: Task,
        *arguments: Any,
        progress: Callable[[ProgressEvent], object] | None = None,
        at_once: bool = False,
    ) -> Any:
        """Do a task in the process.

        Raises what the task raises of Shoal's errors, `WorkerFailed` if the process ended, and
        `CallCancelled`. A call whose caller is cancelled is cancelled too.
        """
        while True:
            if self._process is None or not self._process.is_alive:
                self._process = _Process()
            process = self._process
            try:
                await self._prepared(process, progress)
                return await process.do(task, arguments, progress, at_once)
            except _RestartedError:
                continue

    async def _prepared(
        self, process: _Process, progress: Callable[[ProgressEvent], object] | None
    ) -> None:
        """Wait until the process has done what every new one does first."""
        if self._preparation is None:
            return
        if process.preparing is None:
            first = process.do(*self._preparation, progress, False)
            process.preparing = asyncio.get_running_loop().create_task(first)
            process.preparing.add_done_callback(_look_at)
        preparing = process.preparing
        try:  # it goes on, whoever of those that wait for it is cancelled
            await asyncio.shield(preparing)
        except ShoalError:
            if process.preparing is preparing:
                process.preparing = None  # the next call tries again
            raise

    def stop(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.end()


def _fail(waiting: _Waiting, error: Exception) -> None:
    if not waiting.answer.done():
        waiting.answer.set_exception(error)
        waiting.answer.exception()  # a cancelled caller does not look at it any more


def _look_at(done: "asyncio.Task[Any]") -> None:
    """Take note of an error, so that nothing is logged where nobody waits for it."""
    if not done.cancelled():
        done.exception()
