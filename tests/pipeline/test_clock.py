"""Steps are named, timed and told of."""

import pytest

from shoal.pipeline.clock import Clock


def test_steps_add_up_and_are_told_of() -> None:
    seen: list[tuple[str, float]] = []
    clock = Clock(lambda step, share: seen.append((step, share)))
    with clock.step("read") as progress:
        progress(0.5)
    with clock.step("read"):
        pass
    with clock.step("write"):
        pass
    assert seen == [("read", 0.0), ("read", 0.5), ("read", 0.0), ("write", 0.0)]
    assert list(clock.seconds) == ["read", "write"]
    assert all(taken >= 0 for taken in clock.seconds.values())


def test_a_step_that_fails_is_timed_too() -> None:
    clock = Clock()
    with pytest.raises(ValueError, match="no"), clock.step("group"):
        raise ValueError("no")
    assert "group" in clock.seconds
