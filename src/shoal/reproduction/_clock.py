"""How long something takes."""

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

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
