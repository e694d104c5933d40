"""Every command on every bad input: one line of an error that helps, and nobody's value in it."""

import logging
import re
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.cli.app import app
from tests.bad_input.corpus import ALLOWED, CANARY, COMMANDS, QUICK, Case, cases

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in; temporary files go to one beside it."""
    (tmp_path / "work").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.delenv("SHOAL_DEBUG", raising=False)
    return tmp_path


LIMIT = 60
"""Seconds of CPU that no command takes for any of these."""


@contextmanager
def in_time() -> Iterator[None]:
    """A block that fails where it does not come to an end."""

    def fail(*_: object) -> None:
        pytest.fail(f"not ended after {LIMIT} seconds of CPU")

    before = signal.signal(signal.SIGPROF, fail)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def files_of(place: Path) -> set[str]:
    """All files, wherever they are."""
    return {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}


def check(case: Case, command: str, place: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = case.write(place / "work")
    before = files_of(place)
    words = [word.format(**files) for word in COMMANDS[command]]
    with caplog.at_level(logging.DEBUG), in_time():
        done = CliRunner().invoke(app, words, prog_name="shoal")
    said = done.stdout + done.stderr + caplog.text
    assert done.exit_code in ALLOWED, said
    assert "Traceback" not in said
    assert "unexpected error" not in said
    assert CANARY not in said
    assert before <= files_of(place)
    left = files_of(place) - before
    assert all(name.startswith("work/out/") for name in left)
    for name in left:
        if name.endswith((".json", ".html")):  # releases and drafts hold values
            assert CANARY.encode() not in (place / name).read_bytes(), name
    if done.exit_code:
        assert not left
        # a comparison lists why each of its methods ended
        assert said.count("Error: ") == 1 or "No method finished" in said, said
    if command == "run":
        assert done.exit_code == case.code, said
        assert re.search(case.error, done.stderr), said


@pytest.mark.parametrize("command", QUICK)
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_an_error_that_helps(
    case: Case, command: str, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    check(case, command, place, caplog)


@pytest.mark.long
@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in QUICK])
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_an_error_that_helps_from_every_command(
    case: Case, command: str, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    check(case, command, place, caplog)
