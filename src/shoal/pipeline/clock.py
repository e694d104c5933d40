"""Name the steps of a run, time them, and tell whoever watches."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from shoal.progress import Done, Progress, Watcher


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
