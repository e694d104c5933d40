"""Columns that single people out together are not drafted plain."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import shoal


def survey(n: int = 500, answers: int = 25) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    columns = {f"answer{i}": rng.integers(1, 5, n) for i in range(answers)}
    return pd.DataFrame({"age": rng.integers(20, 90, n)} | columns)


def test_a_survey_leaves_its_answers_undecided() -> None:
    table = survey()
    table["consent"] = ["yes"] * 500
    draft = shoal.draft_policy(table)
    assert draft.undecided == tuple(f"answer{i}" for i in range(25))
    assert draft.roles["consent"] == "plain"
    with pytest.raises(shoal.PolicyError, match=r"For each, write plain if nobody else") as told:
        _ = draft.policy
    names = ", ".join(draft.undecided)  # all of them, however many
    assert f"{len(draft.undecided)} columns are undecided: {names}." in str(told.value)
    release = shoal.anonymize(table, draft.decided("identifier").policy)
    assert release.disclosure.plain == ("consent",)


@pytest.mark.parametrize("role", ["quasi", "identifier"])
def test_all_undecided_columns_get_a_careful_role_at_once(role: str) -> None:
    table = survey(300, 6)
    draft = shoal.draft_policy(table, undecided=role)  # type: ignore[arg-type]
    assert not draft.undecided
    assert {draft.roles[f"answer{i}"] for i in range(6)} == {role}
    assert f"{role} as chosen for all; " in draft.text
    assert "alone in groups of 5" in draft.text  # the reason to look at it stays
    published = shoal.anonymize(table, draft.policy).table
    assert ("answer0" in published) == (role == "quasi")


def test_no_option_makes_all_undecided_columns_plain() -> None:
    with pytest.raises(shoal.InputError, match="only quasi, identifier"):
        shoal.draft_policy(survey(300, 6), undecided="plain")  # type: ignore[arg-type]


def test_the_share_of_singling_out_stands_beside_an_undecided_column() -> None:
    table = survey(500, 1)
    (column,) = [c for c in shoal.draft_policy(table).inspection.columns if c.role == "undecided"]
    shares = table["answer0"].value_counts() / 500
    expected = float((shares * (1 - shares) ** 4).sum())
    assert column.alone_in_group == pytest.approx(expected)
    assert f"it would leave {expected:.1%} alone in groups of 5".replace("%", " %") in column.reason
    # as counted in groups of five drawn at random
    rng, alone = np.random.default_rng(0), 0
    for _ in range(200):
        drawn = rng.permutation(table["answer0"].to_numpy()).reshape(-1, 5)
        alone += sum((group == value).sum() == 1 for group in drawn for value in group)
    assert alone / (200 * 500) == pytest.approx(expected, abs=0.01)


def test_plain_columns_are_judged_together() -> None:
    rng = np.random.default_rng(2)
    flags = {f"flag{i:02}": (np.arange(2000) == 7 * i).astype(int) for i in range(12)}
    table = pd.DataFrame({"age": rng.integers(20, 90, 2000)} | flags)
    roles = shoal.draft_policy(table).roles
    kept = [name for name in flags if roles[name] == "plain"]
    assert 0 < len(kept) < 12  # one leaves next to nobody alone, twelve do

    def alone(names: list[str]) -> float:
        times = Counter(map(tuple, table[names].to_numpy().tolist()))
        return sum(n / 2000 * (1 - n / 2000) ** 4 for n in times.values())

    assert alone(kept) < 0.001
    assert all(alone([*kept, name]) >= 0.001 for name in flags if name not in kept)


def test_a_column_keeps_its_missing_codes_until_it_is_decided() -> None:
    table = survey().astype({"answer24": str})
    table.loc[::7, "answer24"] = "NA"
    draft = shoal.draft_policy(table)
    assert "  answer24: {role: undecided, missing: [NA]}" in draft.text
    assert draft.decided("quasi").policy.columns["answer24"].missing == ("NA",)


def test_a_run_stops_with_the_lines_to_change(tmp_path) -> None:  # type: ignore[no-untyped-def]
    survey().to_csv(tmp_path / "t.csv", index=False)
    draft = shoal.draft_policy(tmp_path / "t.csv")
    draft.write(tmp_path / "p.yaml")
    with pytest.raises(shoal.PolicyError, match=r"p.yaml:\d+: columns: \d+ columns are"):
        shoal.run(tmp_path / "t.csv", tmp_path / "p.yaml", tmp_path / "r.csv")
    assert not (tmp_path / "r.csv").exists()
