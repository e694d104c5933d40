"""Processor time, step by step."""

import time

import shoal
from shoal.progress import ProgressEvent
from shoal.reproduction.adult import adult_like
from shoal.reproduction.timing import Stopwatch


def test_each_step_has_its_own_time(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    times = iter([1.0, 3.0, 10.0, 11.0])
    monkeypatch.setattr(time, "process_time", lambda: next(times))
    watch = Stopwatch()
    for step, share in (("a", 0.0), ("a", 0.5), ("b", 0.0), ("a", 0.0), ("c", 0.0)):
        watch(ProgressEvent(step, share))
    assert watch.seconds["a"] == (3 - 1) + (11 - 10)
    assert watch.seconds["b"] == 10 - 3


def test_a_release_tells_its_steps() -> None:
    watch = Stopwatch()
    shoal.anonymize(adult_like(100), quasi=["age", "sex"], k=2, default="drop", progress=watch)
    assert {"group", "publish"} <= set(watch.seconds)
    assert all(seconds >= 0 for step, seconds in watch.seconds.items() if step)
