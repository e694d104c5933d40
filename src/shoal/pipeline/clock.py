"""Name the steps of a run, time them, and tell whoever watches."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Watcher = Callable[[str, float], None]
"""Called with a step's name and the share of it that is done, 0 to 1."""


def nobody(step: str, share: float) -> None:
    """Watches nothing."""


@dataclass
class Clock:
    """The steps so far, in seconds."""

    watch: Watcher = nobody
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[Callable[[float], None]]:
        """Time one step; gives a function to report how far it is."""
        self.watch(name, 0.0)
        began = time.perf_counter()
        try:
            yield lambda share: self.watch(name, share)
        finally:
            taken = time.perf_counter() - began
            self.seconds[name] = self.seconds.get(name, 0.0) + taken
