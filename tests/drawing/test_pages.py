"""A chart in a page, as a browser shows it."""

from pathlib import Path

import pytest

from shoal.drawing import page as needs
from shoal.drawing.chart import MARKERS, SERIES, chart, inline, legend_below, svg
from shoal.drawing.page import render
from shoal.errors import InputError
from tests.browser import DESKTOP, NARROW, opened


def drawn(name: str = "loss") -> str:
    with chart() as (figure, axes):
        for i, colour in enumerate(SERIES):
            axes.plot([1, 2], [i, i + 1], color=colour, marker=MARKERS[i], label=f"method {i}")
        axes.set_xlabel("k <rows>")
        axes.set_title("Loss & k")
        legend_below(figure)
        return inline(figure, name, "Loss & k", "One line per method.")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    shell = render("shoal.drawing/base.html")
    path = tmp_path / "page.html"
    body = f"<h1>Try</h1><figure tabindex='0'>{drawn()}</figure><figure>{drawn('again')}</figure>"
    path.write_text(shell.replace('<main id="content">', f'<main id="content">{body}'))
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [DESKTOP, NARROW])
def test_a_chart_is_there_in_any_light(page: Path, width: int, scheme: str) -> None:
    with opened(page, width, scheme) as seen:  # type: ignore[arg-type]
        seen.require_quiet()
        seen.require_no_overflow()
        seen.require_one_main_heading_and_unique_ids()
        for text in seen.charts.values():
            assert all(f"method {i}" in text for i in range(8))
            assert "k <rows>" in text
        ink = seen.page.evaluate("getComputedStyle(document.querySelector('svg text')).fill")
        assert ink == ("rgb(27, 31, 36)" if scheme == "light" else "rgb(230, 237, 243)")


def test_the_same_chart_is_the_same_text(tmp_path: Path) -> None:
    assert drawn() == drawn()
    with chart() as (figure, axes):
        axes.plot([1, 2], [1, 2])
        (tmp_path / "a.svg").write_text(svg(figure, "a"), encoding="utf-8")
        first = (tmp_path / "a.svg").read_bytes()
        (tmp_path / "a.svg").write_text(svg(figure, "a"), encoding="utf-8")
    assert (tmp_path / "a.svg").read_bytes() == first
    assert b"var(" not in first


def test_what_is_filled_in_is_escaped() -> None:
    from shoal.drawing.page import _environment

    template = _environment().from_string("{{ value }}")
    assert template.render(value="<script>") == "&lt;script&gt;"


def test_without_the_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "PACKAGES", ("matplotlib", "a_package_that_is_not_there"))
    with pytest.raises(InputError, match=r"pip install 'shoal\[report\]'"):
        needs.require_drawing("A report")
