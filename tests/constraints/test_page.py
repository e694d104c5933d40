"""The page on several constraints says what is so: its examples run."""

import doctest
from pathlib import Path

from shoal.engines.capabilities import check_method
from shoal.policy import Policy

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "several-constraints.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_examples_run() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert found.attempted > 10
    assert found.failed == 0


def test_the_policy_is_one() -> None:
    text = TEXT.split("```yaml\n")[1].split("```")[0]
    policy = Policy.load(text)
    check_method(policy)
    assert len(policy.constraints) == 3
