"""How long something takes."""

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from shoal.progress import ProgressEvent

Made = TypeVar("Made")


def timed(call: Callable[[], Made]) -> tuple[Made, float]:
    """What a call gives, and the seconds of processor time that it takes, over all threads."""
    began = time.process_time()
    made = call()
    return made, time.process_time() - began


def fastest(calls: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Seconds of each call, which take turns; all above the fastest is other work of the machine."""
    every: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            every[name].append(timed(call)[1])
    return {name: min(seconds) for name, seconds in every.items()}


# What each step of a release costs the processor, which a busy machine does not change much.


class Stopwatch:
    """Watches a release being made; the seconds of each step are those of all threads."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._step, self._began = "", 0.0

    def __call__(self, event: ProgressEvent) -> None:
        """A step has begun, or is further on."""
        if event.step != self._step:
            now = time.process_time()
            self.seconds[self._step] = self.seconds.get(self._step, 0.0) + now - self._began
            self._step, self._began = event.step, now
