"""A release in a notebook."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.drawing import page as needs
from shoal.report.notebook import STYLE
from tests.browser import opened

GROUNDS = {"light": ("#ffffff", "rgb(34, 34, 34)"), "dark": ("#111111", "rgb(221, 221, 221)")}


def release(**more: Any) -> Any:
    table = pa.table(
        {
            "age": [20 + i % 37 for i in range(60)],
            "<b>town</b>": [("north", "south", "east")[i % 3] for i in range(60)],
            "illness": [("flu", "asthma", "none")[i // 20] for i in range(60)],
        }
    )
    quasi = ["age", "<b>town</b>"]
    return shoal.anonymize(table, quasi=quasi, sensitive="illness", k=4, l=2, **more)


def test_it_takes_the_notebooks_colours_and_leaves_its_style_alone(tmp_path: Path) -> None:
    shown = release()._repr_html_()
    path = tmp_path / "notebook.html"
    cells = "".join(
        f"<div id='{ground}' style='background: {back}; color: {ink}; width: 340px'>{shown}</div>"
        for ground, (back, ink) in GROUNDS.items()
    )
    path.write_text(
        "<!doctype html><meta charset='utf-8'><title>A notebook</title><link rel='icon' href='data:,'>"
        f"<ul id='own'><li>mine</li></ul>{cells}",
        encoding="utf-8",
    )
    with opened(path) as seen:
        seen.require_quiet()
        seen.require_no_overflow()
        text = seen.page.locator(".shoal-release").first.inner_text()
        assert "Verified: 60 of 60 rows in" in text
        assert "k: asked 4, found" in text
        assert "l of illness: asked 2, found" in text
        assert "Of the cells in quasi columns" in text
        (drawn,) = seen.charts.values()
        assert "<b>town</b>" in drawn
        style = "getComputedStyle(document.querySelector('{}')).{}"
        for ground, (_, ink) in GROUNDS.items():
            assert seen.page.evaluate(style.format(f"#{ground} svg text", "fill")) == ink
        assert seen.page.evaluate(style.format("#own", "listStyleType")) == "disc"


def test_every_rule_of_its_style_is_its_own() -> None:
    rules = re.findall(r"([^{}]+)\{", STYLE)
    assert rules
    assert all(
        one.strip().startswith(".shoal-release") for rule in rules for one in rule.split(",")
    )


def test_charts_bring_no_rule_for_the_page() -> None:
    shown = release()._repr_html_()
    assert shown.count("<style") == 1
    assert "<b>" not in shown


def test_without_the_packages_it_says_how_to_get_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    made = release()
    monkeypatch.setattr(needs, "PACKAGES", ("a_package_that_is_not_there",))
    shown = made._repr_html_()
    assert "<svg" not in shown
    assert "pip install 'shoal[report]'" in shown
    assert "found" in shown


def test_it_shows_at_most_so_many_columns() -> None:
    columns = {f"column {i}": [j * (i + 1) % 50 for j in range(50)] for i in range(20)}
    made = shoal.anonymize(pa.table(columns), quasi=list(columns), k=10)
    shown = made._repr_html_()
    assert "the 12 of 20 with the fewest" in shown
    assert len(shown) < 30_000


def test_nothing_lost_needs_no_chart() -> None:
    table = pa.table({"age": [1, 1, 2, 2], "illness": ["flu", "asthma"] * 2})
    shown = shoal.anonymize(table, quasi="age", sensitive="illness", k=2)._repr_html_()
    assert "<svg" not in shown
    assert "100.0 % exact; 0 rows suppressed." in shown


def test_it_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> str:
        raise RuntimeError("no")

    made = release()
    monkeypatch.setattr("shoal.report.notebook.notebook", broken)
    assert made._repr_html_() is None
    assert "Release" in repr(made)
