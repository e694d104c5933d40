"""The bar appears for those who wait, and only for them."""

import io
import time

import pytest

from shoal.cli import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """A terminal with somebody before it, once `attach` is called in the test itself: pytest takes
    standard error back between a fixture and its test."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")

    def attach(file, patience):
        monkeypatch.setattr(progress, "PATIENCE", patience)
        monkeypatch.setattr("sys.stderr", file)
        return file

    return attach


def work(file, quiet=False, until="Grouping"):
    with progress.watching(quiet) as watch:
        watch("read", 0.0)
        watch("group", 0.42)
        for _ in range(500):
            if until in file.getvalue():
                return
            time.sleep(0.01)


def test_quick_work_shows_nothing(terminal):
    file = terminal(Terminal(), patience=60)
    work(file, until="")
    assert "Grouping" not in file.getvalue()


def test_long_work_shows_the_step_and_its_share(terminal):
    file = terminal(Terminal(), patience=0)
    work(file)
    assert "42%" in file.getvalue()


def test_quiet_work_shows_nothing(terminal):
    file = terminal(Terminal(), patience=0)
    work(file, quiet=True, until="")
    assert file.getvalue() == ""


def test_a_file_gets_nothing(terminal):
    file = terminal(io.StringIO(), patience=0)
    work(file, until="")
    assert file.getvalue() == ""


def test_an_error_ends_the_bar(terminal):
    file = terminal(Terminal(), patience=0)
    with pytest.raises(ValueError, match="x"), progress.watching():
        raise ValueError("x")
    shown = file.getvalue()
    time.sleep(0.2)
    assert file.getvalue() == shown
