"""How far a comparison is, method by method, on standard error, for people who wait."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shoal.cli.progress import WORDS

Watch = Callable[[str, int | None, str, float], None]
ENDS = ("done", "cannot", "infeasible", "over budget", "failed")


@contextmanager
def comparing() -> Iterator[Watch]:
    """Gives a function to call with a method, its k, a step and its share done; a line per method
    where someone is there to see it."""
    if not sys.stderr.isatty():
        yield lambda method, k, step, share: None  # noqa: ARG005
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[words]}"),
        console=Console(stderr=True),
        transient=True,
    )
    tasks: dict[str, TaskID] = {}

    def watch(method: str, k: int | None, step: str, share: float) -> None:
        if step == "cannot":
            return
        if method not in tasks:
            tasks[method] = bar.add_task(f"{method:<22}", total=1.0, words="")
        if step == "wait":
            return
        where = "" if k is None else f"k = {k}: "
        if step in ENDS:
            bar.update(tasks[method], total=1.0, completed=1.0, words=f"{where}{step}")
            return
        words = "starting" if step == "start" else WORDS.get(step, step).lower()
        known = f" {share:.0%}" if share > 0 else ""
        # a step that cannot tell how far it is shows a bar that only moves
        total = 1.0 if share > 0 else None
        bar.update(tasks[method], total=total, completed=share, words=f"{where}{words}{known}")

    with bar:
        yield watch
