"""The whole way in a browser: from a dropped file to a verified release and its report."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import Opened, visited
from tests.studio.process import studio

VERIFIED = "[data-state=verified]"
ROWS = 240


def awkward_table() -> str:
    """Semicolons, decimal commas, codes for missing values, two rows per person, HTML in names."""
    lines = ["patient;age;town;<b>dose</b>;illness"]
    for i in range(ROWS):
        person = i // 2
        age = "NA" if person % 30 == 0 else str(20 + person % 50)
        town = ("Ath", "Huy", "Mons", "<script>alert(1)</script>")[person % 4]
        illness = ("flu", "asthma", "gout")[i % 3]
        lines.append(f"P{person:04d};{age};{town};{person % 7},5;{illness}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outside.txt").write_text("x")
    return tmp_path


@pytest.fixture
def opened(folder: Path) -> Iterator[Opened]:
    with studio(cwd=folder) as running, visited(running.address) as seen:
        seen.page.set_default_timeout(90_000)
        yield seen


def go(page: Any, screen: str) -> None:
    page.click(f".steps a[href='/{screen}']")
    page.wait_for_selector(f".steps a.here[href='/{screen}']")


def step(page: Any, words: str) -> None:
    page.wait_for_selector(f"#last-step:has-text('{words}')")


def a_dropped_file_is_opened_and_drafted(page: Any, folder: Path) -> None:
    page.wait_for_selector(".drop")
    page.set_input_files(
        ".drop input[type=file]",
        {"name": "../visits.csv", "mimeType": "text/csv", "buffer": awkward_table().encode()},
    )
    page.wait_for_selector(".table-name:has-text('visits.csv · 240 rows, 5 columns')")
    copy = folder / "shoal-studio" / "visits.csv"
    assert copy.read_text(encoding="utf-8") == awkward_table()
    assert oct(copy.stat().st_mode & 0o777) == "0o600"
    assert (folder / "shoal-studio" / "visits.policy.yaml").exists()
    assert not (folder / "visits.csv").exists()


def what_one_person_is(page: Any, folder: Path) -> None:
    page.click("text=A person may have several rows")
    page.click(".q-select:has-text('Column of people')")
    page.click(".q-menu .q-item:has-text('patient')")
    page.wait_for_selector("[data-answer=patient]")
    policy = (folder / "shoal-studio" / "visits.policy.yaml").read_text(encoding="utf-8")
    assert "patient: person" in policy


def roles_by_their_heads(page: Any) -> None:
    go(page, "columns")
    for column, role in (
        ("age", "quasi"),
        ("town", "quasi"),
        ("<b>dose</b>", "plain"),
        ("illness", "sensitive"),
    ):
        page.click(f"[data-column='{column}']")
        page.wait_for_selector(f"[data-card='{column}']")
        chip = f"[data-card='{column}'] [data-role={role}]"
        if page.get_attribute(chip, "aria-pressed") != "true":
            page.click(chip)
        page.wait_for_selector(f"{chip}[aria-pressed=true]")
    assert page.inner_text("[data-card='illness'] h2") == "illness"
    assert page.locator(".preview td:has-text('<script>alert(1)</script>')").count()  # as text
    assert page.locator(".preview script, .preview b").count() == 0


def a_guarantee_and_ten_steps_back_and_forth(page: Any) -> None:
    go(page, "protect")
    page.wait_for_selector("[data-guarantee=k]")
    slider = "[data-guarantee=k] .q-slider [tabindex='0']"
    page.focus(slider)
    for k in range(6, 16):
        page.keyboard.press("ArrowRight")
        step(page, f"→ {k}")
    for _ in range(10):
        page.click("#undo")
    page.wait_for_selector("[data-figure=k]:text-is('5')")
    for _ in range(5):
        page.click("#redo")
    page.wait_for_selector("[data-figure=k]:text-is('10')")
    step(page, "→ 10")
    page.wait_for_selector(VERIFIED)
    assert int(page.inner_text("[data-found='k:']")) >= 10
    assert "People in groups" in page.inner_text("#live")


def cuts_and_ends_by_the_keyboard(page: Any, folder: Path) -> None:
    go(page, "coarsen")
    page.click("[data-quasi=age]")
    page.wait_for_selector("[data-coarsen=age] #histogram")
    page.focus("[data-coarsen=age] .q-range [tabindex='0'] >> nth=0")
    page.keyboard.press("ArrowRight")
    step(page, "age: bottom ")
    page.wait_for_selector("#histogram .beyond")
    policy = folder / "shoal-studio" / "visits.policy.yaml"
    assert "bottom: " in policy.read_text(encoding="utf-8")
    page.click("#undo")
    page.wait_for_selector("#histogram:not(:has(.beyond))")
    page.click("[data-way=steps]")
    step(page, "age: steps of equal width")
    page.wait_for_selector("#histogram .cut")
    page.focus("[data-coarsen=age] .q-slider [tabindex='0'] >> nth=0")
    page.keyboard.press("ArrowRight")
    step(page, "age: steps of")
    assert re.search(r"intervals: \[\d+, \d+, \d+\]", policy.read_text(encoding="utf-8"))
    page.click("[data-quasi=town]")
    page.wait_for_selector("[data-coarsen=town]")
    page.click("[data-way=right]")
    page.wait_for_selector("#masks:has-text('Huy → Hu* → H** → *')")
    for _ in range(3):
        page.click("#undo")
    step(page, "→ 10")
    page.wait_for_selector(VERIFIED)


def a_point_of_the_frontier_is_loaded(page: Any) -> None:
    go(page, "compare")
    page.click("#compare")
    page.wait_for_selector("[data-candidate='least-loss-partition, k 8']")
    page.click("#compare")  # the others are not waited for
    page.click("[data-candidate='least-loss-partition, k 8'] button:has-text('Take it')")
    step(page, "took least-loss-partition, k 8")
    page.wait_for_selector("[data-found='k:']:text-is('8')")
    page.click("#undo")
    step(page, "→ 10")
    page.wait_for_selector(VERIFIED)


def what_it_is_good_for(page: Any) -> None:
    page.fill("#usefulness input[aria-label='Your own counts']", "town, illness")
    page.click("#measure")
    page.wait_for_selector("[data-measured='the policy now']")
    assert page.locator("[data-spread='town × illness'] .pair").count() >= 8
    assert page.locator("[data-spread='age'] .pair").count()


def the_person_hides_in_a_crowd(page: Any) -> None:
    go(page, "attack")
    page.wait_for_selector("[data-known=age][aria-pressed=true]")
    page.click("#find-one")
    page.wait_for_selector("#person")
    before, after = (
        int(str(one.get_attribute("data-crowd"))) for one in page.locator("[data-crowd]").all()
    )
    assert before <= 4  # the person's own rows, and those of a double
    assert after >= 10
    page.set_input_files(
        "#screen .drop input[type=file]",
        {"name": "list.csv", "mimeType": "text/csv", "buffer": b"age;town\n21;Huy\n22;Mons\n"},
    )
    page.wait_for_selector("#others:has-text('Somebody knows age, town of all 2.')")


def the_release_is_the_command_lines(page: Any, folder: Path) -> None:
    go(page, "release")
    place = folder / "shoal-studio"
    page.click("text=Keep the seed in a private file")
    page.click("text=The private key")
    page.wait_for_selector("#write-release:not([disabled])")
    page.click("#write-release")
    page.wait_for_selector("#written, #screen .is-bad")
    assert page.locator("#written").count(), page.inner_text("#screen .is-bad")
    written = place / "visits-release.csv"
    key, seed = place / "visits-release-key.parquet", place / "visits-release.seed"
    shoal = [sys.executable, "-m", "shoal.cli.app"]
    policy = place / "visits.policy.yaml"
    verified = subprocess.run(
        [*shoal, "verify", written, policy, "--key", key], capture_output=True, text=True
    )
    assert verified.returncode == 0, verified.stderr
    again = place / "again.csv"
    subprocess.run(
        [*shoal, "run", place / "visits.csv", policy, "-o", again, "--seed-file", seed, "-q"],
        check=True,
    )
    assert again.read_bytes() == written.read_bytes()
    assert "<script>" in written.read_text(encoding="utf-8")
    assert "P0001" not in written.read_text(encoding="utf-8")


def the_report_opens(opened: Opened, page: Any) -> None:
    with page.context.expect_page() as waiting:
        page.click("[data-file$='-report.html']")
    report = waiting.value
    report.wait_for_selector("h1")
    assert "Verified" in report.inner_text("body") or "verified" in report.inner_text("body")
    report.close()
    answer = page.evaluate("fetch('/written/visits.csv').then(r => r.status)")
    assert answer == 404
    opened.complaints = [one for one in opened.complaints if "404" not in one]
    opened.require_quiet()


def closing_the_tab_loses_nothing(page: Any) -> None:
    page.reload()
    page.wait_for_selector(VERIFIED)
    assert page.inner_text("#last-step").endswith("→ 10")


def test_the_whole_way_on_an_awkward_table(opened: Opened, folder: Path) -> None:
    page = opened.page
    a_dropped_file_is_opened_and_drafted(page, folder)
    what_one_person_is(page, folder)
    roles_by_their_heads(page)
    a_guarantee_and_ten_steps_back_and_forth(page)
    cuts_and_ends_by_the_keyboard(page, folder)
    a_point_of_the_frontier_is_loaded(page)
    what_it_is_good_for(page)
    the_person_hides_in_a_crowd(page)
    the_release_is_the_command_lines(page, folder)
    the_report_opens(opened, page)
    closing_the_tab_loses_nothing(page)
