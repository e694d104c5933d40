"""What a verification says, made by hand: what holds, what fails, in which words."""

import json
from dataclasses import FrozenInstanceError, fields, replace
from math import inf
from pathlib import Path
from typing import Any

import pytest

from shoal.errors import VerificationFailed
from shoal.verification.check import AT_WORST, Finding, StarredRows, Strength
from shoal.verification.presets import CheckedRule, PresetOutcome, Violation, require_presets
from shoal.verification.verification import (
    ROWS_ONLY,
    CertificateCheck,
    UnreadLabels,
    Verification,
)

HOLDS = Finding("k", 3, 4, ("age", "zip"), None, 2, 0, None, 9)
FAILS = Finding("alpha", 0.5, 0.75, ("age",), "ill", 5, 1, 4, 20)
GOOD = Verification((HOLDS,), (Strength("k", None, 4),), ("age", "zip"))
FITS = CertificateCheck(Path("c.json"), "2026-01-01", "0.1.0", ())
DIFFERS = replace(FITS, differences=("It is of another release.",))
UNREAD = UnreadLabels("age", "a range whose ends are reversed", 1, 1, 1200)
BROKEN_RULE = CheckedRule(
    "zip-codes",
    "Three digits of a zip code at most.",
    ("zip",),
    holds=False,
    violations=(Violation("zip", "'zip' has 5 digits in 2 rows.", 2),),
)
OPEN_RULE = CheckedRule("dates", "Only years.", holds=None, unchecked="No column has dates.")
KEPT_RULE = CheckedRule("k", "Eleven rows at least.", ("age",), 11, 12)
PRESET = PresetOutcome("hipaa", "HIPAA", ("45 CFR",), (OPEN_RULE, KEPT_RULE), ("Judge it.",))


@pytest.mark.parametrize(
    "kind",
    [CertificateCheck, CheckedRule, PresetOutcome, UnreadLabels, Verification, Violation],
)
def test_it_cannot_be_changed(kind: Any) -> None:
    named = [f.name for f in fields(kind)]
    found = kind(**dict.fromkeys(named, ()))
    with pytest.raises(FrozenInstanceError):
        setattr(found, named[0], None)


def test_everything_holds() -> None:
    GOOD.check()
    assert GOOD.holds
    assert GOOD.failures == GOOD.notes == ()
    assert GOOD.counted == "rows"
    assert repr(GOOD) == "<Verification: 1 of 1 guarantees hold>"


def test_it_is_a_sequence_of_findings_without_truth() -> None:
    both = replace(GOOD, findings=(HOLDS, FAILS))
    assert list(both) == [HOLDS, FAILS]
    assert len(both) == 2
    assert both[1] is FAILS
    with pytest.raises(TypeError, match=r"use `\.holds`"):
        bool(both)
    assert repr(both) == "<Verification: 1 of 2 guarantees hold>"


@pytest.mark.parametrize(
    ("changed", "first"),
    [
        ({"findings": (HOLDS, FAILS)}, "alpha"),
        ({"presets": (replace(PRESET, checks=(BROKEN_RULE,)),)}, "hipaa: 'zip' has 5 digits"),
        ({"starred": StarredRows(6, 100, 0.05)}, "6 of 100 published rows (6.0%)"),
        ({"unread": (UNREAD,)}, "The release has labels that the policy cannot read:"),
        ({"certificate": DIFFERS}, "The certificate does not fit:"),
    ],
)
def test_each_of_them_may_fail(changed: dict[str, Any], first: str) -> None:
    found = replace(GOOD, **changed)
    assert not found.holds
    assert first in found.failures[0]
    with pytest.raises(VerificationFailed):
        found.check()
    assert found.to_dict()["verified"] is False


def test_each_of_them_may_hold() -> None:
    found = replace(
        GOOD, presets=(PRESET,), starred=StarredRows(5, 100, 0.05), certificate=FITS, people=7
    )
    assert found.failures == ()
    shown = json.loads(json.dumps(found.to_dict()))
    assert shown["verified"] is True
    assert shown["starred"] == {"starred": 5, "rows": 100, "allowed": 0.05, "holds": True}
    assert shown["certificate"] == {
        "file": "c.json",
        "fits": True,
        "differences": [],
        "without_people": False,
    }
    assert (shown["release"], shown["counted"], shown["people"]) == (None, "people", 7)
    assert replace(found, path=Path("out.csv")).to_dict()["release"] == "out.csv"
    plain = GOOD.to_dict()
    assert (plain["starred"], plain["certificate"], plain["people"]) == (None, None, None)


def test_differences_are_listed() -> None:
    assert not DIFFERS.fits
    assert replace(GOOD, certificate=DIFFERS).failures[1:] == ("It is of another release.",)
    assert repr(replace(GOOD, certificate=FITS)).endswith("hold; the certificate fits>")
    assert repr(replace(GOOD, certificate=DIFFERS)).endswith("hold; the certificate does not fit>")


def test_it_says_that_rows_were_counted_in_place_of_people() -> None:
    rows = replace(GOOD, findings=(FAILS,), person="id")
    people = replace(rows, people=5)
    assert rows.notes == (ROWS_ONLY,)
    assert rows.failures[-1] == ROWS_ONLY
    assert people.notes == ()
    assert ROWS_ONLY not in people.failures
    assert repr(rows) == "<Verification: 0 of 1 guarantees hold, rows counted>"
    assert repr(people) == "<Verification: 0 of 1 guarantees hold, people counted>"


def test_it_says_that_wider_values_count_at_their_worst() -> None:
    assert AT_WORST in replace(GOOD, findings=(FAILS,), preferences=("ill",)).failures
    assert AT_WORST not in replace(GOOD, findings=(FAILS,)).failures


def test_unread_labels_in_words() -> None:
    assert str(UNREAD) == (
        "Column 'age' has a range whose ends are reversed in 1 row, the first of them row 1,200."
    )
    assert str(replace(UNREAD, rows=1500, first_row=None)) == (
        "Column 'age' has a range whose ends are reversed in 1,500 rows."
    )
    assert UNREAD.to_dict() == {
        "column": "age",
        "form": "a range whose ends are reversed",
        "labels": 1,
        "rows": 1,
        "first_row": 1200,
    }


def test_a_frame_of_findings() -> None:
    (row,) = replace(GOOD, findings=(FAILS,)).to_frame().to_dict("records")
    assert row == {
        "model": "alpha",
        "of": "ill",
        "columns": "age",
        "required": 0.5,
        "found": 0.75,
        "classes": 5,
        "failing": 1,
        "holds": False,
    }


def test_a_preset_holds_unless_a_rule_is_broken() -> None:
    assert PRESET.holds, "nothing could be checked by one of its rules"
    assert PRESET.violations == ()
    require_presets([PRESET])
    broken = replace(PRESET, checks=(KEPT_RULE, BROKEN_RULE))
    assert not broken.holds
    assert broken.violations == BROKEN_RULE.violations
    with pytest.raises(VerificationFailed) as failed:
        require_presets([PRESET, broken])
    assert str(failed.value) == "hipaa: 'zip' has 5 digits in 2 rows."
    without = replace(BROKEN_RULE, violations=())
    with pytest.raises(VerificationFailed) as failed:
        require_presets([replace(PRESET, checks=(without,))])
    assert str(failed.value) == "hipaa: Three digits of a zip code at most. It does not hold."


def test_a_rule_holds_and_was_checked_unless_it_says_otherwise() -> None:
    rule = CheckedRule("k", "Eleven rows at least.")
    assert rule.holds is True
    assert rule.unchecked == ""


def test_a_preset_as_plain_values() -> None:
    endless = replace(KEPT_RULE, found=inf)
    shown = replace(PRESET, checks=(BROKEN_RULE, KEPT_RULE, endless)).to_dict()
    assert json.loads(json.dumps(shown)) == shown, "plain lists"
    assert shown["holds"] is False
    assert PRESET.to_dict()["holds"] is True
    first, second, third = shown["checks"]
    assert (first["found"], second["found"], third["found"]) == (None, 12, None)
    assert first["violations"] == [
        {"column": "zip", "text": "'zip' has 5 digits in 2 rows.", "rows": 2}
    ]
    assert shown["sources"] == ["45 CFR"]
    assert shown["to_judge"] == ["Judge it."]


def test_a_certificate_is_checked_with_people_unless_it_says_otherwise() -> None:
    assert FITS.without_people is False
