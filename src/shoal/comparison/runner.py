"""Run one method in a process of its own, which is gone afterwards, whatever happens."""

import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal import errors
from shoal.comparison.outcome import Outcome, figures_from
from shoal.comparison.plan import Job
from shoal.comparison.worker import LENGTH, OF_THIS_SESSION

Tell = Callable[[str, float], None]
WARM_UP = 300.0
"""Seconds that a warm-up may take where there is a budget: compiling takes up to a minute."""
OF_THE_TABLE = ("", "read", "encode")
"""Steps that all methods share: what goes wrong in them is not the method's doing."""


def run_job(job: Job, table: pa.Table, budget: float | None, tell: Tell) -> Outcome:
    """What becomes of one method; raises what is wrong with the table or the policy."""
    tell("start", 0.0)
    try:
        policy = pickle.dumps(job.policy)
    except (pickle.PicklingError, AttributeError, TypeError):
        raise errors.InputError(OF_THIS_SESSION) from None
    with _process() as child:
        last = _talk(child, policy, table, budget, tell)
    if "figures" in last:
        return Outcome(job.method, job.k, "done", figures=figures_from(last["figures"]))
    if "late" in last:
        return Outcome(job.method, job.k, "over budget", last["late"])
    if "error" in last:
        return _refused(job, last)
    return Outcome(job.method, job.k, "failed", _lost(child.returncode))


def _talk(
    child: "subprocess.Popen[bytes]",
    policy: bytes,
    table: pa.Table,
    budget: float | None,
    tell: Tell,
) -> dict[str, Any]:
    """The child's last word; `late` where it was not heard in time, nothing where it died."""
    lines = _lines(child)
    with suppress(OSError):  # it died already: its last word, if any, tells why
        _send(child, policy, table)
    deadline = None if budget is None else time.monotonic() + max(WARM_UP, budget)
    late = f"stopped in its warm-up on a few rows, after {max(WARM_UP, budget or 0):g} seconds"
    while True:
        try:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            line = lines.get(timeout=left)
        except queue.Empty:
            return {"late": late}
        if line is None:
            return {}
        word = json.loads(line)
        if "ready" in word and budget is not None:
            deadline, late = time.monotonic() + budget, f"stopped after {budget:g} seconds"
        elif "step" in word and "error" not in word:
            tell(word["step"], word["share"])
        elif "ready" not in word:
            return dict(word)


def _send(child: "subprocess.Popen[bytes]", policy: bytes, table: pa.Table) -> None:
    """Policy and table, through a pipe: no row is ever written to a disk."""
    assert child.stdin is not None
    child.stdin.write(LENGTH.pack(len(policy)) + policy)
    with pa.ipc.new_stream(child.stdin, table.schema) as stream:
        stream.write_table(table)
    child.stdin.flush()


def _lines(child: "subprocess.Popen[bytes]") -> "queue.Queue[bytes | None]":
    """What the child says, as it says it; None at its end."""
    heard: queue.Queue[bytes | None] = queue.Queue()
    said = child.stdout
    assert said is not None

    def listen() -> None:
        with suppress(ValueError, OSError):  # closed while it was read
            for line in said:
                heard.put(line)
        heard.put(None)

    threading.Thread(target=listen, daemon=True).start()
    return heard


@contextmanager
def _process() -> "Iterator[subprocess.Popen[bytes]]":
    """The child, in a group of its own so that all it starts ends with it."""
    debugging = os.environ.get("SHOAL_DEBUG")
    path = os.pathsep.join(each or str(Path.cwd()) for each in sys.path)
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "shoal.comparison.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if debugging else subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": path},
        start_new_session=True,
    )
    try:
        yield child
    finally:
        _end(child)


def _end(child: "subprocess.Popen[bytes]") -> None:
    if hasattr(os, "killpg"):
        # not waited for yet, so the number is still its own
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        with suppress(OSError):
            assert pipe is not None
            pipe.close()


def _refused(job: Job, last: dict[str, Any]) -> Outcome:
    kind: Any = getattr(errors, last["kind"], None) if last["kind"] else None
    words = str(last["error"]).removeprefix("method: ")
    if kind is None:
        told = words if last["kind"] else f"Shoal met something it did not foresee ({words})"
        return Outcome(job.method, job.k, "failed", told)
    if kind is errors.Infeasible:
        return Outcome(job.method, job.k, "infeasible", words)
    if kind is errors.VerificationFailed:
        return Outcome(job.method, job.k, "failed", f"its release did not hold: {words}")
    if last["step"] in OF_THE_TABLE:
        raise kind(last["error"])
    return Outcome(job.method, job.k, "cannot", words)


def _lost(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        more = "; perhaps the memory ran out" if name == "SIGKILL" else ""
        return f"its process was ended by {name}{more}"
    return "its process ended without a word"
