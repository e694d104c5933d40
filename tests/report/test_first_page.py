"""The first page of a report: one sheet of paper, whatever stands on it; nothing clipped anywhere."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.policy.about import LONGEST, About
from shoal.report.certificate import certificate
from shoal.report.external import external_page
from shoal.report.files import external_of
from shoal.report.first_page import ROLES, first_page
from shoal.report.page import column_views, page
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
    made = hospital()
    return hospital(
        input=made["input"] | {"name": f"{words * 3}.parquet"},
        release=made["release"] | {"name": f"{'W' * 200}.parquet"},
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
        "Table hospital.csv",
        "Release hospital-release.csv",
        "Research on readmission",
        "privacy@hospital.example",
        "Verified, but 9,801 rows (99.0 %) are alone",
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


def test_it_says_what_nobody_wrote_down_and_what_nothing_guards() -> None:
    made = hospital()
    made["about"] = {}
    made["decisions"] = [
        {"column": "age", "role": "quasi", "why": None},
        {"column": "salary", "role": "sensitive", "why": None},
    ]
    text = page(made)
    assert "No purpose or recipient was written down: see about: in the policy." in text
    assert "What a person decided: no reason given" in text
    assert "What is learnt of salary: no constraint names it" in text
    made["about"] = {"purpose": "Research"}
    made["decisions"][0]["why"] = "seen by all"
    made["guarantees"] = [guarantee("l", 3, 3, of="salary", words="Three values of salary.")]
    text = page(made)
    assert "No purpose" not in text
    assert "no reason given" not in text
    assert "What is learnt of salary: no constraint" not in text


def test_columns_are_guarded_only_where_a_constraint_names_them() -> None:
    rows = {"age": [1, 2, 3] * 8, "ill": ["a", "b"] * 12, "pay": [1, 2, 3, 4] * 6}
    made = shoal.anonymize(
        pa.table(rows),
        {
            "columns": {"age": "quasi", "ill": "sensitive", "pay": "sensitive"},
            "constraints": [{"k": 2}, {"l": 2, "of": "ill"}],
        },
    )
    kinds = {one.name: one.kind for one in column_views(certificate(made))}
    assert kinds["ill"] == "sensitive, guarded by the guarantees"
    assert kinds["pay"] == "sensitive, published as it is: no constraint protects it"


def test_it_has_no_word_of_the_policy_and_says_what_one_column_tells_of_the_others(
    tmp_path: Path,
) -> None:
    rows = {
        "age": [20 + i // 2 for i in range(40)],
        "ill": ["flu", "gout", "none"] * 13 + ["flu"],
        "pay": list(range(40)),
        "ward": list("abcd") * 10,
    }
    columns = {"age": "quasi", "ill": "sensitive", "pay": "sensitive", "ward": "plain"}
    constraints = [{"k": 4}, {"l": 2, "of": "ill"}]
    made = shoal.anonymize(pa.table(rows), {"columns": columns, "constraints": constraints})
    assert made.disclosure.is_alarming
    path = tmp_path / "report.html"
    for text in (page(certificate(made)), external_page(external_of(made))):
        path.write_text(text, encoding="utf-8")
        with opened(path) as seen:
            said = seen.page.locator(".sheet").inner_text()
        assert "Who also knows pay finds 40 rows alone and learns ill." in said
        assert "alone once ward is known too" in said
        for word in ("quasi", "plain", "sensitive"):
            assert word not in said.lower(), said


def test_guarantees_are_whole_where_there_is_room() -> None:
    long = "Among all rows that look alike " + "there are enough values " * 8
    one = guarantee("l", 3, 3, of="ill", words=long + "END.")
    assert "END: 3 found." in first_page(hospital(guarantees=[one]), "short").rules[-1]
    many = first_page(hospital(guarantees=[one] * 40), "short").rules
    assert many[-1].endswith((" enough …", " values …", " there …", " are …"))
