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


class WorkerFailedError(ShoalError):
    """A worker ended in the middle, or something unexpected happened in it."""


class CallCancelledError(Exception):
    """The call was cancelled."""


class _RestartedError(Exception):
    """The process was ended because of another call: this one is done again."""


@dataclass
class _Waiting:
    answer: "asyncio.Future[Any]"
    progress: Callable[[ProgressEvent], object] | None


class Worker:
    """A process that does one call after another; it is started again when it ended."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._numbers = itertools.count(1)
        self._child: subprocess.Popen[bytes] | None = None
        self._waiting: dict[int, _Waiting] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._preparation: tuple[Task, tuple[Any, ...]] | None = None
        self._prepared_child = 0
        self._preparing: asyncio.Task[Any] | None = None
        self._compiling = False
        """Whether it last said that it compiles, which is not done in vain."""

    @property
    def process_id(self) -> int | None:
        """The process, while there is one."""
        return None if self._child is None or self._child.poll() is not None else self._child.pid

    @property
    def is_busy(self) -> bool:
        """Whether a call is waiting for its answer."""
        return bool(self._waiting)

    def prepare_with(self, task: Task, *arguments: Any) -> None:
        """What every new process does first, such as opening the table."""
        self._preparation = (task, arguments)
        self._prepared_child, self._preparing = 0, None

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
            self._start()
            child = self._child
            try:
                await self._prepared(progress)
                if self._child is child:
                    return await self._do(task, arguments, progress, at_once)
            except _RestartedError:
                continue

    async def _prepared(self, progress: Callable[[ProgressEvent], object] | None) -> None:
        """Wait until the process has done what every new one does first."""
        assert self._child is not None
        assert self._loop is not None
        if self._preparation is not None and self._prepared_child != self._child.pid:
            self._prepared_child = self._child.pid
            first = self._do(*self._preparation, progress, False)
            self._preparing = self._loop.create_task(first)
            self._preparing.add_done_callback(_look_at)
        if self._preparing is not None:
            try:  # it goes on, whoever of those that wait for it is cancelled
                await asyncio.shield(self._preparing)
            except ShoalError:
                self._prepared_child = 0  # the next call tries again
                raise

    async def _do(
        self,
        task: Task,
        arguments: tuple[Any, ...],
        progress: Callable[[ProgressEvent], object] | None,
        at_once: bool,
    ) -> Any:
        assert self._loop is not None
        number = next(self._numbers)
        waiting = _Waiting(self._loop.create_future(), progress)
        self._waiting[number] = waiting
        self._send(Call(number, task, arguments, at_once))
        try:
            return await asyncio.shield(waiting.answer)
        except asyncio.CancelledError:
            if number in self._waiting:
                self._send(Cancel(number))
                if not at_once:
                    self._loop.call_later(PATIENCE, self._end_if_waiting, number)
            raise

    def stop(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            _discard(child)

    def _start(self) -> None:
        self._loop = asyncio.get_running_loop()
        if self.process_id is not None:
            return
        if self._child is not None:
            _discard(self._child)
        path = os.pathsep.join(each or str(Path.cwd()) for each in sys.path)
        self._compiling = False
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "shoal.studio.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,  # nothing is left to be written when it ended
            stderr=None if os.environ.get("SHOAL_DEBUG") else subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path},
            start_new_session=True,
        )
        threading.Thread(target=self._listen, args=(self._child, self._loop), daemon=True).start()

    def _send(self, message: Any) -> None:
        assert self._child is not None
        assert self._child.stdin is not None
        with suppress(OSError):  # it ended: the listener says so
            send(self._child.stdin, message)

    def _listen(self, child: "subprocess.Popen[bytes]", loop: asyncio.AbstractEventLoop) -> None:
        assert child.stdout is not None
        with suppress(EOFError, OSError, ValueError):
            while True:
                message = receive(child.stdout)
                loop.call_soon_threadsafe(self._take, message)
        # its pipe is closed before it has ended: until then the next call would take it for alive,
        # and wait for an answer that nobody sends
        child.kill()
        child.wait()
        with suppress(RuntimeError):  # the loop ended as well
            loop.call_soon_threadsafe(self._ended, child)

    def _take(self, message: Answer | Report) -> None:
        waiting = self._waiting.get(message.number)
        if waiting is None:
            return
        self._compiling = isinstance(message, Report) and message.event.step == "compile"
        if isinstance(message, Report):
            if waiting.progress is not None and not waiting.answer.done():
                waiting.progress(message.event)
            return
        del self._waiting[message.number]
        if waiting.answer.done():
            return
        if message.cancelled:
            waiting.answer.set_exception(CallCancelledError())
        elif message.error is not None:
            waiting.answer.set_exception(message.error)
        elif message.failure:
            words = f"an unexpected error occurred ({message.failure}), which is a bug in Shoal."
            waiting.answer.set_exception(WorkerFailedError(words))
        else:
            waiting.answer.set_result(message.result)
        # a cancelled caller does not look at it any more
        waiting.answer.exception()

    def _ended(self, child: "subprocess.Popen[bytes]") -> None:
        if self._child is not None and child is not self._child:
            return  # another one has been started since
        for waiting in self._waiting.values():
            if not waiting.answer.done():
                waiting.answer.set_exception(
                    WorkerFailedError(
                        "The process that does the work ended; perhaps the memory ran out. Nothing "
                        "is lost: it is started again with the next step."
                    )
                )
                waiting.answer.exception()
        self._waiting.clear()

    def _end_if_waiting(self, number: int) -> None:
        if number not in self._waiting or self._loop is None:
            return
        if self._compiling:  # what is compiled is kept, and needed again
            self._loop.call_later(PATIENCE, self._end_if_waiting, number)
            return
        waiting, self._waiting = self._waiting, {}
        for other, one in waiting.items():
            if not one.answer.done():
                one.answer.set_exception(
                    CallCancelledError() if other == number else _RestartedError()
                )
                one.answer.exception()
        self.stop()


def _look_at(done: "asyncio.Task[Any]") -> None:
    """Take note of an error, so that nothing is logged where nobody waits for it."""
    if not done.cancelled():
        done.exception()


def _discard(child: "subprocess.Popen[bytes]") -> None:
    """Wait for a process that ended, and close its pipes."""
    child.wait()
    for pipe in (child.stdin, child.stdout):
        with suppress(OSError):
            assert pipe is not None
            pipe.close()
