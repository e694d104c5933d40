"""How far the work is, on standard error: a bar for people who wait, or lines for machines."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shoal.progress import Done, Watcher

PATIENCE = 0.7
"""Seconds after which a running command shows how far it is; quick ones stay still."""
PAUSE = 1.0
"""Seconds between two lines for machines, unless a step begins or ends."""
STILL = 10.0
"""The same where nothing has moved."""
ALMOST = 0.999
WIDE = 100
"""On a terminal of this width tasks are shown beside rows."""
NARROW = 76
"""Below this width neither are shown."""

WORDS = {
    "start": "Starting",
    "make up": "Making up",
    "read": "Reading",
    "count": "Counting",
    "search": "Searching",
    "encode": "Encoding",
    "group": "Grouping",
    "publish": "Labelling",
    "measure": "Measuring",
    "write": "Writing",
    "verify": "Verifying",
    "certificate": "Checking",
    "report": "Reporting",
    "link": "Linking",
}


@contextmanager
def watching(quiet: bool = False, telling: str = "bar") -> Iterator[Watcher]:
    """Gives a function to call with a step's name and its share done.

    A bar appears if it takes long and someone is there to see it; lines for machines are written
    whoever is there.
    """
    if telling == "json":
        yield _lines()
    elif quiet or not sys.stderr.isatty():
        yield lambda step, share: None  # noqa: ARG005
    else:
        with _bar() as watch:
            yield watch


def _lines() -> Watcher:
    """Writes a JSON object a line."""
    began, lock = time.monotonic(), threading.Lock()
    now, before, last = "", Done(0), 0.0

    def watch(step: str, share: float) -> None:
        nonlocal now, before, last
        done = share if isinstance(share, Done) else Done(share)
        with lock:  # a Spark is asked from another thread
            seconds = time.monotonic() - began
            goes_on = step == now and done >= before
            same = (done, done.rows, done.tasks) == (before, before.rows, before.tasks)
            pause = STILL if same else PAUSE
            if goes_on and (before >= 1 or (done < 1 and seconds - last < pause)):
                return
            now, before, last = step, done, seconds
            print(json.dumps(_told(step, done, seconds)), file=sys.stderr, flush=True)

    return watch


def _told(step: str, done: Done, seconds: float) -> dict[str, str | float | None]:
    return {
        "stage": step,
        "share": round(float(done), 4),
        "rows": done.rows,
        "of": done.of,
        "tasks": done.tasks,
        "of_tasks": done.of_tasks,
        "seconds": round(seconds, 3),
    }


@contextmanager
def _bar() -> Iterator[Watcher]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("{task.fields[counts]}", style="dim"),
        console=console,
        transient=True,
    )
    task = bar.add_task(f"{'Starting':<14}", total=None, counts="")
    show = _update(lambda **how: bar.update(task, **how), console.width)
    timer = threading.Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield show
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def _update(update: Callable[..., None], width: int) -> Watcher:
    def watch(step: str, share: float) -> None:
        # a step that cannot tell how far it is shows a bar that only moves
        total = 1.0 if share > 0 else None
        words = WORDS.get(step, step.capitalize())
        known = f"{share:4.0%}" if share > 0 else " " * 4
        counts = counts_in_words(share, width) if isinstance(share, Done) else ""
        # a bar that is full stops its clock, but other steps follow
        completed = min(float(share), ALMOST)
        update(description=f"{words:<10}{known}", total=total, completed=completed, counts=counts)

    return watch


def counts_in_words(done: Done, width: int) -> str:
    """`1,200 of 5,000 rows`, and the tasks of a Spark, as far as there is room for them."""
    if width < NARROW:
        return ""
    words = []
    if done.rows:
        words.append(f"{done.rows:,} of {done.of:,} rows" if done.of else f"{done.rows:,} rows")
    if done.of_tasks:
        words.append(f"{done.tasks:,} of {done.of_tasks:,} tasks")
    return ", ".join(words if width >= WIDE else words[-1:])
