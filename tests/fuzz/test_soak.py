"""A short soak; `make soak` has 500 runs, one after another and 50 at a time."""

from pathlib import Path

import pytest

from tests.fuzz import soak


def test_runs_in_threads_write_the_same_bytes(tmp_path: Path) -> None:
    source, policies = soak.table(tmp_path), soak.kinds()
    alone = [soak.run(source, policy, tmp_path, i) for i, policy in enumerate(policies)]
    found: dict[int, str] = {}

    def one(number: int) -> None:
        found[number] = soak.run(source, policies[number % len(policies)], tmp_path, number)

    soak.in_threads(one, range(100, 100 + len(policies)), 6)
    assert {number % len(policies): digest for number, digest in found.items()} == dict(
        enumerate(alone)
    )
    assert alone[-2:] == ["Infeasible", "PolicyError"]
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


@pytest.mark.long
def test_nothing_is_kept_between_runs(tmp_path: Path) -> None:
    found = soak.soak(48, 8, tmp_path)
    assert found.same_bytes
    assert not found.left
    assert found.handles[0] >= found.handles[1]
    assert found.running[0] >= found.running[1]
