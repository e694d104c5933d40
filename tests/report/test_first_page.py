"""The first page of a report: one sheet of paper, whatever stands on it; nothing clipped anywhere."""

from pathlib import Path
from typing import Any

import pytest

from shoal.policy.about import LONGEST, About
from shoal.report.first_page import ROLES
from shoal.report.page import page
from tests.browser import opened
from tests.report.certificates import AWKWARD, detail, guarantee, hospital

PHONE = 390
MILLIMETRE = 96 / 25.4
PAPER = (210 - 26) * MILLIMETRE, (297 - 22) * MILLIMETRE
"""The pixels of A4 inside the margins that the page states."""


def five() -> dict[str, Any]:
    return hospital()


def forty() -> dict[str, Any]:
    """Forty columns in every role, each with a reason, and all that a first page can have."""
    words = "a reason that somebody wrote down at length "
    names = [f"the answer to question {i} of the survey" if i % 3 else f"q{i}" for i in range(40)]
    roles = list(ROLES)
    return hospital(
        about=dict.fromkeys(About.model_fields, (words * 4)[:LONGEST]),
        decisions=[
            {"column": name, "role": roles[i % len(roles)], "why": (words * 8)[:300]}
            for i, name in enumerate(names)
        ],
        guarantees=[
            guarantee("l", 3, 3, of=name, words=f"Among {words * 4} {name}.") for name in names[:9]
        ],
        presets=[
            {
                "name": "cell-size-11",
                "title": "No cell of fewer than eleven people",
                "sources": ["An authority"],
                "checks": [{"text": "k", "holds": True, "found": 11, "columns": []}],
                "holds": True,
                "to_judge": ["Whether anybody knows more."] * 3,
            }
        ],
        people={
            "counted": True,
            "input": 1_234_567,
            "published": 1_234_000,
            "suppressed": 567,
            "merged_ids": 0,
            "together": True,
            "groups": None,
        },
        detail=detail(dict.fromkeys(names, 0.123)),
        warnings=["Something to think about."] * 12,
        sample={"columns": names, "rows": [["{" + "a, " * 20 + "}"] * 40] * 3, "hidden": 0},
    )


@pytest.mark.parametrize("made", [five, forty], ids=["five columns", "forty columns"])
def test_it_prints_on_one_sheet_and_fits_a_phone(tmp_path: Path, made: Any) -> None:
    path = tmp_path / "report.html"
    path.write_text(page(made()), encoding="utf-8")
    with opened(path, PHONE) as seen:
        seen.require_no_overflow()
        seen.require_quiet()
        seen.page.emulate_media(media="print")
        width, height = PAPER
        seen.page.set_viewport_size({"width": int(width), "height": int(height)})
        seen.require_no_overflow()  # or a browser would make everything smaller
        box = seen.page.locator(".sheet").bounding_box()
        assert box["height"] <= height
        wide = seen.page.evaluate(
            """[...document.querySelectorAll('.sheet *, table, table *')].filter(one =>
                one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1).length"""
        )
        assert wide == 0
        style = "getComputedStyle(document.querySelector('.sheet')).breakAfter"
        assert seen.page.evaluate(style) == "page"


def test_it_says_what_was_decided_and_leaves_room_to_sign(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(page(hospital()), encoding="utf-8")
    with opened(path) as seen:
        text = seen.page.locator(".sheet").inner_text().replace("\u00a0", " ")
    for words in (
        "Hospital discharges",
        "Research on readmission",
        "privacy@hospital.example",
        "Verified.",
        "9,900 of 10,000 rows are published.",
        "picks the right row with a chance of at most 20.0 % (1 in 5)",
        "finds 9,801 rows",
        "neighbours know it",
        "Every class holds k = 5: 5 found.",
        "Name",
        "Signature",
        "9b" * 32,
        "5a" * 32,
    ):
        assert words in text, words


def test_a_wide_sample_names_the_columns_that_are_left_out(tmp_path: Path) -> None:
    names = [f"column {i}" for i in range(70)]
    made = hospital(sample={"columns": names, "rows": [["x"] * 70] * 2, "hidden": 0})
    path = tmp_path / "report.html"
    path.write_text(page(made), encoding="utf-8")
    with opened(path) as seen:
        text = seen.page.locator("section:has(#sample)").inner_text()
        assert "Of 70 columns the first 60 are shown. Left out: column 60, column 61" in text
        seen.page.emulate_media(media="print")
        text = seen.page.locator("section:has(#sample)").inner_text()
        assert "Of 70 columns the first 8 fit on paper. Left out: column 8, column 9" in text
        assert "column 69" in text
        assert seen.page.locator("section:has(#sample) th:visible").count() == 8


def test_awkward_texts_are_texts() -> None:
    made = hospital(about={"title": AWKWARD[0], "purpose": AWKWARD[1]})
    assert "<script" not in page(made)
