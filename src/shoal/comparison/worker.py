"""The process in which one method runs: table and policy come by standard input, figures go out.

Nothing of the table is written anywhere. Lines of JSON tell how far it is: `{"ready": true}` when the
table is here and all is warm, `{"step": .., "share": ..}`, and at the end `figures` or `error`.
"""

import gc
import json
import os
import pickle
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.comparison.outcome import Figures, Risk
from shoal.errors import ShoalError
from shoal.models.requirement import Requirement
from shoal.pipeline.run import anonymize
from shoal.policy import Policy
from shoal.policy.anatomy import count_name, group_name
from shoal.progress import ProgressCallback, ProgressEvent, ignore_event
from shoal.release import Release
from shoal.risk.assessment import assess

LENGTH = struct.Struct("<Q")
"""How long the pickled policy is that comes first; the table follows as an Arrow stream."""
OF_THIS_SESSION = (
    "The policy holds a hierarchy or method that was made in this very session, which another process "
    "cannot load. Put its class into a module that can be imported."
)
PAUSE = 0.1
"""Seconds between two words on how far it is."""

Say = Callable[[dict[str, Any]], None]


def main() -> None:
    """Read, warm up, run, tell."""
    source, say = os.fdopen(0, "rb", closefd=False), _speaker()
    steps = _Steps(say)
    try:
        policy, table = _received(source)
        _end_with_parent()

        warm_up(table, policy)
        say({"ready": True})
        say({"figures": asdict(measure(table, policy, steps.told))})
    except ShoalError as error:
        say({"error": str(error), "kind": type(error).__name__, "step": steps.now})
    except MemoryError:
        say({"error": "its memory ran out", "kind": "MemoryError", "step": steps.now})
    except Exception as error:
        # the text of an unforeseen error may hold a value of the table, its type cannot
        say({"error": type(error).__name__, "kind": "", "step": steps.now})
        if os.environ.get("SHOAL_DEBUG"):
            raise


def _speaker() -> Say:
    """What writes to the parent; whatever else prints goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)

    def say(words: dict[str, Any]) -> None:
        out.write(json.dumps(words) + "\n")
        out.flush()

    return say


def _received(source: BinaryIO) -> tuple[Any, Any]:
    import pyarrow as pa

    from shoal.errors import InputError

    (length,) = LENGTH.unpack(source.read(LENGTH.size))
    pickled = source.read(length)
    try:
        policy = pickle.loads(pickled)
    except (AttributeError, ImportError):
        raise InputError(OF_THIS_SESSION) from None
    return policy, pa.ipc.open_stream(source).read_all()


def _end_with_parent() -> None:
    """Nothing more comes by standard input: when it ends, so has the parent."""

    def wait() -> None:
        while os.read(0, 1):
            pass
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


class _Steps:
    """Tells the parent how far the work is, but not too often."""

    def __init__(self, say: Say) -> None:
        self.now = ""
        self._say, self._last = say, 0.0

    def told(self, event: ProgressEvent) -> None:
        """A step of the run, and how much of it is done."""
        if event.step == self.now and time.monotonic() - self._last < PAUSE:
            return
        self.now, self._last = event.step, time.monotonic()
        self._say({"step": event.step, "share": event.share})

    sys.stdout.flush()


# One release made, verified, measured and thrown away.


FEW = 200
"""Rows of a warm-up, where so few will do."""
STAR = "*"


def warm_up(table: pa.Table, policy: Policy) -> None:
    """Make a release of a few rows, so that what is compiled on first use is compiled.

    On some tables a few rows cannot hold the policy; then some of it is compiled in the run itself.
    """
    wanted = max(FEW, min(4 * Requirement(policy.constraints).min_rows, table.num_rows // 4))
    rows = np.unique(np.linspace(0, table.num_rows - 1, min(wanted, table.num_rows)).astype(int))
    try:
        figures_of(anonymize(table.take(pa.array(rows)), policy), 0.0, 0)
    except Exception:
        return  # the run itself will tell


def measure(table: pa.Table, policy: Policy, progress: ProgressCallback = ignore_event) -> Figures:
    """Make a release of the table; it is verified as every release is, or raises."""
    peak, began = Peak(), time.perf_counter()
    release = anonymize(table, policy, progress=progress)
    return figures_of(release, time.perf_counter() - began, peak.bytes())


def figures_of(release: Release, seconds: float, memory: int) -> Figures:
    """A release in figures."""
    loss = release.metrics.get("mean-ncp")
    return Figures(
        loss=0.0 if loss is None else loss,
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
    """The rows that are published with something in them."""
    if policy.suppressed != "starred":
        return table
    hidden = pa.array(np.ones(table.num_rows, np.bool_))
    for column in table.columns:
        same = pc.fill_null(pc.equal(column.cast(pa.string()), STAR), False)
        hidden = pc.and_(hidden, same)
    return table.filter(pc.invert(hidden))


def _best_guess(release: Release) -> Risk:
    """Who knows a person's group guesses its most frequent value; the worst sensitive column counts."""
    group, count = group_name(release.policy), count_name(release.policy)
    averages = []
    for table in release.sensitive_tables.values():
        most: Any = table.group_by(group).aggregate([(count, "max")])[f"{count}_max"]
        averages.append(pc.sum(most).as_py() / release.published_rows)
    return Risk(max(release.largest_share.values()), max(averages))


# How much memory this process takes.


STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Peak:
    """The most memory in use from now on, beyond what is in use now.

    Linux keeps a high-water mark that can be lowered to the present. Elsewhere the mark is that of
    the whole process, so what the warm-up needed already is not counted again. The mark of
    `getrusage` is no use on Linux: there a process inherits its parent's.
    """

    def __init__(self) -> None:
        gc.collect()
        with suppress(OSError):
            FORGET.write_text("5")
        self._before = _mark()

    def bytes(self) -> int:
        """So far."""
        return max(0, _mark() - self._before)


def _mark() -> int:
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
