"""Steps are named, timed and told of."""

import json
import pickle
from typing import Any

import pytest

from shoal.progress import Clock, Done


def test_steps_add_up_and_are_told_of() -> None:
    seen: list[tuple[str, float]] = []
    clock = Clock(lambda step, share: seen.append((step, share)))
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
    clock = Clock(lambda _, share: seen.append(share))
    with pytest.raises(ValueError, match="no"), clock.step("group"):
        raise ValueError("no")
    assert "group" in clock.seconds
    assert seen == [0.0]


def test_rows_are_told_with_the_share() -> None:
    seen: list[Any] = []
    clock = Clock(lambda _, share: seen.append(share))
    with clock.step("read") as progress:
        progress(Done(0, rows=7))
        clock.rows = 10
    with clock.step("group") as progress:
        progress(0.5)
        progress(Done(0.25, tasks=1, of_tasks=4))  # never less than before
        progress(Done(0.3 + 0.6, rows=9, of=10))
    told = [(share.rows, share.of, share.tasks, share.of_tasks) for share in seen]
    assert told == [
        *((None, None, None, None), (7, None, None, None), (10, 10, None, None)),
        *((0, 10, None, None), (5, 10, None, None), (5, 10, 1, 4)),
        *((9, 10, None, None), (10, 10, None, None)),
    ]
    assert [float(share) for share in seen] == [0, 0, 1, 0, 0.5, 0.5, 0.3 + 0.6, 1]


def test_what_is_done_travels_to_other_processes() -> None:
    back = pickle.loads(pickle.dumps(Done(0.5, of=3)))
    assert (back, back.rows, back.of, back.tasks) == (0.5, 1, 3, None)
    assert json.dumps(back) == "0.5"
