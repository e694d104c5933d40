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


def test_a_survey_leaves_most_answers_undecided() -> None:
    table = survey()
    draft = shoal.draft_policy(table)
    plain = [name for name, role in draft.roles.items() if role == "plain"]
    assert set(draft.undecided) | set(plain) | {"age"} == set(table.columns)

    def unique(names: list[str]) -> int:
        times = Counter(map(tuple, table[names].to_numpy().tolist()))
        return sum(n == 1 for n in times.values())

    assert plain
    assert unique(plain) < 0.01 * len(table)
    assert all(unique([*plain, name]) >= 0.01 * len(table) for name in draft.undecided[:1])
    with pytest.raises(shoal.PolicyError, match=r"For each, write plain if nobody else") as told:
        _ = draft.policy
    names = ", ".join(draft.undecided)  # all of them, however many
    assert f"{len(draft.undecided)} columns are undecided: {names}." in str(told.value)
    assert shoal.anonymize(table, draft.decided("identifier").policy).disclosure.plain == tuple(
        sorted(plain)
    )


def test_a_few_answers_stay_plain() -> None:
    draft = shoal.draft_policy(survey(500, 3))
    assert not draft.undecided
    assert [draft.roles[f"answer{i}"] for i in range(3)] == ["plain"] * 3


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
