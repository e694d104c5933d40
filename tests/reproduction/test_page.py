"""The page of a run, as a browser shows it, and the files beside it."""

import csv
import json
from pathlib import Path

import pytest

from shoal.drawing.chart import SERIES
from shoal.reproduction.base import Figure, Reproduction
from shoal.reproduction.page import _tick, drawn, write
from shoal.reproduction.run import names, reproduce
from tests.browser import DESKTOP, NARROW, opened
from tests.reproduction.fixed import FOUND
from tests.reproduction.tiny import made_tiny


def check_page(found: Reproduction, folder: Path, width: int, scheme: str) -> None:
    with opened(folder / "index.html", width, scheme) as seen:  # type: ignore[arg-type]
        seen.require_quiet()
        seen.require_no_overflow()
        seen.require_one_main_heading_and_unique_ids()
        page = seen.page
        claims = page.locator("table.stack tbody tr")
        assert claims.count() == len(found.result.claims)
        for row, claim in zip(claims.all(), found.result.claims, strict=True):
            assert row.locator("th").inner_text() == claim.text.replace(" %", "\xa0%")
            told = row.locator("td").last.inner_text()
            assert all(
                words.replace(" %", "\xa0%") in told for words in (claim.reason, claim.found)
            )
            assert row.locator(".badge").inner_text() == claim.verdict
        charts = seen.charts
        assert list(charts) == [figure.name for figure in found.result.figures]
        for figure in found.result.figures:
            for words in (figure.title, figure.x_label, figure.y_label):
                assert words in charts[figure.name]
            if len(figure.lines) > 1:
                assert all(line.label in charts[figure.name] for line in figure.lines)
        assert page.locator("details table").count() == len(found.result.figures)
        words = page.inner_text("body")
        for told in (found.source, found.data, found.machine, found.made, *found.result.notes):
            assert told in words


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fixed") / "a" / "b"
    write(FOUND, folder, force=False)
    return folder


@pytest.mark.parametrize(
    ("width", "scheme"), [(DESKTOP, "light"), (DESKTOP, "dark"), (NARROW, "light")]
)
def test_the_page_shows_it_all(fixed: Path, width: int, scheme: str) -> None:
    check_page(FOUND, fixed, width, scheme)


def test_what_is_filled_in_is_escaped(fixed: Path) -> None:
    text = (fixed / "index.html").read_text(encoding="utf-8")
    assert "&lt;what&gt;" in text
    assert "<what>" not in text
    assert "<no>" not in text


def test_every_figure_has_its_data(fixed: Path) -> None:
    with opened(fixed / "index.html") as seen:
        table = seen.page.locator("details table").first
        seen.page.locator("summary").first.click()
        cells = [row.locator("th, td").all_inner_texts() for row in table.locator("tr").all()]
    assert cells == [
        ["rows", "first", "second", "twin", "short"],
        ["1,024", "0.1", "0.2", "0.1", "–"],
        ["2,048", "0.25", "–", "0.25", "0.3"],
        ["10,240", "0.5", "1.0e-05", "0.5", "–"],
    ]
    with (fixed / "loss.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["rows", "first", "second", "twin", "short"],
            ["1024", "0.1", "0.2", "0.1", ""],
            ["2048", "0.25", "", "0.25", "0.3"],
            ["10240", "0.5", "1e-05", "0.5", ""],
        ]


def test_the_files_are_there(fixed: Path) -> None:
    names = {"index.html", "result.json", "claims.csv"}
    names |= {f"{name}.{end}" for name in ("loss", "time", "groups") for end in ("svg", "csv")}
    assert {path.name for path in fixed.iterdir()} == names
    data = json.loads((fixed / "result.json").read_text(encoding="utf-8"))
    assert data == json.loads(json.dumps(FOUND.to_dict()))
    with (fixed / "claims.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["claim", "verdict", "reason", "found"]
    verdicts = ["holds", "does not hold", "cannot tell", "depends"]
    assert [row[1] for row in rows[1:]] == verdicts


def test_lines_that_coincide_are_drawn_once() -> None:
    with drawn(FOUND.result.figures[0]) as picture:
        (axes,) = picture.axes
        labels = [line.get_label() for line in axes.get_lines()]
        colours = [line.get_color() for line in axes.get_lines()]
    assert labels == ["first,\ntwin", "second", "short"]
    assert colours == [SERIES[0], SERIES[1], SERIES[3]]


@pytest.mark.parametrize(
    ("figure", "bars"), list(zip(FOUND.result.figures, (0, 5, 0), strict=True))
)
def test_where_there_is_no_figure_nothing_is_drawn(figure: Figure, bars: int) -> None:
    with drawn(figure) as picture:
        (axes,) = picture.axes
        assert len(axes.patches) == bars
        points = sum(len(line.get_xdata()) for line in axes.get_lines())
        assert axes.get_yscale() == ("log" if figure.log else "linear")
    assert points == {"loss": 3 + 2 + 1, "time": 0, "groups": 2}[figure.name]


def test_ticks_have_the_same_number_of_digits() -> None:
    assert [_tick(y, (0.75, 0.8, 0.85), False) for y in (0.75, 0.8)] == ["0.75", "0.80"]
    assert _tick(0.30000000000000004, (0.1, 0.2, 0.30000000000000004), False) == "0.3"
    assert _tick(20000.0, (10000.0, 20000.0), False) == "20,000"
    assert _tick(0.01, (0.01, 1.0, 100.0), True) == "0.01"


def test_the_same_result_gives_the_same_files(fixed: Path, tmp_path: Path) -> None:
    write(FOUND, tmp_path, force=False)
    for path in fixed.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


@pytest.mark.parametrize("name", names())
def test_the_page_of_a_real_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_tiny(monkeypatch)
    found = reproduce(name, quick=True, folder=tmp_path / name)
    check_page(found, tmp_path / name, NARROW, "dark")
    assert found.result.notes
    assert all(claim.found for claim in found.result.claims)
