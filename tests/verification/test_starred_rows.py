"""Rows that are published as stars are held to the policy's `suppression`."""

from pathlib import Path

import pandas as pd
import pytest

import shoal
from shoal.errors import VerificationFailed

POLICY = {
    "columns": {"age": "quasi", "zip": "quasi", "disease": "sensitive", "note": "plain"},
    "constraints": [{"k": 2}],
    "suppressed": "starred",
    "suppression": 0.25,
}


def table(starred: int, kept: int) -> pd.DataFrame:
    row = {"age": "[30~40]", "zip": "1*", "disease": "flu", "note": "n"}
    return pd.DataFrame([row] * kept + [dict.fromkeys(row, "*")] * starred)


@pytest.mark.parametrize(("starred", "holds"), [(2, True), (3, False)])
@pytest.mark.parametrize("memory", [None, "200MB"])
def test_no_more_stars_than_the_policy_allows(
    starred: int, holds: bool, memory: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "release.csv"
    table(starred, 6).to_csv(file, index=False)
    found = shoal.verify(file, POLICY, memory=memory)
    assert found.starred is not None
    assert (found.starred.starred, found.starred.rows) == (starred, 6 + starred)
    assert found.holds is holds
    assert found.to_dict()["starred"]["holds"] is holds
    if not holds:
        with pytest.raises(
            VerificationFailed, match=r"3 of 9 published rows \(33.3%\).*allows 25.0%"
        ):
            found.check()


def test_a_row_with_one_cell_left_is_not_suppressed() -> None:
    rows = table(1, 6)
    rows.loc[6, "note"] = "n"
    found = shoal.verify(rows, POLICY)
    assert found.starred is not None
    assert found.starred.starred == 0


def test_nothing_is_counted_without_a_limit_or_where_rows_are_withheld() -> None:
    for policy in ({**POLICY, "suppression": None}, {**POLICY, "suppressed": "withheld"}):
        assert shoal.verify(table(0, 6), policy).starred is None


@pytest.mark.parametrize(("starred", "counted"), [(1, 1), (2, 0), (5, 0)])
@pytest.mark.parametrize("memory", [None, "200MB"])
def test_a_class_at_the_top_of_nothing_but_quasi_identifiers_is_not_suppressed(
    starred: int, counted: int, memory: str | None, tmp_path: Path
) -> None:
    """Nothing tells two rows that are generalised to the top from suppressed ones; one is no class."""
    file = tmp_path / "release.csv"
    table(starred, 4)[["age", "zip"]].to_csv(file, index=False)
    columns = {name: POLICY["columns"][name] for name in ("age", "zip")}  # type: ignore[index]
    found = shoal.verify(file, {**POLICY, "columns": columns, "suppression": 0.1}, memory=memory)
    assert found.starred is not None
    assert found.starred.starred == counted
    assert found.holds is (counted == 0)
