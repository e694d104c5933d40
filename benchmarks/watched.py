"""Run a command and account for every process that it starts, wherever that hangs: Linux only.

All carry a mark in their environment. What each took is read from /proc every second, so the
last moments of a process may be missed, and the highest peak.
"""

import os
import subprocess
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MARK = "SHOAL_WATCHED"
LOOK_SECONDS = 1.0
"""A look at a process of some GB takes several hundredths of a second."""
TICKS = os.sysconf("SC_CLK_TCK")
ROLES = {
    "deploy.master.Master": "master",
    "deploy.worker.Worker": "worker",
    "CoarseGrainedExecutorBackend": "executor",
    "deploy.SparkSubmit": "driver",
    "spark.daemon": "python",
}
"""By a part of the command line; all else is the command itself."""


@dataclass
class Seen:
    """One process, as it was last seen."""

    role: str
    parent: int
    cpu: float = 0.0
    bytes: int = 0


@dataclass
class Watch:
    """What the marked processes take from now on."""

    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    seen: dict[int, Seen] = field(default_factory=dict)
    peak: int = 0
    by_role: dict[str, int] = field(default_factory=dict)
    """Peak of all processes of a role together."""
    executor: int = 0
    """Peak of one executor with its Python processes."""
    began: dict[str, float] = field(default_factory=dict)
    """CPU seconds of each role before."""
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self.look()
        self.began = self._cpu()
        self.peak, self.executor, self.by_role = 0, 0, {}
        self._over.clear()
        self._thread = threading.Thread(target=self._go, daemon=True)
        self._thread.start()

    def stop(self) -> dict[str, object]:
        """What was taken since the start."""
        self.look()
        self._over.set()
        assert self._thread is not None
        self._thread.join()
        cpu = {role: spent - self.began.get(role, 0.0) for role, spent in self._cpu().items()}
        return {
            "cpu_seconds": sum(cpu.values()),
            "cpu_by_role": dict(sorted(cpu.items())),
            "peak_bytes": self.peak,
            "peak_by_role": dict(sorted(self.by_role.items())),
            "peak_of_an_executor": self.executor or None,
        }

    def _cpu(self) -> dict[str, float]:
        spent: dict[str, float] = {}
        for one in self.seen.values():
            spent[one.role] = spent.get(one.role, 0.0) + one.cpu
        return spent

    def _go(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            self.look()

    def look(self) -> None:
        running = set()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and (pid := int(entry.name)) != os.getpid():
                try:
                    if self._look_at(pid, entry):
                        running.add(pid)
                except (OSError, ValueError, IndexError):
                    continue  # it has just ended
        now = {pid: one for pid, one in self.seen.items() if pid in running}
        held = sum(one.bytes for one in now.values())
        self.peak = max(self.peak, held)
        roles: dict[str, int] = {}
        for one in now.values():
            roles[one.role] = roles.get(one.role, 0) + one.bytes
        for role, size in roles.items():
            self.by_role[role] = max(self.by_role.get(role, 0), size)
        for pid, one in now.items():
            if one.role == "executor":
                own = one.bytes + sum(now[child].bytes for child in _under(now, pid))
                self.executor = max(self.executor, own)

    def _look_at(self, pid: int, entry: Path) -> bool:
        mark = f"{MARK}={self.mark}".encode()
        if pid not in self.seen and mark not in (entry / "environ").read_bytes().split(b"\0"):
            return False
        stat = (entry / "stat").read_bytes().rpartition(b")")[2].split()
        if stat[0] in (b"Z", b"X"):
            return False
        command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        role = next((role for part, role in ROLES.items() if part in command), "command")
        one = self.seen.setdefault(pid, Seen(role, int(stat[1])))
        one.role = role  # a shell that starts Java becomes Java
        one.cpu = (int(stat[11]) + int(stat[12])) / TICKS
        one.bytes = _own_bytes(entry)
        return True


def _own_bytes(entry: Path) -> int:
    """Memory of a process, what it shares with others counted in parts."""
    for line in (entry / "smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    raise ValueError(entry)


def _under(now: Mapping[int, Seen], pid: int) -> list[int]:
    found = [pid]
    for one in found:
        found += [child for child, seen in now.items() if seen.parent == one]
    return found[1:]


def watched(
    command: Sequence[str], watch: Watch, env: Mapping[str, str]
) -> tuple[dict[str, object], str]:
    """Run a command; gives what it and all marked processes took, and what it printed."""
    watch.start()
    began = time.perf_counter()
    done = subprocess.run(
        list(command),
        env={**os.environ, **env, MARK: watch.mark},
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    seconds = time.perf_counter() - began
    taken = watch.stop()
    if done.returncode:
        told = done.stdout + done.stderr
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{told}")
    return {"seconds": seconds, **taken}, done.stdout
