"""Signals end a command in time at every stage, and never after its release is in place."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TOLD = "Interrupted: no incomplete file is left behind."
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")

STUCK = """
import ctypes, os, signal
import shoal.engines.memory as memory
def read(*_, **__):
    os.kill(os.getpid(), signal.{signal})
    ctypes.CDLL(None).sleep(300)  # like a reader in compiled code: it sees no signal
memory.LocalFiles.read = read
from shoal.cli.app import main
main()
"""
QUERY = """
import os, signal, sys
import shoal.engines.memory as memory
import shoal.interruption as interruption
from shoal.engines.duckdb.connection import connection
interruption.GRACE = 100.0  # a busy machine may take long to stop it
def read(*_, **__):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        with connection({size}) as con:  # for hours, unless it is told to stop
            many = "range(10000000)"
            con.sql(f"SELECT sum(a.range * b.range % 7) FROM {{many}} a, {{many}} b").fetchall()
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        raise
memory.LocalFiles.read = read
from shoal.cli.app import main
main()
"""
REMOVING = """
import ctypes, os, shutil, signal, threading
import shoal.engines.duckdb.session as session
usual = shutil.rmtree
def rmtree(folder, **options):
    if threading.current_thread() is not threading.main_thread():
        ctypes.CDLL(None).sleep(300)
    usual(folder, **options)
shutil.rmtree = rmtree
def read(*_, **__):
    os.kill(os.getpid(), signal.SIGTERM)
    while True:  # it sees the signal at once
        threading.Event().wait(0.05)
session.DuckSession.read = read
from shoal.cli.app import main
main()
"""
LATE = """
import ctypes, os, signal, threading
import shoal.cli.console as console
import shoal.engines.memory as memory
from shoal.interruption import register
told, usual = threading.Event(), console.stopped
def stopped():
    try:
        return usual()
    finally:
        told.set()
console.stopped = stopped
def read(*_, **__):
    register(told.wait)  # the main thread is not done before this thread is
    os.kill(os.getpid(), signal.SIGTERM)
    ctypes.CDLL(None).sleep(2)
memory.LocalFiles.read = read
from shoal.cli.app import main
main()
"""
COMMIT = """
import os, signal
import shoal.io.commit as commit
move, done = commit.Replacement.move, commit.commit_all
def moved(self):
    move(self)
    os.kill(os.getpid(), signal.{signal})
def committed(parts):
    done(parts)
    os.kill(os.getpid(), signal.{signal})
{patch}
from shoal.cli.app import main
main()
"""
LEAVING = """
import atexit, os, signal
atexit.register(os.kill, os.getpid(), signal.{signal})
from shoal.cli.app import main
main()
"""
BEFORE = """
import os, signal, threading
import shoal.pipeline.run as run
checked = run.require_unchanged
def check(*args):
    checked(*args)
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(300)
run.require_unchanged = check
from shoal.cli.app import main
main()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = "".join(f"{20 + i},{'flu' if i % 2 else 'gout'}\n" for i in range(12))
    (tmp_path / "t.csv").write_text(f"age,ill\n{rows}")
    (tmp_path / "p.yaml").write_text(
        "columns: {age: quasi, ill: sensitive}\nconstraints: [{k: 2}]\nseed: 1\n"
    )
    return tmp_path


def shoal(folder: Path, code: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, "run", "t.csv", "p.yaml", "-o", "r.csv", *more],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=250,  # far below the time for which the work is stuck
        env=os.environ | {"TMPDIR": str(folder)},
    )


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_work_that_sees_no_signal_is_abandoned(folder: Path, name: str) -> None:
    done = shoal(folder, STUCK.format(signal=name))
    assert done.returncode == 128 + getattr(signal, name)
    assert done.stderr.splitlines() == [TOLD]
    assert sorted(path.name for path in folder.iterdir()) == ["p.yaml", "t.csv"]


@pytest.mark.parametrize("size", [0, 1 << 40])
def test_a_query_is_told_to_stop(folder: Path, size: int) -> None:
    """Of a small task, in the database that all of these share, and of a large one."""
    done = shoal(folder, QUERY.format(size=size))
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr.splitlines() == ["stopped", TOLD]


def test_what_the_work_is_still_removing_is_removed(folder: Path) -> None:
    """A session that unwinds at once, but does not come to the end of removing its files in time."""
    done = shoal(folder, REMOVING, "--memory", "1GB")
    assert done.returncode == 128 + signal.SIGTERM
    assert sorted(path.name for path in folder.iterdir()) == ["p.yaml", "t.csv"]


def test_the_user_is_told_once(folder: Path) -> None:
    done = shoal(folder, LATE)
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr.splitlines() == [TOLD]


@pytest.mark.parametrize(
    "patch",
    [
        "commit.Replacement.move = moved",
        "import shoal.engines.targets as t\nt.commit_all = committed",
    ],
)
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_late_signal_changes_nothing(folder: Path, patch: str, name: str) -> None:
    done = shoal(folder, COMMIT.format(signal=name, patch=patch), "--report", "r.json")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == [
        "p.yaml",
        "r.csv",
        "r.json",
        "t.csv",
    ]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_while_python_leaves_changes_nothing(folder: Path, name: str) -> None:
    """It ended the process with its number, though the release was in place."""
    done = shoal(folder, LEAVING.format(signal=name))
    assert done.returncode == 0, done.stderr
    assert "r.csv" in [path.name for path in folder.iterdir()]


def test_a_signal_just_before_prevents_the_commit(folder: Path) -> None:
    done = shoal(folder, BEFORE)
    assert done.returncode == 130
    assert sorted(path.name for path in folder.iterdir()) == ["p.yaml", "t.csv"]
