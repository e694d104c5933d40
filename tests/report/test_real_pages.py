"""Reports of real releases: they hold together, and tell nothing of single people."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.report.certificate import certificate
from shoal.report.page import page
from shoal.sample import write_sample
from tests.browser import DESKTOP, NARROW, opened
from tests.report.test_page import LARGEST, require_fit, require_labels_inside, words_of

ROWS = 1_200
FEW = 10
"""A value that fewer rows share is rare."""
KINDS = ("policy", "personal", "anatomy", "wide")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hospital")
    paths = write_sample(made, rows=ROWS)
    text = paths.policy.read_text(encoding="utf-8")
    for old, new in (
        ("method: auto", "publish: anatomy\nmethod: l-clustering"),
        ("  - {k: 5} ", "  # "),
        ("  - {l: 2, of: salary}", "  # "),
    ):
        assert old in text
        text = text.replace(old, new)
    (made / "anatomy.yaml").write_text(text, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def pages(folder: Path) -> dict[str, Path]:
    written = {}
    for kind in KINDS:
        release = wide() if kind == "wide" else shoal.anonymize(*of(folder, kind))
        written[kind] = folder / f"{kind}.html"
        written[kind].write_text(page(certificate(release)), encoding="utf-8")
    return written


def of(folder: Path, kind: str) -> tuple[str, str]:
    return str(folder / "hospital.csv"), str(folder / f"{kind}.yaml")


def wide() -> Any:
    """25 columns, of numbers and of words, with names that are too long for a chart."""
    random = np.random.default_rng(3)
    words = ["north", "south", "east", "west", "the islands far away beyond the sea"]
    columns: dict[str, Any] = {}
    for i in range(24):
        name = f"the answer to question {i} of the survey" if i % 5 == 0 else f"q{i}"
        columns[name] = random.integers(0, 90, 400) if i % 2 else random.choice(words, 400)
    columns["illness"] = random.choice(["flu", "none"], 400, p=[0.2, 0.8])
    columns["ward"] = [f"ward {i}" for i in range(400)]
    quasi = list(columns)[:24]
    table = pa.table(columns)
    return shoal.anonymize(table, quasi=quasi, sensitive="illness", plain="ward", k=5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_real_report_is_quiet_and_fits(pages: dict[str, Path], kind: str) -> None:
    assert pages[kind].stat().st_size < LARGEST
    with opened(pages[kind], NARROW, "dark") as seen:
        require_fit(seen)
        seen.page.emulate_media(color_scheme="light")
        seen.page.set_viewport_size({"width": DESKTOP, "height": 900})
        seen.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        require_fit(seen)
        require_labels_inside(seen)
        assert len(seen.charts) > 8


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("policy", "All 3 guarantees were found in the"),
        ("policy", "Every combination of all quasi columns occurs in at least 5 rows."),
        ("personal", "People's own preferences"),
        ("anatomy", "whose sensitive values stand apart from the people"),
        ("anatomy", "No column lost any detail"),
        ("wide", "ward is plain and published as it is, but 100.0 % of its values"),
    ],
)
def test_a_real_report_says(pages: dict[str, Path], kind: str, told: str) -> None:
    assert told in words_of(pages[kind].read_text(encoding="utf-8")).replace("&#39;", "'")


class Texts(HTMLParser):
    """Every text of a page, and whether it can be a value: figures of tables cannot."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[str] = []
        self.every: list[str] = []
        self._is_figure = False

    def handle_starttag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._is_figure = "figure" in (given.get("class") or "").split()
        told = [given.get(name) or "" for name in ("aria-label", "title", "alt", "id")]
        self.every += filter(None, told)

    def handle_data(self, data: str) -> None:
        if text := data.strip():
            self.every.append(text)
            if not self._is_figure:
                self.values.append(text)


def raw(folder: Path) -> dict[str, list[str]]:
    with (folder / "hospital.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def rare(column: list[str]) -> Iterator[str]:
    return (value for value, n in Counter(column).items() if n < FEW and value)


@pytest.mark.parametrize("kind", ["policy", "personal", "anatomy"])
def test_no_identifier_and_no_rare_value_is_anywhere(
    folder: Path, pages: dict[str, Path], kind: str
) -> None:
    texts = Texts()
    texts.feed(pages[kind].read_text(encoding="utf-8"))
    every, table = "\n".join(texts.every), raw(folder)
    assert len(texts.values) > 100
    for name in ("name", "birth_date"):
        assert not [value for value in table[name] if value in every]
    common = {name: set(column) - set(rare(column)) for name, column in table.items()}
    found = {}
    for name in ("age", "sex", "nationality", "zip", "work_hours", "education", "race", "salary"):
        # a number that many rows have in another column may stand for itself
        values = set(rare(table[name])).difference(*(common[one] for one in common if one != name))
        whole = values & set(texts.values)
        # words, and codes that start with 0, are looked for inside of other texts too
        words = [value for value in values if not re.fullmatch(r"0|[1-9]\d*", value)]
        found[name] = whole | {one for one in words if re.search(rf"\b{re.escape(one)}\b", every)}
    assert sum(len(set(rare(column))) for column in table.values()) > 1_000  # there are some
    assert not {name: values for name, values in found.items() if values}
