"""Settings shared by all tests."""

import signal
import zlib
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from tests.browser import close_browser
from tests.examples import scaled

# kernels compile on first use, which no deadline could tell from a slow example
settings.register_profile(
    "shoal",
    deadline=None,
    max_examples=scaled(40),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("shoal")

# a shell lets what it starts in the background ignore Ctrl-C, and what tests start would ignore it too
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

DRAWN = 2**128
"""Drawn seeds are this number or more."""


@pytest.fixture(autouse=True)
def drawn_seed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The seed that runs of a test draw where none is given: large, and the same in every session,
    so that a test that fails can be repeated."""
    seed = DRAWN + zlib.crc32(request.node.nodeid.encode()) * 0x9E3779B97F4A7C15
    monkeypatch.setattr("shoal.seeds.draw", lambda: seed)
    return seed


NO_SPARK = "so nothing was tested on Spark"
"""How the reason ends for which tests on a cluster are skipped."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> Generator[None, None, None]:
    """Say at the end, also where little is said, that nothing ran on Spark."""
    yield
    reasons = [
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple) and report.longrepr[2].endswith(NO_SPARK)
    ]
    if reasons:
        terminalreporter.write_line(
            f"{len(reasons)} tests on a Spark cluster were skipped: {reasons[0]}", yellow=True
        )


LONG = (
    "tests/spark/",
    "tests/test_docs.py",
    "tests/test_adult",
    "tests/comparison/test_runs.py",
    "tests/studio/test_pages.py",
    "tests/studio/test_whole_way.py",
)
"""Tests that take long come first: at the end one process would work on them alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


def pytest_sessionfinish() -> None:
    close_browser()
