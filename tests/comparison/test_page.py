"""The page, as a browser shows it."""

import json
from dataclasses import replace

import pytest

from shoal.comparison.outcome import Outcome
from shoal.comparison.page import page
from shoal.drawing import page as needs
from shoal.errors import InputError
from tests.browser import DESKTOP, NARROW, opened
from tests.comparison.comparisons import ONE_K, POLICY, TWO_K, comparison, done

ANATOMY = comparison(
    [done("bottom-up", None, 0.0, 0.6), done("mondrian", None, 0.0, 0.5)],
    ks=(None,),
    policy=POLICY.replace_keys(publish="anatomy", constraints=[{"l": 2, "of": "disease"}]),
)
NOTHING = comparison([Outcome("mondrian", 5, "infeasible", "Too much was asked.")])


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return TWO_K.write(tmp_path_factory.mktemp("page") / "c.html")


@pytest.mark.parametrize(("width", "scheme"), [(DESKTOP, "light"), (NARROW, "dark")])
def test_the_page_in_a_browser(written, width, scheme):
    with opened(written[0], width, scheme) as seen:
        seen.require_quiet()
        seen.require_no_overflow()
        seen.require_one_main_heading_and_unique_ids()
        assert list(seen.charts) == ["frontier"]
        fits = "f => f.scrollWidth <= f.clientWidth"
        assert seen.page.locator("figure").evaluate(fits), (
            "the chart and its legend are seen without scrolling"
        )
        labels = seen.charts["frontier"]
        for words in ("k-clustering", "bottom-up", "mondrian", "the frontier", "recommended"):
            assert words in labels
        for words in ("information lost", "average risk", "k=5", "k=10", "On the frontier:"):
            assert words in labels
        _require_labels_apart(seen.page)
        text = seen.page.locator("main").inner_text()
        assert TWO_K.recommended.reason in " ".join(text.split())
        assert "Stopped after 10 seconds." in text
        assert seen.page.locator("th .badge.good").count() == 1
        wide = seen.page.locator(".scroll, figure")
        assert all(wide.nth(i).get_attribute("tabindex") == "0" for i in range(wide.count()))


def _require_labels_apart(page, fewest=15):
    """No two texts of the chart lie over one another."""
    boxes = page.evaluate(
        "[...document.querySelectorAll('svg[data-chart] text')].map(e => {"
        "const b = e.getBoundingClientRect();"
        "return [e.textContent.trim(), b.left, b.top, b.right, b.bottom]})"
    )
    boxes = [box for box in boxes if box[0]]
    assert len(boxes) > fewest
    for i, (one, *a) in enumerate(boxes):
        for other, *b in boxes[:i]:
            apart = a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 3 or b[3] <= a[1] + 3
            assert apart, f"{one} lies over {other}"


def test_the_json_beside_it(written):
    assert [path.name for path in written] == ["c.html", "c.json"]
    assert json.loads(written[1].read_text()) == TWO_K.to_dict()
    assert written[0].stat().st_size < 200_000


def test_a_page_of_one_k(tmp_path):
    with opened(ONE_K.write(tmp_path / "c.html")[0]) as seen:
        seen.require_quiet()
        seen.require_no_overflow()
        seen.require_one_main_heading_and_unique_ids()
        _require_labels_apart(seen.page, fewest=10)
        assert seen.page.locator("h2").first.inner_text() == "Take least-loss-partition"


def test_a_page_without_a_chart():
    assert "No method finished" in page(NOTHING)
    assert "Too much was asked." in page(NOTHING)
    assert "Take mondrian" in page(ANATOMY)
    assert "Risk is the chance that the best guess at a sensitive value is right" in page(ANATOMY)
    assert "<svg" not in page(NOTHING) + page(ANATOMY)


def test_figures_far_apart_have_a_logarithmic_scale():
    runs = [
        done("datafly", 5, 0.7, 0.001),
        done("mondrian", 5, 0.02, 0.19),
        done("optimal", 5, 0.3),
    ]
    drawn = page(comparison(runs))
    assert "2 %" in drawn
    assert "50 %" in drawn
    assert "0.1 %" in drawn


def test_a_table_without_loss_can_be_drawn():
    assert "data-chart" in page(comparison([done("mondrian", 5, 0.0, 0.2)]))


def test_names_are_escaped():
    assert "<b>" not in page(replace(ONE_K, name="<b>.csv")).replace("<body>", "")


def test_a_notebook_shows_it():
    html = TWO_K._repr_html_()
    assert "<svg" in html
    assert TWO_K.recommended.reason in html
    assert "bottom-up (k = 5, over budget)" in html
    assert html != ONE_K._repr_html_()
    assert "No method finished" in NOTHING._repr_html_()
    assert repr(TWO_K) == "<Comparison: 7 of 14 runs finished; take k-clustering: loss 16.8 %>"
    assert repr(NOTHING) == "<Comparison: 0 of 1 runs finished>"


def test_without_the_packages_that_draw(monkeypatch, tmp_path):
    monkeypatch.setattr(needs, "PACKAGES", ("a_package_that_is_not_there",))
    assert "<svg" not in TWO_K._repr_html_()
    with pytest.raises(InputError, match=r"pip install 'shoal\[report\]'"):
        TWO_K.write(tmp_path / "c.html")
    assert TWO_K.write(tmp_path / "c.json") == [tmp_path / "c.json"]


def test_files_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match=r"\.html for a page"):
        TWO_K.write(tmp_path / "c.pdf")
    (tmp_path / "c.json").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        TWO_K.write(tmp_path / "c.html")
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]
    TWO_K.write(tmp_path / "c.html", force=True)
    assert json.loads((tmp_path / "c.json").read_text())["comparison"] == 1
