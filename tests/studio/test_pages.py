"""The studio in a real browser: controls, live panel and policy drawer."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shoal import api
from tests.browser import Opened, visited
from tests.studio.process import Running, studio

VERIFIED = "[data-state=verified]"


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
    with visited(running.address) as seen:
        seen.page.set_default_timeout(60_000)
        seen.page.wait_for_selector(VERIFIED, timeout=240_000)  # methods may have to be compiled
        seen.page.click(".steps a[href='/protect']")
        seen.page.wait_for_selector("[data-guarantee=k]")
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
    assert page.url == f"http://127.0.0.1:{running.port}/protect"
    assert page.evaluate("document.cookie") == ""  # no script can read it


def a_moving_thumb_tries_and_letting_go_checks_everything(
    page: Any, sample: "api.SamplePaths"
) -> None:
    before = sample.policy.read_text(encoding="utf-8")
    drag(page, "[data-guarantee=k] .q-slider", 0.25, release=False)
    page.wait_for_selector("[data-state=trying]")
    assert sample.policy.read_text(encoding="utf-8") == before
    page.mouse.up()
    page.wait_for_selector("#last-step:has-text('k 5 → ')")
    page.wait_for_selector(VERIFIED)
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
    page.wait_for_selector(VERIFIED)
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
    page.click("text=Does an authority tell you what to hold?")
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
    assert "disease" in page.inner_text("#live .notice")
    page.click("#undo")
    page.wait_for_selector("#last-step:not(:has-text('l of disease'))")
    page.wait_for_selector(VERIFIED)


def a_step_of_the_price_list_is_taken(page: Any, sample: "api.SamplePaths") -> None:
    now = int(k_on_disk(sample))
    step = f"k {now} → {now + 1}"
    page.click(f"[data-price='{step}']")
    page.wait_for_selector(f"#last-step:has-text('{step}')")
    assert int(k_on_disk(sample)) == now + 1
    page.click("#undo")
    page.wait_for_selector(f"[data-figure=k]:text-is('{now}')")
    page.wait_for_selector(VERIFIED)


def groups_by_dragging_and_by_keyboard(page: Any, sample: "api.SamplePaths") -> None:
    page.click(".steps a[href='/coarsen']")
    page.click(".chip:text-is('race')")
    page.wait_for_selector("[data-coarsen=race]")
    page.drag_and_drop("[data-node='Black']", "[data-node='other origin']")
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
    page.wait_for_selector(VERIFIED)
    page.click(".steps a[href='/protect']")
    page.wait_for_selector("[data-guarantee=k]")


def narrow_dark_and_quiet(opened: Opened, page: Any) -> None:
    opened.require_quiet()
    opened.require_no_overflow()
    assert page.locator("h1").count() == 1
    assert page.locator("main").count() == 1
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, a, [role=slider]')].filter("
        "e => !(e.ariaLabel || e.textContent.trim())).map(e => e.outerHTML)"
    )
    assert unnamed == []
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    page.reload()
    page.wait_for_selector("body.body--dark")
    page.wait_for_selector(VERIFIED)
    opened.require_no_overflow()
    assert page.locator(".live-strip").is_visible()
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})
    opened.require_quiet()


def test_controls_move_the_policy_and_the_picture(
    opened: Opened, running: Running, sample: "api.SamplePaths"
) -> None:
    """One studio and one page, since each step starts where the one before ended."""
    page = opened.page
    the_token_is_not_in_the_address_any_more(page, running)
    page.wait_for_selector(VERIFIED)
    a_moving_thumb_tries_and_letting_go_checks_everything(page, sample)
    page.wait_for_selector(VERIFIED)
    undo_and_redo_move_the_picture(page, sample)
    page.wait_for_selector(VERIFIED)
    an_edit_of_the_text_moves_the_picture(page, sample)
    page.wait_for_selector(VERIFIED)
    a_preset_brings_its_guarantee(page, sample)
    page.wait_for_selector(VERIFIED)
    what_cannot_be_met_is_said(page)
    page.wait_for_selector(VERIFIED)
    a_step_of_the_price_list_is_taken(page, sample)
    page.wait_for_selector(VERIFIED)
    groups_by_dragging_and_by_keyboard(page, sample)
    page.wait_for_selector(VERIFIED)
    narrow_dark_and_quiet(opened, page)
    page.wait_for_selector(VERIFIED)


def test_only_verified_is_green() -> None:
    style = (Path(api.__file__).parent / "studio" / "style.css").read_text(encoding="utf-8")
    for line in style.splitlines():
        for colour in re.findall(r"#([0-9a-f]{6})\b", line):
            red, green, blue = (int(colour[i : i + 2], 16) for i in (0, 2, 4))
            if green > red + 24 and green > blue + 24:
                assert "--verified" in line, line
    uses = [line for line in style.splitlines() if "var(--verified" in line]
    assert all(line.lstrip().startswith((".badge.verified", ".live-strip")) for line in uses)
