"""The bar appears for those who wait, and only for them; lines for machines always."""

import io
import json
import sys
import time
from types import SimpleNamespace

import pytest

from shoal import progress
from shoal.cli import progress as machine
from shoal.progress import ProgressEvent


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
    with progress.displayed(not quiet) as show:
        show(ProgressEvent("read", 0.0))
        show(ProgressEvent("group", 0.42))
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


def test_lines_are_printed_above_the_bar(terminal):
    file = terminal(Terminal(), patience=0)
    with progress.displayed(True) as show:
        show(ProgressEvent("group", 0.42))
        progress.on_screen[-1]("one [b]line[/b]")
    assert "one [b]line[/b]" in file.getvalue()
    assert not progress.on_screen


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
    with pytest.raises(ValueError, match="x"), progress.displayed(True):
        raise ValueError("x")
    shown = file.getvalue()
    time.sleep(0.2)
    assert file.getvalue() == shown


def test_the_bar_shows_rows_and_its_clock_goes_on(terminal):
    file = terminal(Terminal(), patience=0)
    with progress.displayed(True) as show:
        show(ProgressEvent("read", 1.0, rows=5000, total=5000))
        show(ProgressEvent("group", 0.4, rows=2000, total=5000))
        for _ in range(500):
            if "rows" in file.getvalue():
                break
            time.sleep(0.01)
    assert "2,000 of 5,000 rows" in file.getvalue()


def test_counts_fit_the_terminal():
    half = ProgressEvent("read", 0.5, rows=10_000_000, total=20_000_000, tasks=3, total_tasks=80)
    both = "10,000,000 of 20,000,000 rows, 3 of 80 tasks"
    assert progress.counts_text(half, 120) == both
    assert progress.counts_text(half, 80) == "3 of 80 tasks"
    assert progress.counts_text(half, 60) == ""
    assert progress.counts_text(ProgressEvent("read", 0.0, rows=7), 80) == "7 rows"
    assert progress.counts_text(ProgressEvent("read", 0.5), 80) == ""


def test_a_notebook_shows_a_line_that_is_replaced(monkeypatch):
    shown = []
    handle = SimpleNamespace(update=lambda data, **_: shown.append(data["text/plain"]))
    display = SimpleNamespace(display=lambda *_, **__: handle)
    shell = type("ZMQInteractiveShell", (), {})()
    ipython = SimpleNamespace(get_ipython=lambda: shell, display=display)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    with progress.displayed(True) as show:
        show(ProgressEvent("group", 0.4, rows=2000, total=5000))
    assert shown == ["Grouping   40%  2,000 of 5,000 rows"]


def test_a_function_of_the_user_gets_every_event():
    seen = []
    with progress.displayed(seen.append) as show:
        show(ProgressEvent("group", 0.4))
    assert seen == [ProgressEvent("group", 0.4)]


def test_lines_for_machines(monkeypatch):
    file, now = io.StringIO(), [0.0]
    monkeypatch.setattr("sys.stderr", file)
    monkeypatch.setattr(machine.time, "monotonic", lambda: now[0])
    write = machine.progress_of("json", quiet=True)
    for seconds, step, share, rows, tasks in (
        (0, "read", 0, None, None),
        (0.1, "read", 0.1, 1, None),  # too soon
        (1.2, "read", 0.2, 2, None),
        (2.5, "read", 0.2, 2, None),  # nothing new
        (2.6, "read", 0.2, 2, 1),
        (13, "read", 0.2, 2, 1),  # still at work
        (13.1, "read", 1, 10, None),
        (13.2, "read", 1, 10, None),  # ended already
        (13.3, "read", 0, None, None),  # again
        (13.4, "group", 0, None, None),
    ):
        now[0] = seconds
        total, total_tasks = rows and 10, tasks and 4
        write(ProgressEvent(step, share, rows, total, tasks, total_tasks))
    told = [json.loads(line) for line in file.getvalue().splitlines()]
    seconds = [one["seconds"] for one in told]
    assert seconds == [0, 1.2, 2.6, 13, 13.1, 13.3, 13.4]
    assert told[1] == {
        "stage": "read",
        "share": 0.2,
        "rows": 2,
        "of": 10,
        "tasks": None,
        "of_tasks": None,
        "seconds": 1.2,
    }
