"""The bar appears for those who wait, and only for them; lines for machines always."""

import io
import json
import time

import pytest

from shoal.cli import progress
from shoal.progress import Done


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


def test_the_bar_shows_rows_and_its_clock_goes_on(terminal):
    file = terminal(Terminal(), patience=0)
    with progress.watching() as watch:
        watch("read", Done(1.0, of=5000))
        watch("group", Done(0.4, of=5000))
        for _ in range(500):
            if "rows" in file.getvalue():
                break
            time.sleep(0.01)
    assert "2,000 of 5,000 rows" in file.getvalue()


def test_counts_fit_the_terminal():
    done = Done(0.5, of=20_000_000, tasks=3, of_tasks=80)
    both = "10,000,000 of 20,000,000 rows, 3 of 80 tasks"
    assert progress.counts_in_words(done, 120) == both
    assert progress.counts_in_words(done, 80) == "3 of 80 tasks"
    assert progress.counts_in_words(done, 60) == ""
    assert progress.counts_in_words(Done(0.0, rows=7), 80) == "7 rows"
    assert progress.counts_in_words(Done(0.5), 80) == ""


def test_lines_for_machines(monkeypatch):
    file, now = io.StringIO(), [0.0]
    monkeypatch.setattr("sys.stderr", file)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.watching(quiet=True, telling="json") as watch:
        for seconds, step, done in (
            (0, "read", Done(0)),
            (0.1, "read", Done(0.1, of=10)),  # too soon
            (1.2, "read", Done(0.2, of=10)),
            (2.5, "read", Done(0.2, of=10)),  # nothing new
            (2.6, "read", Done(0.2, of=10, tasks=1, of_tasks=4)),
            (13, "read", Done(0.2, of=10, tasks=1, of_tasks=4)),  # still at work
            (13.1, "read", Done(1, of=10)),
            (13.2, "read", Done(1, of=10)),  # ended already
            (13.3, "read", Done(0)),  # again
            (13.4, "group", 0.0),
        ):
            now[0] = seconds
            watch(step, done)
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
