"""The whole way on the sample table in a real browser: every control, live panel and policy drawer."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shoal import api
from tests.browser import Opened
from tests.studio.process import Running, studio
from tests.studio.steps import (
    counted,
    drag_node,
    entered,
    go,
    has_role,
    open_report,
    require_verified,
    settled,
    step,
    ten_steps_of_k,
    write_release,
)


@pytest.fixture
def sample(tmp_path: Path) -> "api.SamplePaths":
    found = api.write_sample(tmp_path, rows=600)
    text = found.policy.read_text(encoding="utf-8")
    # the quickest method to compile
    text = re.sub(r"^method: [a-z-]+", "method: least-loss-partition", text, flags=re.MULTILINE)
    found.policy.write_text(text, encoding="utf-8")
    return found


@pytest.fixture
def running(sample: "api.SamplePaths") -> Iterator[Running]:
    with studio(sample.table, sample.policy) as found:
        yield found


@pytest.fixture
def opened(running: Running) -> Iterator[Opened]:
    with entered(running) as seen:
        counted(seen.page)
        yield seen


def drag(page: Any, slider: str, share: float, release: bool = True) -> None:
    """Move the thumb of a slider to a share of its track."""
    found = page.locator(slider).first
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    middle = box["y"] + box["height"] / 2
    thumb = found.locator(".q-slider__thumb").bounding_box()
    page.mouse.move(thumb["x"] + thumb["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * share, middle, steps=4)
    if release:
        page.mouse.up()


def k_on_disk(sample: "api.SamplePaths") -> str:
    found = re.search(r"\{k: (\d+)\}", sample.policy.read_text(encoding="utf-8"))
    assert found
    return found[1]


def the_token_is_not_in_the_address_any_more(page: Any, running: Running) -> None:
    assert page.url == f"http://127.0.0.1:{running.port}/"
    assert page.evaluate("document.cookie") == ""  # no script can read it


def what_one_person_is(page: Any, sample: "api.SamplePaths") -> None:
    page.wait_for_selector("[data-answer=none]")
    page.wait_for_selector(".steps a[href='/open'] .asks")
    assert page.locator("#badge.verified").count() == 0  # not green while the question is open
    assert "Say what one person is" in page.inner_text("#live")
    go(page, "release")
    page.wait_for_selector("#write-release[disabled]")
    assert "say what one person is" in page.inner_text("#refused")
    go(page, "open")
    page.click("text=Each row is one person")
    page.wait_for_selector("[data-answer='each row']")
    page.wait_for_selector(".steps a[href='/open']:not(:has(.asks))")
    first = sample.policy.read_text(encoding="utf-8").splitlines()[0]
    assert first == "# One row is one person."


def roles(page: Any, sample: "api.SamplePaths") -> None:
    page.click("#next")
    page.wait_for_selector(".steps a.here[href='/columns']")
    has_role(page, "protection_level", "plain")
    step(page, "protection_level: Names a person → Harmless")
    assert "protection_level: plain" in sample.policy.read_text(encoding="utf-8")
    settled(page)
    page.click("#undo")
    page.wait_for_selector(
        "[data-card='protection_level'] [data-role=identifier][aria-pressed=true]"
    )
    settled(page)


def a_moving_thumb_tries_and_letting_go_checks_everything(
    page: Any, sample: "api.SamplePaths"
) -> None:
    before = sample.policy.read_text(encoding="utf-8")
    drag(page, "[data-guarantee=k] .q-slider", 0.25, release=False)
    page.wait_for_selector("[data-state=trying]")
    assert sample.policy.read_text(encoding="utf-8") == before
    page.mouse.up()
    page.wait_for_selector("#last-step:has-text('k 5 → ')")
    settled(page)
    tried = page.inner_text("#last-step").removeprefix("k 5 → ")
    assert k_on_disk(sample) == tried
    assert int(page.inner_text("[data-found='k:']")) >= int(tried)
    assert page.inner_text("[data-below='5']") == "0"
    risk = float(page.inner_text("[data-risk=prosecutor]").strip(" %"))
    assert risk <= 100 / int(tried) + 0.05
    after = sample.policy.read_text(encoding="utf-8")
    assert after.count("#") == before.count("#")


def undo_and_redo_move_the_picture(page: Any, sample: "api.SamplePaths") -> None:
    now = k_on_disk(sample)
    page.click("#undo")
    page.wait_for_selector("[data-found='k:']:text-is('5')")
    assert k_on_disk(sample) == "5"
    page.wait_for_selector("[data-figure=k]:text-is('5')")
    page.keyboard.press("Control+y")
    page.wait_for_selector(f"[data-figure=k]:text-is('{now}')")
    settled(page)
    assert k_on_disk(sample) == now


def an_edit_of_the_text_moves_the_picture(page: Any, sample: "api.SamplePaths") -> None:
    page.click("#drawer-toggle")
    page.wait_for_selector(".cm-content")
    assert page.locator(".diff .add").count() == 1
    text = sample.policy.read_text(encoding="utf-8")
    # another program: the file is watched
    sample.policy.write_text(text.replace(f"k: {k_on_disk(sample)}", "k: 7"), encoding="utf-8")
    page.wait_for_selector("#last-step:has-text('edited in another program')")
    page.wait_for_selector("[data-figure=k]:text-is('7')")
    page.wait_for_selector("[data-found='k:']:text-is('7')")
    # here: a mistake is refused with its line
    page.click(".cm-content")
    page.keyboard.press("Control+End")
    page.keyboard.type("nonsense: 1")
    page.click("#apply-text")
    page.wait_for_selector("text=/policy.yaml:\\d+: .*nonsense/")
    assert "nonsense" not in sample.policy.read_text(encoding="utf-8")
    page.click("#drawer-toggle")


def a_preset_brings_its_guarantee(page: Any, sample: "api.SamplePaths") -> None:
    page.click("text=Must you follow the rules of an authority?")
    page.click("[data-preset=cell-size-11]")
    page.wait_for_selector("#last-step:has-text('preset cell-size-11')")
    page.wait_for_selector("[data-found='k:']:text-is('11')")
    assert "preset: cell-size-11" in sample.policy.read_text(encoding="utf-8")
    page.click("#undo")
    page.wait_for_selector("[data-figure=k]:text-is('7')")
    page.wait_for_selector("[data-found='k:']:text-is('7')")


def what_cannot_be_met_is_said(page: Any) -> None:
    page.focus("[data-guarantee='l of disease'] .q-slider [tabindex='0']")
    page.keyboard.press("PageUp")  # by the keyboard alone
    page.wait_for_selector("[data-state=failed]")
    said = page.inner_text("#live .notice.is-bad")
    assert re.fullmatch(
        r"disease has only \d+ different values; you ask for \d+ in every group\.", said
    )
    asked = page.inner_text("#asked")  # what is asked now, and not what the last release held
    assert re.search(r"disease: several values in every group\s+cannot be met\s+10", asked), asked
    go(page, "release")
    page.wait_for_selector("#write-release[disabled]")
    assert said in page.inner_text("#refused")
    go(page, "protect")
    page.click("#live .chip:text-matches('Set it to [0-9]+')")
    settled(page)
    for _ in range(2):
        page.click("#undo")
    page.wait_for_selector("#last-step:not(:has-text('l of disease'))")
    settled(page)


def a_step_of_the_price_list_is_taken(page: Any, sample: "api.SamplePaths") -> None:
    now = int(k_on_disk(sample))
    page.click("#prices summary")
    for offer, written in (
        (f"k {now} → {now + 1}", f"{{k: {now + 1}}}"),
        ("without zip", "zip: identifier"),
    ):
        page.click(f"[data-price='{offer}']")
        step(page, offer)
        assert written in sample.policy.read_text(encoding="utf-8")
        settled(page)
        page.click("#undo")
        page.wait_for_selector(f"#last-step:not(:has-text('{offer}'))")
        assert written not in sample.policy.read_text(encoding="utf-8")
        settled(page)
    page.wait_for_selector(f"[data-figure=k]:text-is('{now}')")
    # what is read aloud alone makes no page longer than its window
    assert page.evaluate("document.documentElement.scrollHeight <= window.innerHeight")


def groups_by_dragging_and_by_keyboard(page: Any, sample: "api.SamplePaths") -> None:
    go(page, "coarsen")
    page.click(".chip:text-is('race')")
    page.wait_for_selector("[data-coarsen=race]")
    drag_node(page, "Black", "other origin")
    page.wait_for_selector("#last-step:has-text('race: 1 value into other origin')")
    page.wait_for_selector("[data-node='Black'][aria-level='3']")
    written = sample.policy.read_text(encoding="utf-8")
    assert "- other origin: [Native American, Mixed, Other, Black]" in written
    assert "- Black" not in written
    for name in ("White", "Asian or Pacific"):
        page.focus(f"[data-node='{name}']")
        page.keyboard.press("Space")
    page.fill("#groups input >> nth=0", "most")
    page.click("#groups button:text-is('Group')")
    page.wait_for_selector("[data-node='most'][aria-level='2']")
    page.wait_for_selector("[data-node='East Asian'][aria-level='4']")
    with page.expect_download() as waiting:
        page.click("text=Export CSV")
    lines = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    assert "East Asian;Asian or Pacific;most;*" in lines
    assert "Black;Black;other origin;*" in lines
    page.set_input_files(
        "#groups input[type=file]",
        {"name": "g.csv", "mimeType": "text/csv", "buffer": b"White;any\nBlack;any\n"},
    )
    page.wait_for_selector("#last-step:has-text('race: groups of a file')")
    page.wait_for_selector("[data-node='Mixed'][aria-level='2'], [data-node*='fewer than ten']")
    for _ in range(3):
        page.click("#undo")
    page.wait_for_selector("[data-node='Black'][aria-level='2']")
    page.wait_for_selector("[data-node='other origin'][aria-level='2']")
    settled(page)


POINT = """async () => {
  const place = document.querySelector('.nicegui-echart');
  const chart = getElement(Number(place.id.slice(1))).chart;
  const points = chart.getOption().series[1].data.filter(p => p.name === 'mondrian, k 8');
  const [x, y] = chart.convertToPixel({seriesIndex: 1}, points[0].value);
  return {x, y};
}"""


def a_point_of_the_frontier_is_clicked(page: Any, sample: "api.SamplePaths") -> None:
    go(page, "compare")  # it begins by itself
    page.wait_for_selector("#compare:text-is('Compare again')")
    chart = page.locator(".nicegui-echart").first
    chart.scroll_into_view_if_needed()
    chart.click(position=page.evaluate(POINT))
    step(page, "took mondrian, k 8")
    settled(page)
    text = sample.policy.read_text(encoding="utf-8")
    assert "method: mondrian" in text
    assert "{k: 8}" in text
    assert page.inner_text("[data-found='k:']") == "8"
    go(page, "protect")
    go(page, "compare")  # what was compared is still there
    page.wait_for_selector("[data-candidate*=', k 8']")
    page.click("#undo")
    page.wait_for_selector("#last-step:not(:has-text('took'))")
    settled(page)


def the_person_hides_in_a_crowd(page: Any) -> None:
    go(page, "attack")
    page.click("[data-row='2'] button")
    page.wait_for_selector("[data-row='2'] button[aria-pressed=true]")
    page.click("#find-one")
    page.wait_for_selector("#person:has-text('The person in row 3')")
    before, after = (
        int(str(one.get_attribute("data-crowd"))) for one in page.locator("[data-crowd]").all()
    )
    assert before < after
    assert after >= 5


def the_release_is_verified_by_the_command_line(page: Any, sample: "api.SamplePaths") -> None:
    write_release(page)
    folder = sample.table.parent
    require_verified(folder / "hospital-release.csv", sample.policy)
    assert "erified" in open_report(page)
    # a table of a database; that its address is missing is said when it is written, not before
    page.click(".q-select:has-text('Format')")
    page.click(".q-menu .q-item:has-text('Database table')")
    page.wait_for_selector("input[aria-label='Address of the table']")
    assert page.locator("#screen .is-bad").count() == 0
    page.click("#write-release")
    page.wait_for_selector("#screen .is-bad:has-text('is missing')")
    address = "hospital.duckdb?table=published"
    page.fill("input[aria-label='Address of the table']", address)
    for report in ("whoever approves it", "those who get it"):  # those of the file stay
        page.click(f"#screen >> text=A report for {report}")
    command = "#screen pre:has-text('hospital.duckdb?table=published')"
    page.wait_for_selector(command, state="attached")  # it is folded
    page.click("#write-release")
    page.wait_for_selector("#written")
    page.wait_for_selector(f"[data-table$='{address}']")
    require_verified(folder / address, sample.policy)
    page.click(".q-select:has-text('Format')")
    page.click(".q-menu .q-item:has-text('CSV')")
    # a name that is taken: nothing is replaced unasked
    before = (folder / "hospital-release.csv").read_bytes()
    page.click("#write-release")
    page.wait_for_selector("#screen .is-bad:has-text('Tick “Replace what exists”')")
    assert page.locator("#written").count() == 0  # what was written before is not told as new
    assert (folder / "hospital-release.csv").read_bytes() == before


def narrow_dark_and_quiet(opened: Opened, page: Any) -> None:
    opened.require_quiet()
    opened.require_no_overflow()
    assert page.locator("h1").count() == 1
    assert page.locator("main").count() == 1
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    assert page.locator(".q-slider [tabindex]:not([role=slider][aria-valuetext])").count() == 0
    assert page.locator(".q-slider[role=slider]").count() == 0
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, a, [role=slider]')].filter("
        "e => !(e.ariaLabel || e.textContent.trim())).map(e => e.outerHTML)"
    )
    assert unnamed == []
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    page.reload()
    page.wait_for_selector("body.body--dark")
    settled(page)
    opened.require_no_overflow()
    assert page.locator(".live-strip").is_visible()
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})
    opened.require_quiet()


@pytest.mark.long
def test_the_whole_way_on_the_sample(
    opened: Opened, running: Running, sample: "api.SamplePaths"
) -> None:
    """One studio and one page, since each step starts where the one before ended."""
    page = opened.page
    the_token_is_not_in_the_address_any_more(page, running)
    what_one_person_is(page, sample)
    roles(page, sample)
    groups_by_dragging_and_by_keyboard(page, sample)
    go(page, "protect")
    page.wait_for_selector("[data-guarantee=k]")
    a_moving_thumb_tries_and_letting_go_checks_everything(page, sample)
    undo_and_redo_move_the_picture(page, sample)
    an_edit_of_the_text_moves_the_picture(page, sample)
    settled(page)
    a_preset_brings_its_guarantee(page, sample)
    settled(page)
    what_cannot_be_met_is_said(page)
    a_step_of_the_price_list_is_taken(page, sample)
    ten_steps_of_k(page, 7)
    a_point_of_the_frontier_is_clicked(page, sample)
    the_person_hides_in_a_crowd(page)
    the_release_is_verified_by_the_command_line(page, sample)
    go(page, "protect")
    narrow_dark_and_quiet(opened, page)


def test_only_verified_is_green() -> None:
    style = (Path(api.__file__).parent / "studio" / "style.css").read_text(encoding="utf-8")
    for line in style.splitlines():
        for colour in re.findall(r"#([0-9a-f]{6})\b", line):
            red, green, blue = (int(colour[i : i + 2], 16) for i in (0, 2, 4))
            if green > red + 24 and green > blue + 24:
                assert "--verified" in line, line
    uses = [line for line in style.splitlines() if "var(--verified" in line]
    assert all(line.lstrip().startswith((".badge.verified", ".live-strip")) for line in uses)
