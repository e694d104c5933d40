"""Errors whose remedy is a button: the step that they ask for mends the policy."""

from pathlib import Path

import pytest

from shoal import api
from shoal.errors import InputError
from shoal.studio.policy_text import changed
from shoal.studio.remedies import remedies

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
    for one, written in zip(offered, ("missing: [-9]", "missing: []"), strict=True):
        text = changed(POLICY, one.change)
        assert written in text
        assert table.release(api.read_policy(text)).verified


def test_other_errors_have_none() -> None:
    assert remedies("The table has 8 distinct values of disease.") == []
    assert remedies("") == []
