"""The whole way in a browser: from a dropped file to a verified release and its report."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import Opened
from tests.studio.process import Running, studio, workers_of
from tests.studio.steps import (
    SHOAL,
    entered,
    go,
    has_role,
    open_report,
    require_accessible,
    require_verified,
    settled,
    step,
    ten_steps_of_k,
    write_release,
)

ROWS = 240
TIPS = """async () => {
  const place = [...document.querySelectorAll('#usefulness .nicegui-echart')].pop();
  const chart = getElement(Number(place.id.slice(1))).chart, said = [];
  for (let i = 0; i < chart.getOption().series[0].data.length; i++) {
    chart.dispatchAction({type: 'showTip', seriesIndex: 0, dataIndex: i});
    await new Promise(requestAnimationFrame);
    said.push(place.textContent);
  }
  return said;
}"""
"""What the chart of pairs says of each of its cells."""


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
def running(folder: Path) -> Iterator[Running]:
    with studio(cwd=folder) as found:
        yield found


@pytest.fixture
def opened(running: Running) -> Iterator[Opened]:
    with entered(running) as seen:
        yield seen


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
    page.wait_for_selector("[data-answer=none] >> text=recognised by the column “patient”")
    page.click("text=A person may have several rows")  # the proposed column is taken at once
    page.wait_for_selector("[data-answer=patient]")
    page.wait_for_selector(
        "#evidence:has-text('240 rows, 120 different patient: each has two rows')"
    )
    page.wait_for_selector(".table-name:has-text('120 people, 240 rows')")
    policy = (folder / "shoal-studio" / "visits.policy.yaml").read_text(encoding="utf-8")
    assert "patient: person" in policy


def what_was_detected(page: Any) -> None:
    page.wait_for_selector("[data-detected='age'] input[aria-label*='missing']")
    read = page.inner_text("#reading")
    assert "semicolon" in read
    assert "comma, 1,5" in read
    page.wait_for_selector("[data-detected='<b>dose</b>']:has-text('decimal numbers')")
    assert page.locator("#reading b, #reading script").count() == 0


def what_is_typed_stays_while_the_policy_changes(page: Any, folder: Path) -> None:
    codes = "input[aria-label='Codes for missing, everywhere']"
    page.click(codes)
    page.keyboard.type("99")
    policy = folder / "shoal-studio" / "visits.policy.yaml"
    before = policy.read_text(encoding="utf-8")
    policy.write_text(f"{before}# a remark\n", encoding="utf-8")
    step(page, "edited in another program")
    page.keyboard.type("7")
    assert page.input_value(codes) == "997"
    page.keyboard.press("Enter")
    step(page, "missing codes: 997")
    assert "missing: [" in policy.read_text(encoding="utf-8")
    for _ in range(2):
        page.click("#undo")
    step(page, "one person is one patient")
    assert policy.read_text(encoding="utf-8") == before


def roles_by_their_heads(page: Any) -> None:
    go(page, "columns")
    for column, role in (
        ("age", "quasi"),
        ("town", "quasi"),
        ("<b>dose</b>", "plain"),
        ("illness", "sensitive"),
    ):
        has_role(page, column, role)
    assert page.inner_text("[data-card='illness'] h2") == "illness"
    page.wait_for_selector("[data-card='illness'] >> text=at least 2 values in every group")
    settled(page)
    alone = page.inner_text(
        "#live .rows:has([data-below='2'])"
    ).split()  # as it is now, in both places
    page.wait_for_selector(f"#screen >> text=/together, {alone[alone.index('alone') + 1]} people/")
    betrayed = "section:has-text('Which columns betray people?') .bars >> text=65 %"
    page.wait_for_selector(betrayed)
    has_role(page, "<b>dose</b>", "person")  # other people are counted, in every figure
    page.wait_for_selector(betrayed, state="detached")
    page.click("#undo")
    page.wait_for_selector(betrayed)
    settled(page)
    page.click("#live .loss:has-text('age')")  # chosen elsewhere while Columns is shown
    page.wait_for_selector("[data-card='age'] .bars >> text='20'")
    page.click("[data-column='illness']")
    assert page.locator(".preview td:has-text('<script>alert(1)</script>')").count()  # as text
    assert page.locator(".preview script, .preview b").count() == 0
    page.fill("[data-reason='illness'] input, input[data-reason='illness']", "nobody's business")
    page.press("[data-reason='illness'] input, input[data-reason='illness']", "Enter")
    step(page, "illness: reason")
    page.wait_for_selector("[data-card='illness']")
    settled(page)  # figures of the step before are faded


def what_no_guarantee_covers_is_said_beside_the_badge(page: Any) -> None:
    settled(page)
    assert all(page.locator("#live .notice:visible").all_inner_texts())  # no empty box
    said = page.inner_text("#uncovered")
    assert re.search(
        r"\d+ of 120 people \(\d+.*%\) stand alone once <b>dose</b> is known too", said
    )
    alone = int(page.inner_text("[data-uncovered=plain]"))
    assert f"{alone} of 120" in said
    go(page, "release")  # where it must be confirmed
    page.wait_for_selector("[data-aware]")
    assert page.get_attribute("#write-release", "disabled") is not None
    page.click("[data-aware]")
    page.wait_for_selector("#write-release:not([disabled])")
    page.wait_for_selector("#uncovered")  # also there
    page.click("#uncovered .chip:has-text('Others may know it')")
    step(page, "<b>dose</b>: Others may know it")
    settled(page)
    assert page.locator("#uncovered").count() == 0
    page.click("#undo")
    page.wait_for_selector("#uncovered")
    settled(page)


def a_guarantee_and_ten_steps_back_and_forth(page: Any) -> None:
    go(page, "protect")
    page.wait_for_selector("[data-guarantee=k]")
    ten_steps_of_k(page, 5)
    assert "People in small groups" in page.inner_text("#live")


def killed_workers_are_reported_and_nothing_is_lost(
    page: Any, running: Running, folder: Path
) -> None:
    killed = workers_of(running)
    assert killed
    for process in killed:
        os.kill(process, signal.SIGSTOP)  # none can be done before it is killed
    page.focus("[data-guarantee=k] .q-slider [tabindex='0']")
    page.keyboard.press("ArrowRight")
    step(page, "→ 11")
    for process in killed:
        os.kill(process, signal.SIGKILL)
    page.wait_for_selector("#live .notice.is-bad:has-text('Nothing is lost')")
    assert "No release" in page.inner_text("#badge")
    policy = (folder / "shoal-studio" / "visits.policy.yaml").read_text(encoding="utf-8")
    assert "{k: 11}" in policy
    page.click("#check-again")
    settled(page)
    assert not set(killed) & set(workers_of(running))
    page.click("#undo")
    step(page, "→ 10")
    settled(page)


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
    page.wait_for_selector("#last-step:text-matches('age: steps of [0-9]')")
    assert re.search(r"intervals: \[\d+, \d+, \d+\]", policy.read_text(encoding="utf-8"))
    a_mistake_stays_until_the_next_step(page)
    page.click("[data-quasi=town]")
    page.wait_for_selector("[data-coarsen=town]")
    page.click("[data-way=right]")
    page.wait_for_selector("#masks:has-text('Huy → Hu* → H** → *')")
    for _ in range(4):
        page.click("#undo")
    step(page, "→ 10")
    settled(page)


def a_mistake_stays_until_the_next_step(page: Any) -> None:
    field = "input[placeholder='5, 10, 20']"
    for wrong in ("abc", "xyz", "xyz"):
        page.fill(field, f"5, {wrong}")
        page.click("text=Use these steps")
        page.wait_for_selector(f".mistake:has-text('age: intervals: found') >> text={wrong}")
    page.wait_for_function("document.querySelectorAll('.mistake').length === 1")
    page.fill(field, "5, 15")
    page.click("text=Use these steps")
    step(page, "age: in steps of 5, 15")
    page.wait_for_selector(".mistake", state="detached")


def a_point_of_the_frontier_is_loaded(page: Any) -> None:
    go(page, "compare")  # it begins by itself
    page.wait_for_selector("#compare:text-is('Compare again')")
    name = page.get_attribute("[data-candidate$=', k 8']", "data-candidate")
    page.click(f"[data-candidate='{name}'] [data-take]")
    step(page, f"took {name}")
    page.wait_for_selector("[data-found='k:']:text-is('8')")
    page.click("#undo")
    step(page, "→ 10")
    settled(page)


def what_it_is_good_for(page: Any) -> None:
    page.fill("#usefulness input[aria-label='Cross tables you need']", "town, illness")
    page.click("#measure")
    page.wait_for_selector("[data-measured='the policy now']")
    assert page.locator("[data-spread='town × illness'] .pair").count() >= 8
    assert page.locator("[data-spread='age'] .pair").count()
    said = page.evaluate(TIPS)  # names of columns in what the pointer shows
    assert any("<b>dose</b>" in one for one in said)
    assert page.locator(".nicegui-echart b, .nicegui-echart script").count() == 0


def the_person_hides_in_a_crowd(page: Any) -> None:
    go(page, "attack")
    page.wait_for_selector("[data-known=age][aria-pressed=true]")
    page.click("#find-one")
    page.wait_for_selector("#person")
    before, after = (
        int(str(one.get_attribute("data-crowd"))) for one in page.locator("[data-crowd]").all()
    )
    assert before <= 2  # the person, and a double: people are counted, not their rows
    assert after >= 5
    assert "people fit" in page.inner_text("#person")
    page.set_input_files(
        "#screen .drop input[type=file]",
        {"name": "list.csv", "mimeType": "text/csv", "buffer": b"age;town\n21;Huy\n22;Mons\n"},
    )
    page.wait_for_selector("#others:has-text('Somebody knows age, town of all 2 people.')")


def what_the_release_is_for(page: Any, folder: Path) -> None:
    go(page, "release")
    page.click("#about summary")
    page.fill("[data-about=title]", "Visits: 2025")
    page.press("[data-about=title]", "Enter")
    step(page, "title")
    policy = (folder / "shoal-studio" / "visits.policy.yaml").read_text(encoding="utf-8")
    assert '  title: "Visits: 2025"' in policy
    settled(page)


def the_release_is_the_command_lines(page: Any, folder: Path) -> None:
    place = folder / "shoal-studio"
    write_release(page, "Keep the seed in a private file")  # the key is ticked already
    kept = page.inner_text("[data-files='Keep private']")
    assert all(name in kept for name in ("-key.csv", ".seed", "-report.html"))
    written = place / "visits-release.csv"
    private = place / "visits-release-private"
    assert oct(private.stat().st_mode & 0o777) == "0o700"
    key, seed = private / "visits-release-key.csv", private / "visits-release.seed"
    policy = place / "visits.policy.yaml"
    require_verified(written, policy, "--key", key)
    again = place / "again.csv"
    subprocess.run(
        [*SHOAL, "run", place / "visits.csv", policy, "-o", again, "--seed-file", seed, "-q"],
        check=True,
    )
    assert again.read_bytes() == written.read_bytes()
    assert "<script>" in written.read_text(encoding="utf-8")
    assert "P0001" not in written.read_text(encoding="utf-8")


def the_report_opens(opened: Opened, page: Any) -> None:
    report = open_report(page)
    assert "erified" in report
    assert "Visits: 2025" in report
    answer = page.evaluate("fetch('/written/visits.csv').then(r => r.status)")
    assert answer == 404
    opened.complaints = [one for one in opened.complaints if "404" not in one]
    opened.require_quiet()


def closing_the_tab_loses_nothing(page: Any) -> None:
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    settled(page)
    assert page.inner_text("#last-step").endswith("title")
    page.wait_for_selector("#written-before:has-text('The files are still the same')")
    assert "visits-release.csv" in page.inner_text("[data-files='To publish']")
    assert "visits-release-private" in page.inner_text("#written-before")
    page.click("#undo")  # another policy: what was written is not this one's any more
    page.wait_for_selector("#written-before .warn:has-text('by another policy')")
    page.click("#redo")
    page.wait_for_selector("#written-before:not(:has(.warn))")
    settled(page)
    assert int(page.inner_text("[data-found='k:']")) >= 10


def a_table_of_r_is_opened_by_a_press(page: Any, folder: Path) -> None:
    rows = "".join(f"{i},{20 + i % 30},{i % 2}\n" for i in range(90))
    go(page, "open")
    page.click("text=Open another table")
    page.set_input_files(
        ".drop input[type=file]",
        {"name": "r.csv", "mimeType": "text/csv", "buffer": f'"",age,sex\n{rows}'.encode()},
    )
    page.click("#name-it")
    page.wait_for_selector(".table-name:has-text('r.csv · 90 rows, 3 columns')")
    copy = folder / "shoal-studio" / "r.csv"
    assert copy.read_text(encoding="utf-8").splitlines()[0] == "row,age,sex"
    assert page.locator(".mistake").count() == 0


def test_the_whole_way_on_an_awkward_table(opened: Opened, running: Running, folder: Path) -> None:
    page = opened.page
    a_dropped_file_is_opened_and_drafted(page, folder)
    what_one_person_is(page, folder)
    what_was_detected(page)
    require_accessible(page, "open")
    what_is_typed_stays_while_the_policy_changes(page, folder)
    roles_by_their_heads(page)
    require_accessible(page, "columns")
    what_no_guarantee_covers_is_said_beside_the_badge(page)
    a_guarantee_and_ten_steps_back_and_forth(page)
    require_accessible(page, "protect")
    killed_workers_are_reported_and_nothing_is_lost(page, running, folder)
    cuts_and_ends_by_the_keyboard(page, folder)
    require_accessible(page, "coarsen")
    a_point_of_the_frontier_is_loaded(page)
    what_it_is_good_for(page)
    require_accessible(page, "compare")
    the_person_hides_in_a_crowd(page)
    require_accessible(page, "attack")
    what_the_release_is_for(page, folder)
    the_release_is_the_command_lines(page, folder)
    require_accessible(page, "release")
    the_report_opens(opened, page)
    closing_the_tab_loses_nothing(page)
    a_table_of_r_is_opened_by_a_press(page, folder)
