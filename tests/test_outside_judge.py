"""An outside judge, pycanon, finds in our releases of the sample what the policy promises."""

from importlib.resources import files
from typing import Any

import pandas as pd
import pytest
from pycanon import anonymity  # type: ignore[import-untyped]

import shoal
from shoal.sample.hospital import hospital
from tests.releases import every_method

POLICY = str(files("shoal.sample") / "policy.yaml")


def for_the_judge(release: shoal.Release) -> pd.DataFrame:
    """Texts without gaps, rows numbered from 0: it miscounts otherwise."""
    frame: pd.DataFrame = release.table.to_pandas().astype(object)
    filled: pd.DataFrame = frame.where(frame.notna(), "missing").astype(str)
    return filled.reset_index(drop=True)


@pytest.mark.parametrize("method", every_method())
def test_k_and_l_are_at_least_as_promised(method: dict[str, Any]) -> None:
    rows = 800 if method["name"] == "bottom-up" else 2000
    release = shoal.anonymize(hospital(rows), POLICY, method=method)
    frame, quasi = for_the_judge(release), list(release.policy.quasi)
    assert len(frame) == release.published_rows >= 0.95 * rows
    k, diseases, salaries = (finding.reached for finding in release.findings)
    assert anonymity.k_anonymity(frame, quasi) == k >= 5
    assert anonymity.l_diversity(frame, quasi, ["disease"]) == diseases >= 3
    # the judge takes a missing salary for a value
    assert anonymity.l_diversity(frame, quasi, ["salary"]) >= salaries >= 2


@pytest.mark.long
def test_a_stricter_promise_is_kept_too() -> None:
    asked = [{"k": 12}, {"l": 5, "of": "disease"}, {"l": 8, "of": "salary"}]
    release = shoal.anonymize(hospital(1500), POLICY, constraints=asked, suppressed="starred")
    frame, quasi = for_the_judge(release), list(release.policy.quasi)
    assert anonymity.k_anonymity(frame, quasi) >= 12
    assert anonymity.l_diversity(frame, quasi, ["disease"]) >= 5
    assert anonymity.l_diversity(frame, quasi, ["salary"]) >= 8


def test_the_judge_sees_that_the_raw_table_holds_nothing() -> None:
    raw = hospital(500)
    release = shoal.anonymize(raw, POLICY, constraints=[{"k": 1}])
    assert anonymity.k_anonymity(for_the_judge(release), list(release.policy.quasi)) == 1
