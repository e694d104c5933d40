"""Private folders go with their session, and those of processes that are gone with the next one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.engines.duckdb.session import DuckSession

CHILD = """
import sys
from pathlib import Path
from shoal.engines.duckdb.session import private_folder
class Owner: pass
owner = Owner()
folder, _ = private_folder(owner, Path(sys.argv[1]))
(folder / "rows").write_text("x")
print(folder, flush=True)
sys.stdin.read()
"""


def killed(place: Path) -> Path:
    """A folder that a process made which was then killed."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(place)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdin is not None
    folder = Path(child.stdout.readline().strip())
    assert folder.is_dir()
    # it is not touched as long as its process lives
    DuckSession("100MB", place).close()
    assert (folder / "rows").is_file()
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdin.close()
    child.stdout.close()
    return folder


def test_folders_of_ended_processes_are_removed(tmp_path: Path) -> None:
    others = [tmp_path / "shoal-mine", tmp_path / "shoal-file"]
    others[0].mkdir()
    others[1].write_text("no folder")
    left = killed(tmp_path)
    assert left.is_dir()
    first = DuckSession("100MB", tmp_path)
    assert not left.exists()
    second = DuckSession("100MB", tmp_path)
    assert len(list(tmp_path.iterdir())) == 4, "two sessions of one process live side by side"
    first.query("SELECT 1 AS one")
    first.close()
    second.close()
    assert sorted(tmp_path.iterdir()) == sorted(others)


FORK = """
import os, sys
from pathlib import Path
from shoal.engines.duckdb.session import private_folder
class Owner: pass
owner = Owner()
folder, remove = private_folder(owner, Path(sys.argv[1]))
child = os.fork()
if child == 0:
    sys.exit(0)
os.waitpid(child, 0)
print(folder.is_dir())
remove()
print(folder.exists())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_does_not_remove_the_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False"]
