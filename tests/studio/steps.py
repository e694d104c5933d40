"""What a user does in the studio, step by step, in a browser.

Every step waits for what it brings about, never for a time, so a busy machine only makes it slower.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.browser import Opened, visited
from tests.studio.process import Running

VERIFIED = "[data-state=verified]"
PATIENCE = 240_000
"""Milliseconds that anything may take: methods may have to be compiled, beside other tests."""
AUDIT = (Path(__file__).parent / "audit.js").read_text(encoding="utf-8")
SHOAL = [sys.executable, "-m", "shoal.cli.app"]


@contextmanager
def entered(running: Running) -> Iterator[Opened]:
    """The studio in a browser."""
    with visited(running.address) as seen:
        seen.page.set_default_timeout(PATIENCE)
        yield seen


def go(page: Any, screen: str) -> None:
    """Visit a screen."""
    page.click(f".steps a[href='/{screen}']")
    page.wait_for_selector(f".steps a.here[href='/{screen}']")


def step(page: Any, words: str) -> None:
    """Wait for a step of the policy."""
    page.wait_for_selector(f"#last-step:has-text('{words}')")


def settled(page: Any) -> None:
    """Wait until the whole table was checked; narrow windows say so in a panel that is not open."""
    page.wait_for_selector(VERIFIED, state="attached")


def counted(page: Any) -> None:
    """Wait until the whole table was checked, whether or not it is known what one person is."""
    page.wait_for_selector(f"{VERIFIED}, [data-state=unanswered]")


def require_accessible(page: Any, where: str) -> None:
    """Names, roles and headings for screen readers, contrast for weak eyes."""
    wrong = page.evaluate(AUDIT)
    assert not wrong, f"{where}:\n" + "\n".join(wrong)


def has_role(page: Any, column: str, role: str) -> None:
    """Give a column a role, by its head and its card."""
    page.click(f"[data-column='{column}']")
    page.wait_for_selector(f"[data-card='{column}']")
    chip = f"[data-card='{column}'] [data-role={role}]"
    if page.get_attribute(chip, "aria-pressed") != "true":
        page.click(chip)
    page.wait_for_selector(f"{chip}[aria-pressed=true]")


def drag_node(page: Any, node: str, onto: str) -> None:
    """Drag a line of a tree onto another."""
    page.wait_for_selector(f"[data-node='{node}']")
    page.drag_and_drop(f"[data-node='{node}']", f"[data-node='{onto}']")


def ten_steps_of_k(page: Any, first: int) -> None:
    """Ten steps of k by the keyboard, all undone, and five of them done again."""
    page.focus("[data-guarantee=k] .q-slider [tabindex='0']")
    for k in range(first + 1, first + 11):
        page.keyboard.press("ArrowRight")
        step(page, f"→ {k}")
    for k in range(first + 9, first, -1):
        page.click("#undo")
        step(page, f"→ {k}")
    page.click("#undo")
    page.wait_for_selector(f"[data-figure=k]:text-is('{first}')")
    for k in range(first + 1, first + 6):
        page.click("#redo")
        step(page, f"→ {k}")
    page.wait_for_selector(f"[data-figure=k]:text-is('{first + 5}')")
    settled(page)
    assert int(page.inner_text("[data-found='k:']")) >= first + 5


def write_release(page: Any, *ticks: str) -> None:
    """Write the release, with what is ticked."""
    go(page, "release")
    for tick in ticks:
        page.click(f"text={tick}")
    page.wait_for_selector("#write-release:not([disabled])")
    page.click("#write-release")
    page.wait_for_selector("#written, #screen .is-bad")
    assert page.locator("#written").count(), page.inner_text("#screen .is-bad")
    listed = page.inner_text("[data-files='To publish']")
    assert "-release.csv" in listed
    assert "key" not in listed
    assert "seed" not in listed


def require_verified(release: Path, policy: Path, *more: str | Path) -> None:
    """The command line finds that the written file holds the policy."""
    verified = subprocess.run(
        [*SHOAL, "verify", release, policy, *more], capture_output=True, text=True
    )
    assert verified.returncode == 0, verified.stderr


def open_report(page: Any) -> str:
    """The text of the report that was written, as the browser shows it."""
    with page.context.expect_page() as waiting:
        page.click("[data-file$='-report.html']")
    report = waiting.value
    report.wait_for_selector("h1")
    said = str(report.inner_text("body"))
    report.close()
    return said
