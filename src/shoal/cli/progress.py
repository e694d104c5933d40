"""How far the work is, on standard error, for people who wait."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 0.7
"""Seconds after which a running command shows how far it is; quick ones stay still."""

WORDS = {
    "make up": "Making up",
    "read": "Reading",
    "count": "Counting",
    "encode": "Encoding",
    "group": "Grouping",
    "publish": "Labelling",
    "measure": "Measuring",
    "write": "Writing",
    "verify": "Verifying",
    "link": "Linking",
}

Watcher = Callable[[str, float], None]


@contextmanager
def watching(quiet: bool = False) -> Iterator[Watcher]:
    """Gives a function to call with a step's name and its share done; a bar appears if it takes
    long and someone is there to see it."""
    if quiet or not sys.stderr.isatty():
        yield lambda step, share: None  # noqa: ARG005
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(f"{'Starting':<14}", total=None)

    def watch(step: str, share: float) -> None:
        # a step that cannot tell how far it is shows a bar that only moves
        total = 1.0 if share > 0 else None
        words = WORDS.get(step, step.capitalize())
        known = f"{share:4.0%}" if share > 0 else " " * 4
        bar.update(task, description=f"{words:<10}{known}", total=total, completed=share)

    timer = threading.Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield watch
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
