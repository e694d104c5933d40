"""The report of certificates written by hand, as a browser shows it."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from shoal.report.page import BUDGET, MOST_COLUMNS, page
from tests.browser import DESKTOP, NARROW, Opened, opened
from tests.report.certificates import AWKWARD, EVERY, hospital, many_columns

LARGEST = 1_000_000
"""Bytes of a report."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    written = {}
    for name, made in EVERY.items():
        # a certificate is read from JSON as often as not
        text = page(json.loads(json.dumps(made())))
        written[name] = folder / f"{name}.html"
        written[name].write_text(text, encoding="utf-8")
    return written


@pytest.mark.parametrize("name", EVERY)
def test_every_page_is_quiet_and_fits(pages: dict[str, Path], name: str) -> None:
    assert pages[name].stat().st_size < LARGEST
    with opened(pages[name], NARROW, "dark") as seen:
        require_fit(seen)
        seen.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        require_fit(seen)
        seen.page.emulate_media(color_scheme="light")
        seen.page.set_viewport_size({"width": DESKTOP, "height": 900})
        require_fit(seen)
        require_labels_inside(seen)
        require_sound_structure(seen)


def require_fit(seen: Opened) -> None:
    seen.require_quiet()
    seen.require_no_overflow()
    seen.require_one_main_heading_and_unique_ids()


def require_labels_inside(seen: Opened) -> None:
    """No text of a chart is cut by the chart's own edge, where the font is one it was made for."""
    out = seen.page.evaluate("""() => [...document.querySelectorAll('svg[data-chart]')].flatMap(svg => {
        const box = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('text')].filter(text => {
            const own = text.getBoundingClientRect();
            return own.left < box.left - 2 || own.right > box.right + 2
                || own.top < box.top - 2 || own.bottom > box.bottom + 2;
        }).map(text => text.textContent)
    })""")
    assert not out


def require_sound_structure(seen: Opened) -> None:
    """Headings in order, tables that say what they are, links that lead somewhere."""
    levels = seen.page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])"
    )
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for wrong in (
        "table:not(:has(caption))",
        "th:not([scope])",
        ".scroll:not([tabindex='0'][role=region][aria-label])",
        "svg:not(:has(title)), svg:not(:has(desc))",
        "section:not([aria-labelledby])",
    ):
        assert seen.page.locator(wrong).count() == 0, wrong
    places = seen.page.evaluate("[...document.querySelectorAll('a')].map(a => a.hash)")
    assert all(seen.page.locator(place).count() == 1 for place in places)


def test_every_chart_is_there_with_its_labels_and_its_figures(pages: dict[str, Path]) -> None:
    with opened(pages["hospital"]) as seen:
        charts = seen.charts
        values, levels = ({f"{kind}-{i}" for i in range(1, 6)} for kind in ("values", "levels"))
        assert set(charts) == {"class-sizes"} | values | (levels - {"levels-5"})
        assert "asked: 5" in charts["class-sizes"]
        assert all(f"{name} rows" in charts["class-sizes"] for name in ("2 to 4", "20 to 49"))
        assert all(word in charts["values-1"] for word in ("under 20", "before", "after", "20 %"))
        assert "in a range of up to 20 %" in charts["levels-1"]
        seen.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        figures = seen.page.locator("table").all_inner_texts()
        assert any("70 and over" in text and "5.7" in text for text in figures)
        assert any("10 to 19 rows" in text and "3,500" in text for text in figures)


def test_the_keyboard_reaches_all_that_opens_or_scrolls(pages: dict[str, Path]) -> None:
    with opened(pages["wished"], NARROW) as seen:
        # what lies in a box that is closed cannot be reached, and need not be
        wanted = seen.page.evaluate("""[...document.querySelectorAll('summary, .scroll, pre, a')]
            .filter(one => !(one.matches('summary') ? one.parentElement.parentElement : one)
                .closest('details:not([open])')).length""")
        assert wanted > 20
        reached = set()
        for _ in range(wanted + 5):
            seen.page.keyboard.press("Tab")
            reached.add(
                seen.page.evaluate(
                    "[...document.querySelectorAll('*')].indexOf(document.activeElement)"
                )
            )
        body = seen.page.evaluate("[...document.querySelectorAll('*')].indexOf(document.body)")
        assert len(reached - {body}) == wanted
        seen.page.locator("summary").first.focus()
        seen.page.keyboard.press("Enter")
        assert seen.page.locator("details").first.evaluate("d => d.open") is True


def test_what_is_awkward_is_text_and_nothing_else(pages: dict[str, Path]) -> None:
    html = pages["awkward"].read_text(encoding="utf-8")
    assert "<script" not in html
    assert "<b>bold" not in html
    assert "\x00" not in html
    assert "\u202e" not in html
    with opened(pages["awkward"]) as seen:
        drawn = seen.page.locator("table.detail").inner_text()
        for text in ("<script>alert(1)</script>", "price in $ and $", "{{ 7 * 7 }}", "(empty)"):
            assert text in drawn
        assert "#0072b2" in seen.page.locator("#warnings + p ~ p").nth(9).inner_text()
        assert seen.page.locator("#warnings ~ p").count() == len(AWKWARD)


def test_many_columns_are_folded(pages: dict[str, Path]) -> None:
    html = pages["many columns"].read_text(encoding="utf-8")
    assert html.count('<details class="column" open') < 10 < html.count('<details class="column"')


def test_far_too_many_columns_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.report.page.BUDGET", 0)  # charts take long
    html = page(many_columns(400))
    assert html.count('<details class="column"') == MOST_COLUMNS
    assert "the certificate has all 400" in html
    assert len(html.encode()) + BUDGET < LARGEST


def test_charts_stop_where_the_page_would_grow_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.report.page.BUDGET", 40_000)
    html = page(many_columns(6))
    assert 'data-chart="values-1"' in html
    assert 'data-chart="values-6"' not in html
    assert html.count("<caption>Values of column") == 6  # the figures are all there


def words_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "hospital",
            "of which no guarantee speaks. All 2 guarantees were found in the 9,900 published rows. Of "
            "the cells",
        ),
        ("hospital", "100 rows (1.0 %) had to be withheld."),
        ("hospital", "certain before"),
        (
            "bare",
            "Verified. The guarantee was found in the 9,900 published rows, which lost no detail",
        ),
        ("bare", "Nothing was found in this run that needs a decision"),
        ("bare", "No row was suppressed. The policy sets no limit."),
        ("apart", "whose sensitive values stand apart from the people"),
        ("apart", "best guess of salary"),
        ("apart", "100 of 10,000 rows (1.0 %) were starred"),
        ("wished", "882 of 9,900 values (8.9 %) are wider than their own."),
        ("wished", "0 of 9,900 values (0.0 %) are wider than their own."),
        ("broken", "Not verified. Only 1 of 2 guarantees were found"),
        ("broken", "distance ordered"),
    ],
)
def test_it_says_in_words(pages: dict[str, Path], name: str, told: str) -> None:
    assert told in words_of(pages[name].read_text(encoding="utf-8"))


def test_nothing_speaks_of_what_was_not_asked(pages: dict[str, Path]) -> None:
    text = pages["hospital"].read_text(encoding="utf-8")
    assert 'id="personal"' not in text
    assert 'id="anatomy"' not in text


def test_it_prints_in_light_colours_with_every_column_open(pages: dict[str, Path]) -> None:
    with opened(pages["many columns"], scheme="dark") as seen:
        seen.page.emulate_media(media="print", color_scheme="dark")
        ink = seen.page.evaluate("getComputedStyle(document.body).color")
        assert ink == "rgb(0, 0, 0)"
        back = seen.page.evaluate(
            "getComputedStyle(document.querySelector('.verdict')).backgroundColor"
        )
        assert back == "rgb(255, 248, 197)"  # of a verdict with a reservation
        assert seen.page.locator("svg[data-chart='values-1']").bounding_box()["height"] > 50


def test_the_same_certificate_gives_the_same_page() -> None:
    made: dict[str, Any] = hospital()
    assert page(made) == page(made)
