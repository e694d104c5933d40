"""Every screen by keyboard, for screen readers and for weak eyes: light and dark, wide and narrow."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shoal import api
from shoal.studio.screens import SCREENS
from tests.browser import Opened
from tests.studio.process import studio
from tests.studio.steps import entered, go, require_accessible, settled

REGIONS = ("skip", "top", "steps", "screen", "live", "drawer")
"""Parts of the page, in the order in which the focus goes through them."""
MOST_STOPS = 250
KEY = "const key = e => `${e.tagName} ${e.ariaLabel} ${e.textContent} ${e.type}`;"
"""Names what takes the focus, also where it is drawn again meanwhile."""
CONTRAST = """
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).slice(0, 3)
      .map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (e, colour) => {
    let at = e.parentElement;
    const ground = () => getComputedStyle(at).backgroundColor;
    while (at.parentElement && (parts(ground())[3] ?? 1) < 1) at = at.parentElement;
    const [one, other] = [light(colour), light(ground())].sort((x, y) => y - x);
    return (one + 0.05) / (other + 0.05);
  };
"""
"""The contrast of a colour, as WCAG 2.1 counts it, with what is around an element."""
FOCUSED = f"""() => {{
  {KEY}
  {CONTRAST}
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const region = e.closest('.skip, .top, .steps, .screen, .live, .drawer');
  const box = e.getBoundingClientRect();
  const style = getComputedStyle(e.querySelector(':scope > .q-checkbox__inner > .q-checkbox__bg') || e);
  const field = e.closest('.q-field');
  const again = e === window.firstReached;
  window.firstReached ||= e;
  (window.reached ||= new Set()).add(key(e));
  return {{
    again,
    region: region ? region.classList[0] : '',
    seen: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
    marked: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1
        && contrast(e, style.outlineColor) >= 3
      || e.matches('.q-btn') && style.boxShadow !== 'none'
      || field !== null && field.matches('.q-field--focused, :focus-within'),
    said: e.outerHTML.slice(0, 120),
  }};
}}"""
MISSED = f"""() => {{
  {KEY}
  return [...document.querySelectorAll('.shell :is(button, a[href], input, summary, [tabindex])')]
    .filter(e => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({{visibilityProperty: true}}))
    .filter(e => !window.reached.has(key(e))).map(e => e.outerHTML.slice(0, 120));
}}"""
STILL = """() => new Promise(done => {
  let last = performance.now();
  new MutationObserver(() => { last = performance.now(); })
    .observe(document.body, {childList: true, subtree: true, attributes: true});
  const look = setInterval(() => {
    if (performance.now() - last > 600) { clearInterval(look); done(); }
  }, 50);
})"""
"""Waits until nothing has been drawn for a while: what has the focus is not drawn again meanwhile."""
FORGET = "window.firstReached = window.reached = undefined"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    found = api.write_sample(tmp_path, rows=300)
    text = found.policy.read_text(encoding="utf-8")
    text = re.sub(r"^method: [a-z-]+", "method: least-loss-partition", text, flags=re.MULTILINE)
    found.policy.write_text(f"# One row is one person.\n{text}", encoding="utf-8")
    with studio(found.table, found.policy) as running, entered(running) as seen:
        settled(seen.page)
        yield seen


def require_order_of_focus(page: Any, where: str) -> None:
    """Tab reaches everything, in the order of the page, and where it is can be seen."""
    page.evaluate(STILL)
    page.evaluate(FORGET)
    page.focus(".skip")
    page.keyboard.press("Tab")  # where the focus is shows once a key was pressed
    page.keyboard.press("Shift+Tab")
    reached: list[str] = []
    for _ in range(MOST_STOPS):
        now = page.evaluate(FOCUSED)
        if now is None or now["again"]:
            break
        assert now["seen"], f"{where}: {now}"
        assert now["marked"], f"{where}: {now}"
        reached.append(now["region"])
        page.keyboard.press("Tab")
    else:
        raise AssertionError(f"{where}: the focus never comes to an end")
    assert set(reached) == set(REGIONS), f"{where}: {reached}"
    order = [REGIONS.index(region) for region in reached]
    assert order == sorted(order), f"{where}: {reached}"
    assert page.evaluate(MISSED) == [], where


def the_panel_is_a_sheet(page: Any) -> None:
    """On narrow windows the line at the bottom says what is known, and opens the rest."""
    said = page.inner_text("#open-sheet")
    assert re.search(r"Verified.*at least \d+ alike · .* % lost", said, re.DOTALL), said
    assert not page.locator("#live").is_visible()
    page.focus("#open-sheet")
    page.keyboard.press("Enter")
    page.wait_for_selector("#live[role=dialog] >> text=What is guaranteed")
    assert page.evaluate("document.activeElement.id") == "live"
    require_accessible(page, "the sheet")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "close-sheet"
    page.keyboard.press("Shift+Tab")  # what lies below it takes no focus
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.closest('.shell > :not(.live)')") is None
    page.keyboard.press("Escape")
    assert not page.locator("#live").is_visible()
    assert page.evaluate("document.activeElement.id") == "open-sheet"
    for close in (lambda: page.click("#close-sheet"), lambda: page.mouse.click(195, 10)):
        page.click("#open-sheet")
        page.wait_for_selector("#close-sheet")
        close()
        page.wait_for_selector("#close-sheet", state="hidden")
    page.click("#open-sheet")
    page.click("#live .loss >> nth=0")  # leads to a screen, which is then to be seen
    page.wait_for_selector(".steps a.here[href='/columns']")
    page.wait_for_selector("#close-sheet", state="hidden")


def require_readable_lists(page: Any, where: str) -> None:
    """Entries of a list that opens, the chosen one too."""
    go(page, "release")
    for chosen, other in (("CSV", "Parquet"), ("Parquet", "CSV")):
        page.click(".q-select:has-text('Format')")
        page.wait_for_selector(f".q-menu .q-item--active:has-text('{chosen}')")
        assert page.locator(".q-menu .q-focus-helper:visible").count() == 0  # no veil over colours
        page.evaluate(STILL)  # it fades in
        require_accessible(page, f"a list, {where}")
        page.click(f".q-menu .q-item:has-text('{other}')")
        page.wait_for_selector(".q-menu", state="detached")


@pytest.mark.long
def test_every_screen(opened: Opened) -> None:
    page = opened.page
    for screen in SCREENS:
        go(page, screen.path)
        settled(page)
        require_accessible(page, f"{screen.path}, light, wide")
        require_order_of_focus(page, screen.path)
    require_readable_lists(page, "light")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_selector("body.body--dark")
    for screen in SCREENS:
        go(page, screen.path)
        require_accessible(page, f"{screen.path}, dark, narrow")
        opened.require_no_overflow()
    require_readable_lists(page, "dark")
    go(page, "release")
    the_panel_is_a_sheet(page)
    opened.require_quiet()
