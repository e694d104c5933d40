"""Processor time, over all threads, which a busy machine hardly changes."""

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from shoal.progress import ProgressEvent

T = TypeVar("T")


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """The result of a call, and the seconds of processor time that it takes."""
    began = time.process_time()
    result = call()
    return result, time.process_time() - began


def fastest(calls: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Seconds of each call; the calls take turns, and the least time counts."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            seconds[name].append(timed(call)[1])
    return {name: min(each) for name, each in seconds.items()}


class Stopwatch:
    """A progress callback that takes the seconds of each step of a run."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._step, self._began = "", 0.0

    def __call__(self, event: ProgressEvent) -> None:
        """A step has begun, or is further on."""
        if event.step != self._step:
            now = time.process_time()
            self.seconds[self._step] = self.seconds.get(self._step, 0.0) + now - self._began
            self._step, self._began = event.step, now
