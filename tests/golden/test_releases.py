"""Releases are what they were when they were recorded, byte for byte.

A failure means that people who ran Shoal before would get another file now. Where that is meant, see
`tests.golden.record`.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.golden.cases import CASES, HERE, Case
from tests.golden.making import INFEASIBLE, make, recorded

EXACT = ("exit_code", "bytes", "lines")
RECORDED = recorded()


def require_as_recorded(case: Case, made: dict[str, Any]) -> None:
    """The digest first; then the figures, sums up to their last digits."""
    kept = RECORDED[case.id]
    assert {key: made.get(key) for key in EXACT} == {key: kept.get(key) for key in EXACT}
    assert made.keys() == kept.keys()
    for name, value in kept.items():
        if isinstance(value, dict):
            assert made[name].keys() >= value.keys(), name  # a new metric measures more
            for key, figure in value.items():
                _require_close(made[name][key], figure, f"{name} {key}")
        else:
            assert made[name] == value, name


def _require_close(found: Any, kept: Any, name: str) -> None:
    if isinstance(kept, int | float):
        kept = pytest.approx(kept, rel=1e-9, abs=1e-12)
    assert found == kept, name


@pytest.mark.parametrize(
    "case",
    # every other one is for `make long`
    [
        pytest.param(one, id=one.id, marks=[pytest.mark.long] if i % 2 else [])
        for i, one in enumerate(HERE)
    ],
)
def test_a_release_is_as_recorded(case: Case, tmp_path: Path) -> None:
    require_as_recorded(case, make(case, tmp_path))


def test_what_is_recorded_is_what_is_made() -> None:
    assert [name for name, count in Counter(case.id for case in CASES).items() if count > 1] == []
    assert RECORDED.keys() == {case.id for case in CASES}


def test_rows_are_the_same_on_every_engine() -> None:
    twins = [(case.id, case.twin) for case in CASES if case.twin is not None]
    assert twins
    for name, twin in twins:
        assert RECORDED[name]["lines"] == RECORDED[twin]["lines"], name


def test_nearly_all_cases_can_be_met() -> None:
    codes = [one["exit_code"] for one in RECORDED.values() if "exit_code" in one]
    assert set(codes) == {INFEASIBLE}
    assert 10 * len(codes) <= len(RECORDED)
