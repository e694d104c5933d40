"""Errors whose remedy is a button: the step that they ask for mends the policy."""

from pathlib import Path

import pytest

from shoal import api
from shoal.errors import Infeasible, InputError
from shoal.studio.policy_text import changed
from shoal.studio.remedies import explained, remedies

POLICY = """columns:
  age: quasi
  income: {role: sensitive, kind: ordered}
constraints: [{k: 2}]
seed: 1
"""


def test_likely_codes_for_missing_values_are_answered_by_a_press(tmp_path: Path) -> None:
    rows = "".join(f"{30 + i % 3},{-9 if i % 10 == 0 else 20000 + i}\n" for i in range(60))
    (tmp_path / "t.csv").write_text(f"age,income\n{rows}")
    table = api.prepare(tmp_path / "t.csv")
    with pytest.raises(InputError) as raised:
        table.release(api.read_policy(POLICY))
    offered = remedies(str(raised.value))
    assert [one.label for one in offered] == ["-9 means missing", "It is a real value"]
    assert explained(str(raised.value)).asks  # a question, not a failure
    said = explained(str(raised.value)).words
    assert said == "income reads -9 in some rows. Does that stand for a missing value?"
    for one, written in zip(offered, ("missing: [-9]", "missing: []"), strict=True):
        text = changed(POLICY, one.change)
        assert written in text
        assert table.release(api.read_policy(text)).verified


def test_other_errors_have_none() -> None:
    assert remedies("The table has 8 distinct values of disease.") == []
    assert remedies("") == []


SICK = """columns:
  age: quasi
  ill: sensitive
constraints:
  - {k: 2}
  - {l: 9, of: ill}
seed: 1
"""


def test_what_cannot_be_met_is_told_in_words_and_mended_by_a_press(tmp_path: Path) -> None:
    rows = "".join(f"{30 + i % 9},{'abc'[i % 3]}\n" for i in range(60))
    (tmp_path / "t.csv").write_text(f"age,ill\n{rows}")
    table = api.prepare(tmp_path / "t.csv")
    for asked, words, label in (
        (SICK, "ill has only 3 different values; you ask for 9 in every group.", "Set it to 3"),
        (
            SICK.replace("k: 2", "k: 99").replace("l: 9", "l: 2"),
            "The table has only 60 rows; you ask for 99 that fit.",
            "Set it to 60",
        ),
        (
            SICK.replace("l: 9", "entropy-l: 8"),
            "“No value dominates a group” of ill: you ask for 8; this table allows at most 3.",
            "Set it to 3",
        ),
    ):
        with pytest.raises(Infeasible) as raised:
            table.release(api.read_policy(asked))
        failure = explained(str(raised.value))
        assert failure.words == words
        assert failure.short
        assert failure.limit.startswith(("More than", "4 or more"))
        (one,) = remedies(str(raised.value), asked)
        assert one.label == label
        assert table.release(api.read_policy(changed(asked, one.change))).verified


def test_a_limit_on_rows_left_out_is_raised_by_a_press() -> None:
    error = (
        "63 of 1,000 rows (6.3%) would have to be suppressed, but the policy allows 5.0%. Raise "
        "`suppression` to at least 0.063, or lower k."
    )
    assert explained(error).words.startswith("63 of 1,000 rows (6.3 %) would have to be left out")
    (one,) = remedies(error, SICK)
    assert one.label == "Allow 6.3 % to be left out"
    assert "suppression: 0.063" in changed(SICK, one.change)
