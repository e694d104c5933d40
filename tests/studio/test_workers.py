"""No call to a worker waits for ever, whenever its process ends and whatever it says."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shoal.progress import ProgressCallback, ProgressEvent
from shoal.studio.worker import Tables
from shoal.studio.workers import Worker, WorkerFailedError

PATIENCE = 120.0
"""Seconds after which a call counts as waiting for ever, on a busy machine too."""
NOTICED = 0.5
"""Seconds within which the end of a process is noticed by the thread that listens to it."""


def ready(tables: Tables, report: ProgressCallback) -> None:
    """What a process does first."""
    del tables
    report(ProgressEvent("read", 1.0))


def answer(tables: Tables, report: ProgressCallback, value: str) -> str:
    del tables, report
    return value


def sleep(tables: Tables, report: ProgressCallback) -> None:
    del tables, report
    time.sleep(600)


def cannot_travel(tables: Tables, report: ProgressCallback) -> Any:
    del tables, report
    return lambda: "secret value"


def leave(tables: Tables, report: ProgressCallback) -> None:
    del tables, report
    sys.exit("secret value")


class Unreadable:
    """What a worker cannot read: it names something that is not there."""

    def __reduce__(self) -> Any:
        return Unreadable.missing, ()

    @staticmethod
    def missing() -> None:
        """Here; a worker that looks for it fails."""
        if "shoal.studio.worker" in sys.argv[0].replace(os.sep, ".") or "worker.py" in sys.argv[0]:
            raise LookupError("secret value")


def with_worker(work: Callable[[Worker], Awaitable[None]]) -> None:
    async def run() -> None:
        worker = Worker("test")
        try:
            await asyncio.wait_for(work(worker), PATIENCE)
        finally:
            worker.stop()

    # a browser of other tests has an event loop in this thread
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(run())).result()


def kill(worker: Worker) -> None:
    """End its process, which the listener notices, and the event loop not yet."""
    assert worker.process_id is not None
    os.kill(worker.process_id, signal.SIGKILL)
    time.sleep(NOTICED)


def test_a_call_of_a_process_that_another_call_replaced() -> None:
    async def work(worker: Worker) -> None:
        assert await worker.call(answer, "first") == "first"
        long = asyncio.ensure_future(worker.call(sleep))
        await asyncio.sleep(0.1)
        kill(worker)
        assert await worker.call(answer, "next") == "next"  # by another process
        with pytest.raises(WorkerFailedError, match="Nothing is lost"):
            await long

    with_worker(work)


def test_a_process_that_ends_between_its_preparation_and_the_call() -> None:
    async def work(worker: Worker) -> None:
        first: list[int | None] = []

        def end_it(event: ProgressEvent) -> None:
            if event.step == "read" and not first:
                first.append(worker.process_id)
                time.sleep(NOTICED)  # its answer arrives meanwhile
                kill(worker)

        worker.prepare_with(ready)
        assert await worker.call(answer, "done again", progress=end_it) == "done again"
        assert worker.process_id not in (None, *first)

    with_worker(work)


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(
    ("task", "kind"), [(cannot_travel, "PicklingError|AttributeError"), (leave, "SystemExit")]
)
def test_what_cannot_travel_and_what_leaves_is_answered(
    task: Callable[..., Any], kind: str, at_once: bool
) -> None:
    async def work(worker: Worker) -> None:
        with pytest.raises(WorkerFailedError, match=kind) as raised:
            await worker.call(task, at_once=at_once)
        assert "secret" not in str(raised.value)
        process = worker.process_id
        assert await worker.call(answer, "next") == "next"
        assert worker.process_id == process

    with_worker(work)


def test_a_call_that_the_worker_cannot_read() -> None:
    async def work(worker: Worker) -> None:
        with pytest.raises(WorkerFailedError):
            await worker.call(answer, Unreadable())
        assert await worker.call(answer, "next") == "next"

    with_worker(work)
