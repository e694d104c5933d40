"""Run methods in a child process, which has ended afterwards, whatever happens."""

import json
import pickle
import queue
import signal
import threading
import time
from contextlib import suppress
from typing import Any, Self, TypeAlias

import pyarrow as pa

from shoal import errors
from shoal.comparison.child import Child
from shoal.comparison.outcome import Figures, Outcome
from shoal.comparison.plan import Job
from shoal.comparison.worker import LENGTH, NOT_IMPORTABLE
from shoal.progress import ProgressCallback, ProgressEvent

WARM_UP = 300.0
"""Seconds that a warm-up may take where there is a budget: compiling takes up to a minute."""
SHARED_STEPS = ("", "read", "encode")
"""Steps that are the same for all methods: an error in them is not the method's."""

Lines: TypeAlias = "queue.Queue[bytes | None]"


class Worker:
    """A child process that runs one method after another on a table; it has ended with the block.

    After a run that went wrong, the next one gets a new process.
    """

    def __init__(self, table: pa.Table, child: Child) -> None:
        """child: a process that has not been sent anything."""
        self._table, self._models = table, child.models
        self._child: Child | None = child
        self._lines: Lines | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(self, job: bytes) -> Lines:
        """Start a run by a pickled `Job`; returns the lines of the child as they arrive, None at its
        end."""
        if self._child is None:
            self._child = Child(self._models)
        is_new = self._lines is None
        if self._lines is None:
            self._lines = _messages(self._child)
        with suppress(OSError):  # it died already: its last message, if any, says why
            if is_new:
                _send_table(self._child, self._table)
            _send_job(self._child, job)
        return self._lines

    def end(self) -> int | None:
        """End the child, and all that it started; returns its exit code."""
        if self._child is None:
            return None
        child, self._child, self._lines = self._child, None, None
        return child.end()


def run_job(job: Job, worker: Worker, budget: float | None, progress: ProgressCallback) -> Outcome:
    """The outcome of one method; raises for a mistake in the table or the policy."""

    def report(step: str, share: float) -> None:
        progress(ProgressEvent(step, share, method=job.method, k=job.k))

    report("start", 0.0)
    try:
        pickled = pickle.dumps(job)
    except (pickle.PicklingError, AttributeError, TypeError):
        raise errors.InputError(NOT_IMPORTABLE) from None
    messages = worker.start(pickled)
    last: dict[str, Any] = {}
    deadline = None if budget is None else time.monotonic() + max(WARM_UP, budget)
    late = f"stopped in its warm-up on a few rows, after {max(WARM_UP, budget or 0):g} seconds"
    while True:
        try:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            line = messages.get(timeout=left)
        except queue.Empty:
            worker.end()
            return Outcome(job.method, job.k, "over budget", late)
        if line is None:
            return Outcome(job.method, job.k, "failed", _death(worker.end()))
        last = json.loads(line)
        if "ready" in last and budget is not None:
            deadline, late = time.monotonic() + budget, f"stopped after {budget:g} seconds"
        elif "step" in last and "error" not in last:
            report(last["step"], last["share"])
        elif "ready" not in last:
            break
    if "figures" in last:
        figures = Figures.from_dict(last["figures"])
        return Outcome(job.method, job.k, "done", figures=figures)
    outcome = _error_outcome(job, last)
    if outcome.status == "failed":
        worker.end()
    return outcome


def _send_table(child: Child, table: pa.Table) -> None:
    """The table, through a pipe: no row is ever written to a disk."""
    with pa.ipc.new_stream(child.source, table.schema) as stream:
        stream.write_table(table)
    child.source.flush()


def _send_job(child: Child, job: bytes) -> None:
    child.source.write(LENGTH.pack(len(job)) + job)
    child.source.flush()


def _messages(child: Child) -> Lines:
    """The lines of the child as they arrive; None at its end."""
    lines: Lines = queue.Queue()
    output = child.output

    def listen() -> None:
        with suppress(ValueError, OSError):  # closed while it was read
            for line in output:
                lines.put(line)
        lines.put(None)

    threading.Thread(target=listen, daemon=True).start()
    return lines


def _error_outcome(job: Job, last: dict[str, Any]) -> Outcome:
    kind: Any = getattr(errors, last["kind"], None) if last["kind"] else None
    message = str(last["error"]).removeprefix("method: ")
    if kind is None:
        reason = message if last["kind"] else f"an unexpected error in Shoal ({message})"
        return Outcome(job.method, job.k, "failed", reason)
    if kind is errors.Infeasible:
        return Outcome(job.method, job.k, "infeasible", message)
    if kind is errors.VerificationFailed:
        return Outcome(job.method, job.k, "failed", f"its release did not hold: {message}")
    if last["step"] in SHARED_STEPS:
        raise kind(last["error"])
    return Outcome(job.method, job.k, "cannot", message)


def _death(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        more = "; perhaps the memory ran out" if name == "SIGKILL" else ""
        return f"its process was ended by {name}{more}"
    return "its process ended without a message"
