"""The run summary, letter by letter, and small things of the pages."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from shoal.cli.console import counted, safe, typed
from shoal.cli.render.release import show_findings, show_release, show_strengths
from shoal.errors import percent
from shoal.policy import Policy
from shoal.release import Release
from shoal.verification.check import Finding, Strength

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
    metrics={"mean-ncp": 0.2345, "largest-group": 9.0, "mean-group": 6.2},
    rows=200,
    published_rows=198,
    suppressed_rows=2,
    groups=32,
    published_classes=31,
    method="mondrian",
    seed=7,
    seconds={"read": 0.01, "group": 1.5, "verify": 0.006},
    warnings=("Something to think about.",),
    notes=("Something good to know.",),
    column_loss={"age": 0.0, "zip": 0.469},
)

SUMMARY = """
╭─ Verified: every guarantee was found in the written file ────────────────────╮
│                                                                              │
│     guarantee     asked  found  classes  failing                             │
│  ✔  k                 5      6       31        0                             │
│  ✔  l of disease      3      3       31        0                             │
│                                                                              │
│  rows     200 in, 198 out, 2 suppressed                                      │
│  groups   32 of 6.2 rows on average, 9 at most                               │
│  classes  31 that a reader can tell apart                                    │
│  method   mondrian, seed 7                                                   │
│  seconds  1.52 (read 0.01, group 1.50, verify 0.01)                          │
│                                                                              │
╰──────────────────────────────────────────────────────────────────────────────╯

  Loss 23.4 % of the detail in quasi columns (mean NCP), by column:
    age  ························   0.0 %
    zip  ███████████▎············  46.9 %

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
    assert page(show_release, RELEASE, Path("out/release.csv")).strip() == SUMMARY.strip()


@pytest.mark.parametrize("width", [30, 40, 59, 60, 100])
def test_the_summary_fits_any_width(width):
    shown = page(show_release, RELEASE, Path("r.csv"), width=width)
    assert max(map(len, shown.splitlines())) <= width
    for words in ("k", "disease", "age", "zip", "46.9 %"):
        assert words in shown


def test_lines_of_a_note_stay_lines():
    told = replace(RELEASE, notes=("How columns climbed:\n  age  1 level\n  zip  stays",))
    shown = page(show_release, told, Path("r.csv"))
    assert "  Note: How columns climbed:\n    age  1 level\n    zip  stays\n" in shown
    assert "\ufffd" not in shown


def test_metrics_on_request_are_in_words():
    asked = POLICY.replace_keys(metrics=["query-error", "cm"])
    figures = RELEASE.metrics | {"query-error": 0.123456, "cm": None}
    shown = page(show_release, replace(RELEASE, policy=asked, metrics=figures), Path("r.csv"))
    assert "0.123, mean relative error" in shown
    assert "does not apply: the policy names no target" in shown


def test_places_without_a_figure_are_explained():
    found = [Strength("k", None, 5), Strength("l", "ill", 2), Strength("l", "pay", 2)]
    found += [Strength("alpha", "ill", 1), Strength("t", "pay", 0.5)]
    assert "Only l and alpha can be told of ill:" in page(show_strengths, found, POLICY.quasi)
    assert "Only l" not in page(show_strengths, found[:1] + found[2:3] + found[4:], POLICY.quasi)


def test_large_groups_have_separators():
    large = replace(RELEASE, metrics=RELEASE.metrics | {"largest-group": 1556.0})
    assert "1,556 at most" in page(show_release, large, Path("r.csv"))


def test_what_falls_short_is_marked():
    failed = replace(L, reached=1, failing=4, smallest_failing=5)
    shown = page(show_findings, (K, failed), POLICY.quasi, Path("r.csv"))
    assert "1 of 2 guarantees found" in shown
    assert "✘  l of disease" in shown


def test_a_release_without_rows_holds_whatever_is_asked():
    empty = replace(K, classes=0, reached=2**63 - 1)
    assert "none" in page(show_findings, (empty,), POLICY.quasi, Path("r.csv"))


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0.0 %"), (0.0001, "<0.1 %"), (0.123, "12.3 %"), (0.9999, ">99.9 %"), (1, "100.0 %")],
)
def test_percent_does_not_round_to_all_or_nothing(share, words):
    assert percent(share) == words


def test_small_words():
    assert [counted(n, "row") for n in (0, 1, 2000)] == ["0 rows", "1 row", "2,000 rows"]
    assert safe("a\x1b[1m\nb") == "a\ufffd[1m\ufffdb"
    assert typed("cd", Path("my files")) == "cd 'my files'"
