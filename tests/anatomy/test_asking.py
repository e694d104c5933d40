"""What is told of an Anatomy release in Python: asked of the object, and how it presents itself."""

import math
from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from shoal.verification.check import Finding
from tests.anatomy.plain import people, policy

PLAIN = {"columns": {"age": "quasi", "ill": "sensitive"}, "constraints": [{"k": 2}]}


def test_release_frame_and_file_hold_the_same(tmp_path: Path) -> None:
    made = shoal.anonymize(people(60), policy())
    file = made.write(tmp_path / "out.csv")
    assert shoal.verify(made).findings == shoal.verify(file, policy()).findings
    assert shoal.verify(made).strengths == shoal.verify(file, policy()).strengths
    assert {one.of for one in shoal.verify(made).strengths} == {"ill", "pay"}
    with pytest.raises(shoal.PolicyError, match="more than one table"):
        shoal.verify(made.table, policy())


def test_so_they_do_without_anatomy(tmp_path: Path) -> None:
    made = shoal.anonymize(people(40).select(["age", "ill"]), PLAIN)
    file = made.write(tmp_path / "out.csv")
    for release in (made, made.table, made.table.to_pandas()):
        assert shoal.verify(release, PLAIN).findings == shoal.verify(file, PLAIN).findings
        assert shoal.verify(release, PLAIN).strengths == shoal.verify(file, PLAIN).strengths
    with pytest.raises(shoal.PolicyError, match="Give the policy"):
        shoal.verify(made.table)
    with pytest.raises(shoal.InputError):
        shoal.verify(3, PLAIN)


def test_shares_are_not_rounded_up() -> None:
    table = pa.table({"age": [1] * 2000, "ill": ["flu"] * 1999 + ["gout"]})
    asked = {**PLAIN, "constraints": [{"l": 2, "of": "ill"}], "publish": "anatomy", "seed": 5}
    made = shoal.anonymize(table, asked)
    assert "up to >99.9 % for ill" in made.notes[-1]


def test_how_a_release_presents_itself() -> None:
    one = shoal.anonymize(pa.table({"age": [1, 1], "ill": ["a", "b"]}), PLAIN)
    assert "in 1 class;" in repr(one)
    linked = {**PLAIN, "constraints": [{"l": 2, "of": "ill"}], "publish": "anatomy", "seed": 5}
    made = shoal.anonymize(pa.table({"age": [1, 2], "ill": ["a", "b"]}), linked)
    assert "2 of 2 rows in 1 group, publish: anatomy; found l=2 of ill" in repr(made)


def test_options_are_told_in_words() -> None:
    found = Finding("beta", 1, math.inf, ("age",), "ill", 1, 1, 1, 1)
    assert found.details == ""
    for options, words in (
        ({"enhanced": True}, " (enhanced)"),
        ({"distance": "ordered"}, ", distance ordered"),
        ({"distance": "ordered", "enhanced": False}, ", distance ordered (not enhanced)"),
    ):
        assert Finding(**{**vars(found), "options": options}).details == words
