"""Kills or fails a run at every step of its commit, and looks at what is left.

A run is made as usual up to its commit. There the process forks again and again; each child commits with
one call of the system broken: it kills itself with SIGKILL before or after the call, or the call fails
(no space, an error of the disk). After each of them

- the old release is whole, or the new one is, or `verify` refuses the files as not belonging together;
- nothing that is left can be read by others, unless it is the old or the finished new release;
- no raw value is in any file that is left;
- the next run puts its release in place, and leaves nothing else behind.

Databases are written by transactions of libraries: whole runs are killed there after random times, and
at every system call from the commit on, by `strace`.

    python -m tests.crashes.harness --times 100 --json benchmarks/results/crashes.json
"""

import argparse
import errno
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import shoal
from shoal.engines.targets import Targets
from shoal.errors import VerificationFailed
from shoal.io.commit import replacing_all, require_whole

CALLS = ("open", "write", "fsync", "rename", "replace", "link", "unlink", "chmod", "mkdir", "rmdir")
"""The functions of `os` that a commit calls."""
MODES = ("kill before", "kill after", "no space", "disk error")
GONE = 2**22 + 1
"""A process number above any that there is."""
CANARY = "canary-7f3a"
"""Part of every raw identifier of the table: it must be nowhere."""


def table(folder: Path, shift: int) -> Path:
    """A table of which the releases differ by `shift`."""
    rows = [
        f"{CANARY}-{i},{20 + shift + i},{1000 + i % 5},{('flu', 'gout', 'cold')[i % 3]}"
        for i in range(24)
    ]
    path = folder / f"table{shift}.csv"
    path.write_text("\n".join(["name,age,zip,ill", *rows]) + "\n")
    return path


POLICY: dict[str, Any] = {
    "columns": {"name": "identifier", "age": "quasi", "zip": "quasi", "ill": "sensitive"},
    "constraints": [{"k": 3}],
    "method": "mondrian",
    "seed": 7,
}
ANATOMY = {**POLICY, "constraints": [{"l": 2, "of": "ill"}], "publish": "anatomy"}

PEOPLE = {
    **POLICY,
    "columns": {"name": "person", "age": "quasi", "zip": "quasi", "ill": "sensitive"},
}
DRAWN = {name: part for name, part in POLICY.items() if name != "seed"}


@dataclass(frozen=True)
class Case:
    """A way to write a release."""

    name: str
    policy: dict[str, Any]
    target: str
    options: dict[str, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    """The files beside the target, as options of the run."""
    existing: bool = True
    """Whether there is an old release."""

    def run(self, folder: Path, shift: int, **more: Any) -> None:
        """Make a release."""
        named = {
            option: folder / name
            for option, name in zip(self.files[::2], self.files[1::2], strict=True)
        }
        shoal.run(
            folder.parent / f"table{shift}.csv",
            self.policy,
            folder / self.target,
            force=True,
            **self.options,
            **named,
            **more,
        )


CASES = (
    Case("in memory", POLICY, "r.csv"),
    Case("in memory, no old release", POLICY, "r.csv", existing=False),
    Case("out of core", POLICY, "r.parquet", {"memory": "500MB"}),
    Case("with reports", POLICY, "r.csv", {}, ("report", "r.json", "external_report", "x.json")),
    Case("reports, out of core", POLICY, "r.csv", {"memory": "500MB"}, ("report", "r.json")),
    Case("reports, no old ones", POLICY, "r.csv", {}, ("report", "r.json"), existing=False),
    Case("anatomy", ANATOMY, "r.csv"),
    Case("anatomy with report", ANATOMY, "r.csv", {}, ("report", "r.json")),
    Case("anatomy, no old release", ANATOMY, "r.csv", existing=False),
    Case("with the key of people", PEOPLE, "r.csv", {}, ("key", "key.parquet", "report", "r.json")),
    Case("pages", POLICY, "r.parquet", {}, ("report", "r.html", "external_report", "x.html")),
    Case("a sheet and a seed", DRAWN, "r.xlsx", {}, ("seed_file", "seed", "report", "r.json")),
    Case("compressed", POLICY, "r.csv.gz", {"memory": "500MB"}, ("external_report", "x.json")),
)


class Breaker:
    """Breaks the n-th call of some functions of `os`."""

    def __init__(self, at: int, mode: str) -> None:
        self.count, self.at, self.mode = 0, at, mode

    def install(self) -> None:
        """Replace the functions, in this process for good."""
        for name in CALLS:
            setattr(os, name, self._broken(getattr(os, name)))

    def _broken(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **keys: Any) -> Any:
            self.count += 1
            if self.count != self.at:
                return real(*args, **keys)
            if self.mode == "no space":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if self.mode == "disk error":
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            if self.mode == "kill after":
                real(*args, **keys)
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError("killed")

        return call


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def visible(files: dict[str, bytes]) -> dict[str, bytes]:
    """Those that are not hidden."""
    return {name: data for name, data in files.items() if not name.startswith(".")}


class Tally:
    """What was found, by case."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.cases: dict[str, Counter[str]] = {}
        if path is not None and path.exists():
            for name, found in json.loads(path.read_text())["cases"].items():
                self.cases[name] = Counter(found)

    def add(self, case: str, mode: str, outcome: str) -> None:
        """Count one child."""
        counted = self.cases.setdefault(case, Counter())
        counted["kills" if mode.startswith("kill") else "failures"] += 1
        counted[outcome] += 1

    @property
    def kills(self) -> int:
        """Processes that were killed."""
        return sum(found["kills"] for found in self.cases.values())

    @property
    def failures(self) -> int:
        """Processes in which a call failed."""
        return sum(found["failures"] for found in self.cases.values())

    def save(self) -> None:
        """Write the result."""
        if self.path is not None:
            found = {
                "kills": self.kills,
                "failures": self.failures,
                "broken": sum(one["broken"] for one in self.cases.values()),
                "cases": {
                    name: dict(sorted(one.items())) for name, one in sorted(self.cases.items())
                },
            }
            self.path.write_text(json.dumps(found, indent=1) + "\n")


@contextmanager
def at_commit(call: Callable[[Targets, Callable[[Targets], None]], None]) -> Iterator[None]:
    """Call something in place of the commit of runs."""
    usual = Targets.commit

    def commit(self: Targets) -> None:
        call(self, usual)

    Targets.commit = commit  # type: ignore[method-assign]
    try:
        yield
    finally:
        Targets.commit = usual  # type: ignore[method-assign]


def crash_commits(case: Case, tally: Tally, modes: tuple[str, ...] = MODES) -> None:
    """Break every call of the commit of a case, in every mode."""
    with tempfile.TemporaryDirectory(prefix="shoal-crash-") as name:
        root = Path(name)
        folder = root / "out"
        folder.mkdir()
        for shift in (0, 40):
            table(root, shift)
        old: dict[str, bytes] = {}
        if case.existing:
            case.run(folder, 0)
            old = contents(folder)

        def commit(targets: Targets, usual: Callable[[Targets], None]) -> None:
            ready = {path.name: path for path in folder.iterdir()}
            start = {
                name: (path.read_bytes(), path.stat().st_mode & 0o777)
                for name, path in ready.items()
            }
            new = _committed(targets, usual, folder)
            for mode in modes:
                for at in range(1, 10_000):
                    _restore(folder, start)
                    status = _child(lambda: usual(targets), at, mode)
                    if status is None:  # all calls were made before
                        break
                    outcome = _judge(case, folder, old, new, at, mode)
                    tally.add(case.name, mode, outcome)
            _restore(folder, start)
            usual(targets)

        with at_commit(commit):
            case.run(folder, 40)


def _committed(
    targets: Targets, usual: Callable[[Targets], None], folder: Path
) -> dict[str, bytes]:
    """The files of the new release, committed by a child."""
    start = {
        path.name: (path.read_bytes(), path.stat().st_mode & 0o777) for path in folder.iterdir()
    }
    assert _child(lambda: usual(targets), 0, "none") is None
    new = contents(folder)
    assert visible(new) == new, "a commit leaves nothing hidden"
    _restore(folder, start)
    return new


def _restore(folder: Path, files: dict[str, tuple[bytes, int]]) -> None:
    shutil.rmtree(folder)
    folder.mkdir()
    for name, (data, mode) in files.items():
        (folder / name).write_bytes(data)
        (folder / name).chmod(mode)


def _child(work: Callable[[], None], at: int, mode: str) -> str | None:
    """Do the work in a forked process with one broken call: what ended it, or None where that call was
    never made."""
    child = os.fork()
    if child == 0:
        breaker = Breaker(at, mode)
        leave = os._exit
        try:
            breaker.install()
            work()
        except BaseException:
            leave(3)
        leave(0 if breaker.count < at or at == 0 else 2)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "killed"
    code = os.WEXITSTATUS(status)
    return None if code == 0 else "failed" if code == 3 else "passed"


def _judge(
    case: Case, folder: Path, old: dict[str, bytes], new: dict[str, bytes], at: int, mode: str
) -> str:
    """What is left after a crash, in a word; "broken" is what must never be."""
    found = contents(folder)
    where = f"{case.name}, {mode} at call {at}"
    for name, data in found.items():
        readable = (folder / name).stat().st_mode & 0o077
        if CANARY.encode() in data or (
            name.startswith(".") and readable and data not in (*old.values(), *new.values())
        ):
            print(f"{where}: {name} can be read", file=sys.stderr)
            return "broken"
    there = visible(found)
    outcome = "old" if there == old else "new" if there == new else "mixed"
    if outcome == "mixed" and not _is_refused(folder / case.target):
        print(f"{where}: {sorted(there)} are of two releases", file=sys.stderr)
        return "broken"
    for path in folder.glob(
        f".*.{os.getpid()}.*"
    ):  # what is left is that of a process that is over
        path.rename(path.with_name(path.name.replace(f".{os.getpid()}.", f".{GONE}.")))
    # the next run
    with replacing_all([folder / name for name in new], force=True) as places:
        for path, data in zip(places.paths, new.values(), strict=True):
            path.write_bytes(data)
        places.commit()
    if contents(folder) != new:
        print(f"{where}: the next run left {sorted(contents(folder))}", file=sys.stderr)
        return "broken"
    return outcome


def _is_refused(path: Path) -> bool:
    """Whether the files are recognised as those of two releases."""
    if not path.exists():
        return True
    try:
        require_whole(path)
    except VerificationFailed:
        return True
    return False


@dataclass(frozen=True)
class Database:
    """A database in a file."""

    name: str
    file: str
    rows: Callable[[Path], list[Any]]

    def write(self, root: Path, shift: int) -> None:
        """Make a release, into a table."""
        scheme = self.name.lower()
        address = f"{scheme}:///{root / self.file}?table=r"
        shoal.run(root / f"table{shift}.csv", POLICY, address, force=True)


def _rows_of_sqlite(file: Path) -> list[Any]:
    with sqlite3.connect(file) as database:
        found = sorted(database.execute("SELECT * FROM r").fetchall())
    database.close()
    return found


def _rows_of_duckdb(file: Path) -> list[Any]:
    """Read by a process of its own: locks of a file belong to processes."""
    words = (
        "import sys, duckdb; print(sorted(duckdb.connect(sys.argv[1]).sql('FROM r').fetchall()))"
    )
    read = subprocess.run([sys.executable, "-c", words, str(file)], capture_output=True, text=True)
    return [read.stdout or read.stderr]


DATABASES = (
    Database("SQLite", "r.sqlite", _rows_of_sqlite),
    Database("DuckDB", "r.duckdb", _rows_of_duckdb),
)
CHANGES = (
    "openat,write,pwrite64,pwritev,fsync,fdatasync,ftruncate,fallocate,rename,renameat,renameat2,"
    "unlink,unlinkat,fchmod"
)
"""The system calls that change a file."""


def crash_databases(tally: Tally, database: Database, times: int, seed: int) -> None:
    """Kill runs into a database after random times, and at every system call of their transaction's
    end where `strace` can do that; the new table is there or the old one, whole."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="shoal-crash-") as name:
        root = Path(name)
        for shift in (0, 40):
            table(root, shift)
        file = root / database.file
        _alone(lambda: database.write(root, 0))
        before, kept = database.rows(file), file.read_bytes()
        begun = time.monotonic()
        _alone(lambda: database.write(root, 40))
        took, after = time.monotonic() - begun, database.rows(file)
        assert before != after

        def judge(mode: str, again: bool) -> None:
            left = b"".join(each.read_bytes() for each in root.glob(f"{database.file}*"))
            rows = database.rows(file)
            outcome = "old" if rows == before else "new" if rows == after else "broken"
            if again:
                _alone(lambda: database.write(root, 40))
                outcome = outcome if database.rows(file) == after else "broken"
            if CANARY.encode() in left:
                outcome = "broken"
            if outcome == "broken":
                print(f"{database.name}, {mode}: {rows}", file=sys.stderr)
            tally.add(f"table of {database.name}", mode, outcome)
            for each in root.glob(f"{database.file}*"):
                each.unlink()
            file.write_bytes(kept)

        for each in root.glob(f"{database.file}*"):
            each.unlink()
        file.write_bytes(kept)
        for i in range(times):
            child = _forked(lambda: database.write(root, 40))
            time.sleep(draw.uniform(0, took * 1.1))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            judge("kill", i % 5 == 0)
        if not shutil.which("strace"):
            print("no strace: system calls of databases are not broken one by one", file=sys.stderr)
            return
        for at in range(1, 2_000):
            if not _killed_at(lambda: database.write(root, 40), at):
                break
            judge(f"kill at call {at}", at % 5 == 0)


def _alone(work: Callable[[], None]) -> None:
    """Do something in a forked process, so that nothing of it is open in this one."""
    _, status = os.waitpid(_forked(work), 0)
    assert not status


def _forked(work: Callable[[], None]) -> int:
    child = os.fork()
    if not child:
        code = 1
        with suppress(BaseException):
            work()
            code = 0
        os._exit(code)
    return child


def _killed_at(work: Callable[[], None], at: int) -> bool:
    """Do the work in a forked process that is killed at a system call of its commit; False where it
    makes fewer calls."""

    def stopped(targets: Targets, usual: Callable[[Targets], None]) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)
        usual(targets)

    def until_commit() -> None:
        with at_commit(stopped):
            work()

    child = _forked(until_commit)
    _, status = os.waitpid(child, os.WUNTRACED)
    assert os.WIFSTOPPED(status), "the run did not come to its commit"
    tracer = subprocess.Popen(
        ["strace", "-f", "-o", os.devnull, "-p", str(child), "-e", f"trace={CHANGES}",
         "-e", f"inject={CHANGES}:signal=SIGKILL:when={at}"],
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert tracer.stderr is not None
    tracer.stderr.readline()  # "Process 123 attached"
    os.kill(child, signal.SIGCONT)
    _, status = os.waitpid(child, 0)
    tracer.stderr.close()
    tracer.wait()
    return os.WIFSIGNALED(status)


def main() -> None:
    """Break every case `times` times over, and databases as often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=1, help="how often each call is broken")
    parser.add_argument("--databases", type=int, default=20, help="kills of runs into a database")
    parser.add_argument("--json", type=Path, help="the result; counts are added to those in it")
    given = parser.parse_args()
    tally = Tally(given.json)
    for _ in range(given.times):
        for case in CASES:
            crash_commits(case, tally)
            tally.save()
            print(
                f"{tally.kills:,} kills, {tally.failures:,} failures after {case.name}", flush=True
            )
    for database in DATABASES:
        crash_databases(tally, database, given.databases, tally.kills)
        tally.save()
        print(f"{tally.kills:,} kills after {database.name}", flush=True)
    print(json.dumps({"kills": tally.kills, "failures": tally.failures}))
    if any(found["broken"] for found in tally.cases.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
