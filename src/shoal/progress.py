"""How far a run is: the steps it is made of, how long each takes, and events for those who wait."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class ProgressEvent:
    """How far one step is, as a `progress` function receives it."""

    step: str
    """The step's name, such as `read`, `group` or `verify`."""
    share: float
    """The share of the step that is done, from 0 to 1; within a step it never decreases."""
    rows: int | None = None
    """The rows that are done, where they are counted."""
    total: int | None = None
    """The rows of the table, where that is known."""
    tasks: int | None = None
    """The tasks that Spark has finished, of those it is working on."""
    total_tasks: int | None = None
    method: str | None = None
    """The method that is running, in a comparison."""
    k: int | None = None
    """Its k, in a comparison."""


ProgressCallback = Callable[[ProgressEvent], None]
"""A function that is called with every event."""


class Progress(Protocol):
    """Reports how far a step is: its share, and rows and Spark's tasks where they are counted."""

    def __call__(
        self,
        share: float,
        rows: int | None = None,
        total: int | None = None,
        tasks: int | None = None,
        total_tasks: int | None = None,
    ) -> None:
        """Report."""


def no_progress(
    share: float,
    rows: int | None = None,
    total: int | None = None,
    tasks: int | None = None,
    total_tasks: int | None = None,
) -> None:
    """Ignore a report."""


def ignore_event(event: ProgressEvent) -> None:
    """Ignore an event."""


@dataclass
class Clock:
    """The steps of a run: times them, and turns their reports into events."""

    callback: ProgressCallback = ignore_event
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each step took."""
    rows: int | None = None
    """The rows of the table, once they are known."""

    @contextmanager
    def step(self, name: str) -> Iterator[Progress]:
        """Time one step; yields a function that reports how far it is.

        There is an event when the step begins and one when it has succeeded.
        """
        latest = 0.0

        def report(
            share: float,
            rows: int | None = None,
            total: int | None = None,
            tasks: int | None = None,
            total_tasks: int | None = None,
        ) -> None:
            nonlocal latest
            share = min(1.0, max(0.0, share))
            if share < latest:
                share, rows = latest, None
            latest = share
            total = self.rows if total is None else total
            if rows is None and total is not None:
                rows = int(share * total)
            self.callback(ProgressEvent(name, share, rows, total, tasks, total_tasks))

        report(0.0)
        began = time.perf_counter()
        try:
            yield report
            report(1.0)
        finally:
            taken = time.perf_counter() - began
            self.seconds[name] = self.seconds.get(name, 0.0) + taken


# The display: a bar in a terminal, a line in a notebook.

PATIENCE = 0.7
"""Seconds after which work that goes on shows a bar; quick work shows none."""
ALMOST = 0.999
"""As far as a bar goes: one that is full would stop its clock, but other steps follow."""
WIDE, NARROW = 100, 76
"""Terminal widths: from the first, rows and tasks are shown; below the second, neither."""
LABELS = {
    "start": "Starting",
    "make up": "Generating",
    "read": "Reading",
    "count": "Counting",
    "search": "Searching",
    "encode": "Encoding",
    "group": "Grouping",
    "refine": "Refining",
    "publish": "Labelling",
    "measure": "Measuring",
    "write": "Writing",
    "verify": "Verifying",
    "key": "Writing a key",
    "certificate": "Checking",
    "report": "Reporting",
    "link": "Linking",
}
ENDS = ("done", "cannot", "infeasible", "over budget", "failed")
"""How a method of a comparison can end."""


on_screen: list[Callable[[str], None]] = []
"""The bars that are drawn now: each is called with a line to print above it."""


@contextmanager
def displayed(progress: "bool | ProgressCallback | None") -> Iterator[ProgressCallback]:
    """Yield the function to call with events: the user's own, or one that draws a bar if `True`.

    A bar is drawn in a notebook or on a terminal, and nowhere else.
    """
    if callable(progress):
        yield progress
    elif progress and (update := _notebook_output()):
        yield lambda event: update(f"{_label(event):<16}{counts_text(event, WIDE)}")
    elif progress and sys.stderr.isatty():
        with _bar() as callback:
            yield callback
    else:
        yield ignore_event


def _notebook_output() -> Callable[[str], None] | None:
    """Return what replaces the text under a notebook's cell; nothing outside of notebooks."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if ipython is None or type(shell).__name__ != "ZMQInteractiveShell":
        return None
    handle = ipython.display.display({"text/plain": ""}, raw=True, display_id=True)
    return lambda text: handle.update({"text/plain": text}, raw=True)


@contextmanager
def _bar() -> Iterator[ProgressCallback]:
    """Draw a bar on standard error: one, or in a comparison one for each method."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("{task.fields[text]}", style="dim"),
        console=console,
        transient=True,
    )
    tasks: dict[str | None, TaskID] = {}

    def show(event: ProgressEvent) -> None:
        if event.step == "cannot":
            return
        name = "" if event.method is None else f"{event.method:<22}"
        if event.method not in tasks:
            tasks[event.method] = bar.add_task(
                name, total=None, text="", start=event.step != "wait"
            )
        task = tasks[event.method]
        if event.step == "wait":
            return
        bar.start_task(task)
        if event.method is None:
            name, text = f"{_label(event):<14}", counts_text(event, console.width)
        else:
            label = event.step if event.step in ENDS else _label(event).lower()
            text = label if event.k is None else f"k = {event.k}: {label}"
        # the bar of a step that cannot count only moves
        total = 1.0 if event.share > 0 else None
        completed = event.share if event.step in ENDS else min(event.share, ALMOST)
        bar.update(task, description=name, total=total, completed=completed, text=text)

    def say(line: str) -> None:
        console.print(line, style="dim", markup=False, highlight=False)

    timer = threading.Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    on_screen.append(say)
    try:
        yield show
    finally:
        on_screen.remove(say)
        timer.cancel()
        timer.join()
        bar.stop()


def _label(event: ProgressEvent) -> str:
    """Return `Grouping   42%`, the share only where it is known."""
    label = LABELS.get(event.step, event.step.capitalize())
    return f"{label:<10}{event.share:4.0%}" if event.share > 0 else label


def counts_text(event: ProgressEvent, width: int) -> str:
    """Return `1,200 of 5,000 rows` and Spark's tasks, as far as the width allows."""
    if width < NARROW:
        return ""
    texts = []
    if event.rows:
        total = f" of {event.total:,}" if event.total else ""
        texts.append(f"{event.rows:,}{total} rows")
    if event.total_tasks:
        texts.append(f"{event.tasks:,} of {event.total_tasks:,} tasks")
    return ", ".join(texts if width >= WIDE else texts[-1:])
