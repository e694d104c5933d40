"""Progress for machines: one JSON object per line on standard error."""

import json
import sys
import threading
import time

from shoal.progress import ProgressCallback, ProgressEvent

PAUSE = 1.0
"""Seconds between two lines, unless a step begins or ends."""
IDLE_PAUSE = 10.0
"""The same while nothing changes."""


def progress_of(form: str, quiet: bool = False) -> bool | ProgressCallback:
    """Return what to pass as `progress` for the option `--progress`; JSON is written even if quiet."""
    return json_lines() if form == "json" else not quiet


def json_lines() -> ProgressCallback:
    """Return a function that writes events as lines of JSON, at most about one a second."""
    began, lock = time.monotonic(), threading.Lock()
    last, written = ProgressEvent("", 0.0), 0.0

    def write(event: ProgressEvent) -> None:
        nonlocal last, written
        with lock:  # Spark's progress comes from another thread
            seconds = time.monotonic() - began
            continues = event.step == last.step and event.share >= last.share
            pause = IDLE_PAUSE if event == last else PAUSE
            if continues and (last.share >= 1 or (event.share < 1 and seconds - written < pause)):
                return
            last, written = event, seconds
            print(json.dumps(_line(event, seconds)), file=sys.stderr, flush=True)

    return write


def _line(event: ProgressEvent, seconds: float) -> dict[str, str | float | None]:
    return {
        "stage": event.step,
        "share": round(event.share, 4),
        "rows": event.rows,
        "of": event.total,
        "tasks": event.tasks,
        "of_tasks": event.total_tasks,
        "seconds": round(seconds, 3),
    }
