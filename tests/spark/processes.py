"""The processes of this machine, as /proc tells them: who belongs to whom, and ending them by number."""

import os
import signal
import time
from pathlib import Path

PROC = Path("/proc")


def _pids() -> list[int]:
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]


def _read(pid: int, what: str) -> bytes:
    try:
        return Path(PROC, str(pid), what).read_bytes()
    except OSError:
        return b""


def alive(pid: int) -> bool:
    """Whether it runs; one that has ended and is not yet waited for does not."""
    state = _read(pid, "stat").rpartition(b")")[2].split()
    return bool(state) and state[0] not in (b"Z", b"X")


def command(pid: int) -> str:
    return _read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace")


def descendants(pid: int) -> list[int]:
    """The children of a process, their children, and so on."""
    parents = {}
    for each in _pids():
        fields = _read(each, "stat").rpartition(b")")[2].split()
        if len(fields) > 1:
            parents[each] = int(fields[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def marked(name: str, value: str) -> list[int]:
    """Every running process with this in its environment, wherever it hangs."""
    wanted = f"{name}={value}".encode()
    return [
        pid
        for pid in _pids()
        if pid != os.getpid() and wanted in _read(pid, "environ").split(b"\0") and alive(pid)
    ]


def kill(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def until_gone(pids: list[int], seconds: float = 30.0) -> list[int]:
    """Wait for processes to end; gives those that did not."""
    end = time.monotonic() + seconds
    while left := [pid for pid in pids if alive(pid)]:
        if time.monotonic() > end:
            return left
        time.sleep(0.05)
    return []
