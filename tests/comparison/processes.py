"""Whether processes are still there."""

import os
import time
from pathlib import Path


def alive(pid):
    """Whether a process runs; one that only waits to be counted by its parent does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def noted(note):
    """The numbers in a file that a process writes when it runs."""
    for _ in range(6000):
        if note.exists() and note.read_text().endswith(" "):
            return [int(word) for word in note.read_text().split()]
        time.sleep(0.01)
    raise AssertionError("it never ran")


def require_gone(pids):
    """Every one of them ends within a moment."""
    for _ in range(1000):
        if not any(map(alive, pids)):
            return
        time.sleep(0.01)
    raise AssertionError(f"still there: {[pid for pid in pids if alive(pid)]}")
