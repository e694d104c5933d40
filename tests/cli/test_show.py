"""The run summary, letter by letter, and small things of the pages."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from shoal.cli.render.page import command, counted, safe
from shoal.cli.render.release import show_release
from shoal.cli.render.verification import show_strengths, show_verification
from shoal.engines.measured import Measured
from shoal.errors import percent
from shoal.evidence.detail import Bin, ColumnDetail, Detail
from shoal.evidence.levels import ChosenLevel
from shoal.policy import Policy
from shoal.release import Release, RunSummary
from shoal.seeds import Seed
from shoal.verification.check import Finding, Strength
from shoal.verification.verification import Verification

POLICY = Policy.load(
    {
        "columns": {"age": "quasi", "zip": "quasi", "disease": "sensitive"},
        "constraints": [{"k": 5}, {"l": 3, "of": "disease"}],
    }
)
K = Finding("k", 5, 6, ("age", "zip"), None, 31, 0, None, 200)
L = Finding("l", 3, 3, ("age", "zip"), "disease", 31, 0, None, 200)
RELEASE = Release(
    table=None,
    policy=POLICY,
    findings=(K, L),
    measured=Measured(
        rows=200,
        suppressed_rows=2,
        groups=32,
        classes=31,
        metrics={
            "mean-ncp": 0.2345,
            "relative-non-uniform-entropy": 0.445,
            "largest-group": 9.0,
            "mean-group": 6.2,
        },
        detail=Detail(
            {
                "age": ColumnDetail(198, (Bin("exact", "", 198),), 12),
                "zip": ColumnDetail(
                    198,
                    (Bin("exact", "", 2), Bin("range-5", "", 94), Bin("one-of-many", "", 102)),
                    labels=31,
                    median_width=8,
                    median_members=40,
                ),
            }
        ).with_withheld(2),
        levels={
            "zip": ChosenLevel(2, 5, "2 characters hidden", "02138", "021**"),
            "age": ChosenLevel(0, 3, "as it was"),
        },
        column_loss={"age": 0.0, "zip": 0.469},
        columns={},
        components=(),
    ),
    run=RunSummary(
        method="mondrian",
        private_seed=Seed(7),
        published_rows=198,
        seconds={"read": 0.01, "group": 1.5, "verify": 0.006},
        warnings=("Something to think about.",),
        notes=("Something good to know.",),
        output=Path("out/release.csv"),
    ),
)

SUMMARY = """
╭─ Verified: every guarantee was found in the written file ────────────────────╮
│                                                                              │
│     guarantee     required  found  classes  failing                          │
│  ✔  k                    5      6       31        0                          │
│  ✔  l of disease         3      3       31        0                          │
│                                                                              │
│  rows     200 in, 198 out, 2 suppressed                                      │
│  groups   32 of 6.2 rows on average, 9 at most                               │
│  classes  31 that a reader can tell apart                                    │
│  alone    0 rows on quasi and plain columns                                  │
│  method   mondrian                                                           │
│  seconds  1.52 (read 0.01, group 1.50, verify 0.01)                          │
│                                                                              │
╰──────────────────────────────────────────────────────────────────────────────╯

  Detail 50.0 % exact, 23.5 % in ranges, 25.5 % one of 10 or more values,
  1.0 % withheld, of the cells in quasi columns; 44.5 % of the information
  lost
    column                     exact  otherwise          labels     NCP
    age     ███████████████▉  99.0 %                         12   0.0 %
    zip     ▏···············   1.0 %  8 wide, one of 40      31  46.9 %

  Levels chosen for the whole column:
    column  level   published            for example
    zip     2 of 5  2 characters hidden  02138 → 021**
    age     0 of 3  as it was

  Note: Something good to know.

  Warning: Something to think about.

  Written
    out/release.csv
"""


def page(show, *arguments, width=80):
    file = io.StringIO()
    show(Console(file=file, width=width, markup=False, highlight=False), *arguments)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_the_summary_letter_by_letter():
    assert page(show_release, RELEASE).strip() == SUMMARY.strip()


@pytest.mark.parametrize("width", [30, 40, 59, 60, 100])
def test_the_summary_fits_any_width(width):
    shown = page(show_release, RELEASE, width=width)
    assert max(map(len, shown.splitlines())) <= width
    for words in ("k", "disease", "age", "zip", "99.0 %"):
        assert words in shown


def test_lines_of_a_note_stay_lines():
    notes = ("How columns climbed:\n  age  1 level\n  zip  stays",)
    shown = page(show_release, replace(RELEASE, run=replace(RELEASE.run, notes=notes)))
    assert "  Note: How columns climbed:\n    age  1 level\n    zip  stays\n" in shown
    assert "\ufffd" not in shown


def test_metrics_on_request_are_in_words():
    asked = POLICY.replace_keys(metrics=["query-error", "cm"])
    figures = RELEASE.metrics | {"query-error": 0.123456, "cm": None}
    measured = replace(RELEASE.measured, metrics=figures)
    shown = page(show_release, replace(RELEASE, policy=asked, measured=measured))
    assert "0.123, mean relative error" in shown
    assert "does not apply: the policy has no target" in shown


def test_places_without_a_figure_are_explained():
    found = [Strength("k", None, 5), Strength("l", "ill", 2), Strength("l", "pay", 2)]
    found += [Strength("alpha", "ill", 1), Strength("t", "pay", 0.5)]
    words = "Only l and alpha can be checked on ill"
    assert words in page(show_strengths, found, POLICY.quasi, ["ill"])
    assert "Only l" not in page(show_strengths, found, POLICY.quasi)


def test_large_groups_have_separators():
    figures = RELEASE.metrics | {"largest-group": 1556.0}
    large = replace(RELEASE, measured=replace(RELEASE.measured, metrics=figures))
    assert "1,556 at most" in page(show_release, large)


def test_of_a_wide_table_the_first_columns_are_shown(monkeypatch):
    monkeypatch.setattr("shoal.cli.render.release.MOST_COLUMNS", 1)
    shown = page(show_release, RELEASE)
    assert shown.count("1 other column: all are in the report, and in what --json prints") == 2
    detail, levels = shown.split("Levels chosen")
    assert "    age     █" in detail
    assert "zip" not in detail.split("cells in quasi columns")[1]
    assert "    zip     2 of 5" in levels
    assert "    age     " not in levels


def test_what_falls_short_is_marked():
    failed = replace(L, reached=1, failing=4, smallest_failing=5)
    found = Verification((K, failed), (), POLICY.quasi, path=Path("r.csv"))
    shown = page(show_verification, found)
    assert "1 of 2 guarantees found" in shown
    assert "✘  l of disease" in shown


def test_a_release_without_rows_has_no_figure():
    empty = replace(K, classes=0, reached=2**63 - 1)
    found = Verification((empty,), (), POLICY.quasi, path=Path("r.csv"))
    assert "none" in page(show_verification, found)


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0.0 %"), (0.0001, "<0.1 %"), (0.123, "12.3 %"), (0.9999, ">99.9 %"), (1, "100.0 %")],
)
def test_percent_does_not_round_to_all_or_nothing(share, words):
    assert percent(share) == words


def test_small_words():
    assert [counted(n, "row") for n in (0, 1, 2000)] == ["0 rows", "1 row", "2,000 rows"]
    assert safe("a\x1b[1m\nb") == "a\ufffd[1m\ufffdb"
    assert command("cd", Path("my files")) == "cd 'my files'"
