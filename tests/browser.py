"""A real browser, and what it has to say about a page."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
DESKTOP, NARROW = 1200, 380
"""Widths at which every page is looked at."""


@dataclass
class Opened:
    """A page in the browser, and all that happened while it was opened."""

    page: Any
    """Playwright's page."""
    complaints: list[str] = field(default_factory=list)
    """Console errors and warnings, and errors of the page."""
    requests: list[str] = field(default_factory=list)
    """All that was fetched beside the page itself."""

    @property
    def charts(self) -> dict[str, str]:
        """Per chart its text: title, description and every label."""
        found = self.page.query_selector_all("svg[data-chart]")
        return {one.get_attribute("data-chart"): one.text_content() for one in found}

    def require_quiet(self) -> None:
        """Nothing was complained about and nothing was fetched."""
        assert not self.complaints, "\n".join(self.complaints)
        assert not self.requests

    def require_no_overflow(self) -> None:
        """The page itself is no wider than the window; what must be wide scrolls in its own box."""
        wide, window = self.page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert wide <= window, f"{wide} pixels in a window of {window}"

    def require_one_main_heading_and_unique_ids(self) -> None:
        """What a screen reader leans on."""
        assert self.page.locator("h1").count() == 1
        assert self.page.locator("main").count() == 1
        ids = self.page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids))
        unnamed = self.page.locator("svg:not([aria-label])").count()
        assert not unnamed


@contextmanager
def opened(
    path: Path, width: int = DESKTOP, scheme: Literal["light", "dark"] = "light"
) -> Iterator[Opened]:
    """Open a file in headless Chromium; skips, saying so, where there is none."""
    page = _browser().new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    try:
        seen = Opened(page)
        page.on("console", lambda message: seen.complaints.append(message.text))
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on("request", lambda request: _note(seen, request.url, path))
        page.goto(path.resolve().as_uri())
        yield seen
    finally:
        page.close()


@contextmanager
def visited(
    address: str, width: int = 1280, scheme: Literal["light", "dark"] = "light"
) -> Iterator[Opened]:
    """Visit a server on this machine in headless Chromium; skips, saying so, where there is none."""
    page = _browser().new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    own = "/".join(address.split("/")[:3])
    try:
        seen = Opened(page)
        page.on("console", lambda message: seen.complaints.append(message.text))
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on("request", lambda request: _note_foreign(seen, request.url, own))
        page.goto(address)
        yield seen
    finally:
        page.close()


def _note_foreign(seen: Opened, url: str, own: str) -> None:
    if not url.startswith((own, own.replace("http", "ws", 1), "data:", "blob:")):
        seen.requests.append(url)


_running: list[tuple[Any, Any]] = []
"""Playwright and its browser, started for the first page and kept: every page has its own profile."""


def _browser() -> Any:
    if not _running:
        program = next((found for name in NAMES if (found := shutil.which(name))), None)
        if program is None:
            pytest.skip(f"no browser: install one of {', '.join(NAMES)} to run this")
        from playwright.sync_api import sync_playwright

        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        tool = sync_playwright().start()
        try:
            started = tool.chromium.launch(executable_path=program, args=arguments)
        except Exception:
            tool.stop()
            raise
        _running.append((tool, started))
    return _running[-1][1]


def close_browser() -> None:
    """End the browser, if one was started; `conftest.py` calls this after the last test."""
    while _running:
        tool, started = _running.pop()
        started.close()
        tool.stop()


def _note(seen: Opened, url: str, path: Path) -> None:
    if url != path.resolve().as_uri() and not url.startswith("data:"):
        seen.requests.append(url)
