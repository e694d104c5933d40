"""The child process in which methods run: a table and jobs come in, figures go out.

The parent sends the table as an Arrow stream and then, for each run, a pickled job by standard input;
nothing of the table is written anywhere. While it reads the table, the child loads what every run needs.
The child answers each job with lines of JSON: `{"ready": true}` when everything is compiled,
`{"step": .., "share": ..}` as it goes on, and at the end `figures` or `error`. When standard input ends,
so has the parent, and the child ends too.
"""

import gc
import json
import os
import pickle
import queue
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.analysis.prediction import ModelScore, PredictionTask, RawRows
from shoal.comparison.child import MODELS
from shoal.comparison.criterion import Criterion
from shoal.comparison.outcome import Figures, Risk
from shoal.comparison.plan import Job
from shoal.errors import Infeasible, InputError, ShoalError
from shoal.models.requirement import Requirement
from shoal.pipeline.run import anonymize_table
from shoal.policy import Policy
from shoal.policy.anatomy import count_name, group_name
from shoal.progress import Clock, ProgressCallback, ProgressEvent, ignore_event
from shoal.release import Release
from shoal.risk.assessment import assess

LENGTH = struct.Struct("<Q")
"""The length of a pickled job, which comes before it."""
NOT_IMPORTABLE = (
    "The policy holds a hierarchy or method that was made in this very session, which another process "
    "cannot load. Put its class into a module that can be imported."
)
INTERVAL = 0.1
"""Seconds between two messages about one step."""
WARM_UP_ROWS = 200
STAR = "*"
STATUS, CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")

Send = Callable[[dict[str, Any]], None]


def main() -> None:
    """Receive the table; then for every job warm up, run, and send the figures."""
    source, send = os.fdopen(0, "rb", closefd=False), _sender()
    load(MODELS in sys.argv[1:])
    table = pa.ipc.open_stream(source).read_all()
    jobs: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(source, jobs), daemon=True).start()
    warm: set[str] = set()
    models = Models(table)
    while True:
        _run(jobs.get(), table, warm, models, send)


def load(models: bool) -> None:
    """Load what every run needs, by a release of a few rows that nobody has; models: and learners."""
    ages = [20 + i % 40 for i in range(WARM_UP_ROWS)]
    rows = pa.table({"age": ages, "town": ["north" if i % 3 else "south" for i in ages]})
    policy = {"columns": {"age": "quasi", "town": "quasi"}, "constraints": [{"k": 5}], "seed": 0}
    warm_up(rows, Policy.load({**policy, "method": "mondrian"}))
    if models:
        with suppress(ImportError):  # the run itself will report it
            import sklearn.ensemble  # noqa: F401
    # what is loaded stays: looking for garbage in it, before every run, would take a tenth of a second
    gc.collect()
    gc.freeze()


def _run(pickled: bytes, table: pa.Table, warm: set[str], models: "Models", send: Send) -> None:
    steps = _Steps(send)
    try:
        job = _unpickled(pickled)
        policy = job.policy
        if repr(policy.method) not in warm:
            warm_up(table, policy)
            warm.add(repr(policy.method))
        send({"ready": True})
        send({"figures": asdict(measure(table, policy, job.criterion, steps, models))})
    except ShoalError as error:
        send({"error": str(error), "kind": type(error).__name__, "step": steps.current})
    except MemoryError:
        send({"error": "its memory ran out", "kind": "MemoryError", "step": steps.current})
    except Exception as error:
        # the text of an unexpected error may hold a value of the table, its type cannot
        send({"error": type(error).__name__, "kind": "", "step": steps.current})
        if os.environ.get("SHOAL_DEBUG"):
            raise


def _sender() -> Send:
    """Writes messages to the parent; everything else that prints goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)

    def send(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    return send


def _unpickled(job: bytes) -> Job:
    try:
        found: Job = pickle.loads(job)
    except (AttributeError, ImportError):
        raise InputError(NOT_IMPORTABLE) from None
    return found


def _listen(source: BinaryIO, jobs: "queue.Queue[bytes]") -> None:
    """Take jobs from standard input; when it ends, so has the parent."""
    while len(header := source.read(LENGTH.size)) == LENGTH.size:
        jobs.put(source.read(*LENGTH.unpack(header)))
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


class _Steps:
    """Sends the progress of a run to the parent, but not too often."""

    def __init__(self, send: Send) -> None:
        self.current = ""
        self._send, self._last = send, 0.0

    def __call__(self, event: ProgressEvent) -> None:
        if event.step == self.current and time.monotonic() - self._last < INTERVAL:
            return
        self.current, self._last = event.step, time.monotonic()
        self._send({"step": event.step, "share": event.share})


def warm_up(table: pa.Table, policy: Policy) -> None:
    """Make a release of a few rows, so that what is compiled on first use is compiled.

    On some tables a few rows cannot satisfy the policy; then some is compiled in the run itself.
    """
    least = 4 * Requirement(policy.constraints).min_rows
    wanted = max(WARM_UP_ROWS, min(least, table.num_rows // 4))
    rows = np.unique(np.linspace(0, table.num_rows - 1, min(wanted, table.num_rows)).astype(int))
    with suppress(Exception):  # the run itself will report it
        figures_of(anonymize_table(table.take(pa.array(rows)), policy, Clock()), 0.0, 0)


def measure(
    table: pa.Table,
    policy: Policy,
    criterion: Criterion = Criterion(),  # noqa: B008, it never changes
    progress: ProgressCallback = ignore_event,
    models: "Models | None" = None,
) -> Figures:
    """Make a release of the table, which is verified as every release is, and measure it.

    models: keeps what they need of the raw table from run to run.
    """
    clock = Clock(progress)
    peak, began = PeakMemory(), time.perf_counter()
    release = anonymize_table(table, policy, clock)
    figures = figures_of(release, time.perf_counter() - began, peak.bytes())
    if criterion.target is not None:
        with clock.step("models"):
            score = (models or Models(table)).score(policy, criterion.target)
        return replace(figures, figure=score.value, models=score)
    if not criterion.is_metric:
        return figures
    figure = release.metrics.get(criterion.name)
    if figure is None:
        raise InputError(
            f"the criterion {criterion.name} does not apply to its release; `shoal metrics "
            f"{criterion.name}` says what it measures."
        )
    return replace(figures, figure=figure)


class Models:
    """Models of releases of one table, all of them of the same rows, and tested on the same others."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._target = ""
        self._rows: tuple[pa.Table, RawRows, RawRows] | None = None

    def score(self, policy: Policy, target: str) -> ModelScore:
        """The score of a model that is trained on a release of three quarters of the rows, and tested
        on the others.

        The policies of one comparison read raw values alike, and have one seed.
        """
        began = time.perf_counter()
        task = PredictionTask(policy, target, policy.seed or 0)
        if self._rows is None or self._target != target:
            train, test = (
                self._table.take(pa.array(some)) for some in task.split(len(self._table))
            )
            both = (RawRows(rows, policy, task.seed) for rows in (train, test))
            self._target, self._rows = target, (train, *both)
        rows, known, held_out = self._rows
        try:
            release = anonymize_table(rows, policy, Clock())
        except Infeasible as error:
            raise Infeasible(
                f"Three quarters of the rows, on which models are trained, have no release: {error}"
            ) from None
        found = task.score(known, held_out, release.table)
        return replace(found, seconds=time.perf_counter() - began)


def figures_of(release: Release, seconds: float, memory: int) -> Figures:
    """The figures of a release."""
    loss, ncp = (release.metrics.get(name) for name in ("relative-non-uniform-entropy", "mean-ncp"))
    return Figures(
        loss=0.0 if loss is None else loss,
        exact=release.detail.exact,
        ncp=0.0 if ncp is None else ncp,
        risk=_risk(release),
        groups=release.groups,
        classes=release.published_classes,
        suppressed_rows=release.suppressed_rows,
        suppressed_share=release.suppressed_rows / release.rows,
        seconds=seconds,
        memory=memory,
    )


def _risk(release: Release) -> Risk:
    if release.policy.publish == "anatomy":
        return _best_guess(release)
    rows = _without_stars(release.table, release.policy)
    found = assess(rows, release.policy.quasi).reidentification.prosecutor
    return Risk(found.highest, found.average)


def _without_stars(table: pa.Table, policy: Policy) -> pa.Table:
    """The rows that are not suppressed."""
    if policy.suppressed != "starred":
        return table
    starred = pa.array(np.ones(table.num_rows, np.bool_))
    for column in table.columns:
        same = pc.fill_null(pc.equal(column.cast(pa.string()), STAR), False)
        starred = pc.and_(starred, same)
    return table.filter(pc.invert(starred))


def _best_guess(release: Release) -> Risk:
    """Of an attacker who knows a person's group and guesses its most frequent value; the worst
    sensitive column counts."""
    group, count = group_name(release.policy), count_name(release.policy)
    averages = []
    for table in release.sensitive_tables.values():
        most: Any = table.group_by(group).aggregate([(count, "max")])[f"{count}_max"]
        averages.append(pc.sum(most).as_py() / release.published_rows)
    return Risk(max(release.largest_share.values()), max(averages))


class PeakMemory:
    """The most memory in use from now on, beyond what is in use now.

    Linux keeps a high-water mark that can be lowered to the present. Elsewhere the mark is that of
    the whole process, so what the warm-up needed already is not counted again. The mark of
    `getrusage` cannot be used on Linux: there a process inherits its parent's.
    """

    def __init__(self) -> None:
        gc.collect()
        pa.default_memory_pool().release_unused()  # what earlier runs left
        with suppress(OSError):
            CLEAR_REFS.write_text("5")
        self._before = _high_water_mark()

    def bytes(self) -> int:
        """So far."""
        return max(0, _high_water_mark() - self._before)


def _high_water_mark() -> int:
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:  # Windows
        return 0
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


if __name__ == "__main__":
    main()
