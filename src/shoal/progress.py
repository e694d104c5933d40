"""How far a piece of work is: as a share, and in rows where they are counted."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


class Done(float):
    """The share of a step that is done, 0 to 1: a number that also tells rows, where it can."""

    rows: int | None
    """How many of the table's rows that comes to."""
    of: int | None
    """How many rows the table has."""
    tasks: int | None
    """Tasks that are done of those that Spark works on just now."""
    of_tasks: int | None

    def __new__(
        cls,
        share: float,
        rows: int | None = None,
        of: int | None = None,
        tasks: int | None = None,
        of_tasks: int | None = None,
    ) -> "Done":
        """Without `rows`, so many of the table's as the share is."""
        made = super().__new__(cls, min(1.0, max(0.0, share)))
        made.rows = int(made * of) if rows is None and of is not None else rows
        made.of, made.tasks, made.of_tasks = of, tasks, of_tasks
        return made


Progress = Callable[[float], None]
"""Called with the share of a step that is done; `Done` where more is known."""
Watcher = Callable[[str, float], None]
"""Called with a step's name and the share of it that is done; `Done` where more is known."""


def not_told(share: float) -> None:
    """Tells nobody."""


# Name the steps of a run, time them, and tell whoever watches.


def nobody(step: str, share: float) -> None:
    """Watches nothing."""


@dataclass
class Clock:
    """The steps so far, in seconds."""

    watch: Watcher = nobody
    seconds: dict[str, float] = field(default_factory=dict)
    rows: int | None = None
    """How many rows the table has, once that is known."""

    @contextmanager
    def step(self, name: str) -> Iterator[Progress]:
        """Time one step; gives a function to report how far it is.

        Whoever watches is told when the step begins and when it has ended well, and never that less
        is done than before.
        """
        latest = 0.0

        def tell(share: float) -> None:
            nonlocal latest
            latest = max(latest, share)
            done = share if isinstance(share, Done) else Done(share)
            of = self.rows if done.of is None else done.of
            rows = done.rows if done == latest else None
            self.watch(name, Done(latest, rows, of, done.tasks, done.of_tasks))

        tell(0.0)
        began = time.perf_counter()
        try:
            yield tell
            tell(1.0)
        finally:
            taken = time.perf_counter() - began
            self.seconds[name] = self.seconds.get(name, 0.0) + taken
