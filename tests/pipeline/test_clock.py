"""Steps are named, timed and told of."""

import pickle

import pytest

from shoal.progress import Clock, ProgressEvent


def test_steps_add_up_and_are_told_of() -> None:
    seen: list[tuple[str, float]] = []
    clock = Clock(lambda event: seen.append((event.step, event.share)))
    with clock.step("read") as progress:
        progress(0.5)
    with clock.step("read"):
        pass
    with clock.step("write"):
        pass
    assert seen == [
        *(("read", share) for share in (0.0, 0.5, 1.0, 0.0, 1.0)),
        *(("write", share) for share in (0.0, 1.0)),
    ]
    assert list(clock.seconds) == ["read", "write"]
    assert all(taken >= 0 for taken in clock.seconds.values())


def test_a_step_that_fails_is_timed_too_and_does_not_end_well() -> None:
    seen: list[float] = []
    clock = Clock(lambda event: seen.append(event.share))
    with pytest.raises(ValueError, match="no"), clock.step("group"):
        raise ValueError("no")
    assert "group" in clock.seconds
    assert seen == [0.0]


def test_events_count_rows_and_tasks() -> None:
    seen: list[ProgressEvent] = []
    clock = Clock(seen.append)
    with clock.step("read") as progress:
        progress(0, rows=7)
        clock.rows = 10
    with clock.step("group") as progress:
        progress(0.5)
        progress(0.25, tasks=1, total_tasks=4)  # never less than before
        progress(0.3 + 0.6, rows=9, total=10)
        progress(1.5)  # never more than all
    counts = [(event.rows, event.total, event.tasks, event.total_tasks) for event in seen]
    assert counts == [
        *((None, None, None, None), (7, None, None, None), (10, 10, None, None)),
        *((0, 10, None, None), (5, 10, None, None), (5, 10, 1, 4)),
        *((9, 10, None, None), (10, 10, None, None), (10, 10, None, None)),
    ]
    assert [event.share for event in seen] == [0, 0, 1, 0, 0.5, 0.5, 0.3 + 0.6, 1, 1]


def test_events_travel_to_other_processes() -> None:
    event = ProgressEvent("read", 0.5, total=3)
    assert pickle.loads(pickle.dumps(event)) == event
