"""Every call of a commit is broken once: see `harness`; `make crash` does it many times over."""

import os
from pathlib import Path

import pytest

from tests.crashes.harness import CASES, DATABASES, Database, Tally, crash_commits, crash_databases

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process"),
    pytest.mark.filterwarnings("ignore::shoal.ShoalWarning"),
]
QUICK = ("in memory", "out of core", "anatomy with report")


@pytest.mark.parametrize("case", [case for case in CASES if case.name in QUICK], ids=str)
def test_a_crash_leaves_one_release_or_the_other(case, tmp_path: Path) -> None:
    tally = Tally(tmp_path / "result.json")
    crash_commits(case, tally)
    tally.save()
    found = Tally(tmp_path / "result.json").cases[case.name]
    assert not found["broken"]
    assert found["kills"] > 8
    assert found["old"] > 2
    assert found["new"] > 2
    assert found["kills"] + found["failures"] == found["old"] + found["new"] + found["mixed"]


@pytest.mark.long
@pytest.mark.parametrize("database", DATABASES, ids=lambda one: one.name)
def test_a_killed_transaction_is_there_or_not(database: Database) -> None:
    tally = Tally()
    crash_databases(tally, database, 5, 1)
    assert not tally.cases[f"table of {database.name}"]["broken"]
