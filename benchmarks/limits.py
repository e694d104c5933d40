"""Tables that are larger than they look: the memory that a run takes, and whether it can be ended.

    python benchmarks/limits.py                      # all; or some of: gzip, whole, few, wide, columns

- A gzip file of some hundred kilobytes with a hundred million rows. A run of it must stay below the
  ceiling, and end within two seconds of a SIGTERM, whatever it is doing: it is ended in every step.
- The same file to the end, by default and with --memory 2GB, and one of as many rows of which 3,000 are
  different: the most memory of each step. It must stay below the ceiling.
- A table of a thousand columns and a hundred thousand rows: memory should be a few times the table.
- A table of six rows and ten thousand columns, with few quasi-identifiers, with nearly all columns as
  such, and with the policy that `shoal init` drafts: CPU seconds and memory.

Writes benchmarks/results/limits.json.
"""

import argparse
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parent / "results" / "limits.json"
STEPS = {
    "read": 3.0,
    "encode": 5.0,
    "group": 0.2,
    "publish": 5.0,
    "write": 2.0,
    "verify": 2.0,
    "truth": 1.0,
    "group, default": 4.0,
}
"""In which step a run of the gzip file is ended, and so many seconds after it began; the last one is
that of a run by default, all others are by `ENDED`."""
REPORTING = ("--progress", "json")
MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
ROWS = 100_000_000
POLICIES = {
    "default": "columns: {age: quasi, ill: sensitive}\nconstraints: [{k: 5}]\nseed: 1\n",
}
POLICIES["mondrian"] = POLICIES["default"] + "method: mondrian\n"
WHOLE = (("default", ()), ("mondrian", ("--memory", "2GB")))
"""Policies, and options of whole runs."""
ENDED = WHOLE[1]
"""Policy and options of runs that are ended."""


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a command."""
    return subprocess.Popen(
        [sys.executable, "-m", "shoal.cli.app", *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder / "tmp")} if (folder / "tmp").exists() else None,
    )


def write_table(folder: Path, different: int) -> Path:
    """A hundred million rows of two columns, so many of them different, in a small file."""
    pairs = random.Random(1).sample(range(4_000), different)
    some = [f"{pair // 40},{pair % 40}\n" for pair in pairs]
    lines = ["1,a\n"] if different == 1 else some
    times = 1_000_000 // len(lines)
    piece, rows = "".join(lines * times).encode(), times * len(lines)
    path = folder / "t.csv.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"age,ill\n")
        for _ in range(ROWS // rows):
            file.write(piece)
        file.write(piece[: len("".join((lines * times)[: ROWS % rows]))])
    for name, text in POLICIES.items():
        (folder / f"{name}.yaml").write_text(text)
    return path


class Steps:
    """The steps of a run as it reports them, and the most memory of all its processes in each."""

    def __init__(self, run: subprocess.Popen[bytes]) -> None:
        self.run, self.step, self.words = run, "start", b""
        self.peaks: dict[str, int] = {}
        self.begun = time.monotonic()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.run.stderr is not None
        for line in self.run.stderr:
            if not line.startswith(b'{"stage"'):
                self.words += line
            elif (step := json.loads(line)["stage"]) != self.step:
                self.step, self.begun = step, time.monotonic()

    def watch(self, step: str = "", seconds: float = 0.0) -> None:
        """Until it ends, or has been in a step for so long."""
        while self.run.poll() is None:
            self.peaks[self.step] = max(
                self.peaks.get(self.step, 0), of_all_processes(self.run.pid)
            )
            if self.step == step and time.monotonic() > self.begun + seconds:
                return
            time.sleep(0.05)

    def ended(self) -> str:
        """Wait for the end; what it said."""
        self.run.wait()
        self._reader.join()
        return self.words.decode()[-200:]


def of_all_processes(pid: int) -> int:
    """The memory of a process and all that it has started, in bytes."""
    found, todo = 0, [pid]
    while todo:
        one = Path(f"/proc/{todo.pop()}")
        try:
            found += int((one / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            for task in (one / "task").iterdir():
                todo += map(int, (task / "children").read_text().split())
        except OSError:
            continue
    return found


def compressed(folder: Path, steps: Collection[str] = STEPS) -> dict[str, Any]:
    """Runs that are ended in every step, or in some of them."""
    path, found = write_table(folder, 1), []
    (folder / "tmp").mkdir()
    kept = {file.name for file in folder.iterdir()}
    for named, seconds in STEPS.items():
        if named not in steps:
            continue
        step, _, by_default = named.partition(", ")
        policy, options = WHOLE[0] if by_default else ENDED
        command = ("run", path.name, f"{policy}.yaml", "-o", "r.csv", *options)
        run = Steps(start(folder, *command, *REPORTING))
        run.watch(step, seconds)
        begun = time.monotonic()
        run.run.send_signal(signal.SIGTERM)
        words = run.ended()
        found.append(
            {
                "step": named,
                "in": run.step,
                "after": seconds,
                "ended_in": round(time.monotonic() - begun, 2),
                "code": run.run.returncode,
                "peak": max(run.peaks.values()),
                "words": words,
                "left": sorted({p.name for p in folder.iterdir()} - kept)
                + sorted(p.name for p in (folder / "tmp").iterdir()),
                "load": round(os.getloadavg()[0], 1),
            }
        )
        (folder / "r.csv").unlink(missing_ok=True)
        print(found[-1], flush=True)
    return {"rows": ROWS, "file": path.stat().st_size, "memory": MEMORY, "runs": found}


def whole(folder: Path, different: int = 1) -> dict[str, Any]:
    """Runs to the end."""
    path, found = write_table(folder, different), []
    for policy, options in WHOLE if different == 1 else WHOLE[1:]:
        output = folder / "r.parquet"
        begun = time.monotonic()
        command = ("run", path.name, f"{policy}.yaml", "-o", output.name, *options)
        run = Steps(start(folder, *command, *REPORTING))
        run.watch()
        words = run.ended()
        found.append(
            {
                "policy": policy,
                "options": " ".join(options),
                "code": run.run.returncode,
                "seconds": round(time.monotonic() - begun, 1),
                "peak": max(run.peaks.values()),
                "peaks": run.peaks,
                "release": output.stat().st_size if output.exists() else None,
                "words": "" if run.run.returncode == 0 else words,
                "load": round(os.getloadavg()[0], 1),
            }
        )
        output.unlink(missing_ok=True)
        print(found[-1], flush=True)
    size = path.stat().st_size
    return {"rows": ROWS, "different": different, "file": size, "memory": MEMORY, "runs": found}


def few(folder: Path) -> dict[str, Any]:
    """A whole run of rows of which few are different."""
    return whole(folder, 3_000)


def wide(folder: Path, rows: int = 100_000, columns: int = 1_000) -> dict[str, Any]:
    """Five quasi-identifiers, a sensitive column, and plain columns of small numbers."""
    draw = random.Random(1)
    cells = [str(draw.randrange(100)) for _ in range(columns * 8)]
    with (folder / "w.csv").open("w") as file:
        file.write(",".join(f"c{i}" for i in range(columns)) + "\n")
        for _ in range(rows):
            at = draw.randrange(columns * 7)
            file.write(",".join(cells[at : at + columns]) + "\n")
    roles = {
        f"c{i}": "quasi" if i < 5 else "sensitive" if i == 5 else "plain" for i in range(columns)
    }
    policy = {"columns": roles, "constraints": [{"k": 5}, {"l": 2, "of": "c5"}], "seed": 1}
    (folder / "w.json").write_text(json.dumps({**policy, "method": "mondrian"}))
    begun = time.monotonic()
    run = start(folder, "run", "w.csv", "w.json", "-o", "r.csv")
    assert run.stderr is not None
    words = run.stderr.read()
    _, status, used = os.wait4(run.pid, 0)
    most, size = used.ru_maxrss << 10, (folder / "w.csv").stat().st_size
    found = {
        "rows": rows,
        "columns": columns,
        "file": size,
        "peak": most,
        "times_the_file": round(most / size, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "seconds": round(time.monotonic() - begun, 1),
        "code": os.waitstatus_to_exitcode(status),
        "words": words.decode()[-200:],
        "load": round(os.getloadavg()[0], 1),
    }
    print(found, flush=True)
    return found


def columns(folder: Path, columns: int = 10_000) -> dict[str, Any]:
    """Runs by policies made by hand, a draft and a run by it."""
    draw = random.Random(1)
    with (folder / "w.csv").open("w") as file:
        file.write(",".join(f"c{i}" for i in range(columns)) + "\n")
        for _ in range(6):
            file.write(",".join(str(draw.randrange(100)) for _ in range(columns)) + "\n")
    found: dict[str, Any] = {"rows": 6, "columns": columns, "runs": []}
    commands = []
    for quasi in (5, 100, 1_000, columns - 10):
        roles = {
            f"c{i}": "quasi" if i < quasi else "sensitive" if i == quasi else "plain"
            for i in range(columns)
        }
        policy = {"columns": roles, "constraints": [{"k": 2}], "seed": 1}
        (folder / f"{quasi}.json").write_text(json.dumps(policy))
        words = ("run", "w.csv", f"{quasi}.json", "-o", f"{quasi}.csv")
        commands.append((f"run, {quasi:,} quasi-identifiers", words))
    commands.append(("init", ("init", "w.csv", "-o", "draft.yaml")))
    commands.append(("run, as drafted", ("run", "w.csv", "draft.yaml", "-o", "drafted.csv")))
    for name, command in commands:
        begun, run = time.monotonic(), start(folder, *command)
        assert run.stderr is not None
        said = run.stderr.read().decode()
        _, status, used = os.wait4(run.pid, 0)
        found["runs"].append(
            {
                "command": name,
                "code": os.waitstatus_to_exitcode(status),
                "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
                "seconds": round(time.monotonic() - begun, 1),
                "peak": used.ru_maxrss << 10,
                "words": said[-200:] if status else "",
                "load": round(os.getloadavg()[0], 1),
            }
        )
        print(found["runs"][-1], flush=True)
    return found


def main() -> None:
    """Measure what was asked for, and keep the rest."""
    parser = argparse.ArgumentParser(description=__doc__)
    measures = {"gzip": compressed, "whole": whole, "few": few, "wide": wide, "columns": columns}
    parser.add_argument("what", nargs="*", choices=tuple(measures))
    parser.add_argument("--steps", nargs="*", choices=tuple(STEPS), help="in which gzip is ended")
    given = parser.parse_args()
    found = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    for name, measure in measures.items():
        if not given.what or name in given.what:
            with tempfile.TemporaryDirectory(prefix="shoal-limits-") as folder:
                if name == "gzip" and given.steps:
                    new = compressed(Path(folder), given.steps)
                    old = found.get(name, {}).get("runs", ())
                    before = {run.get("step", run["in"]): run for run in old}
                    runs = before | {run["step"]: run for run in new["runs"]}
                    found[name] = new | {"runs": [runs[step] for step in STEPS if step in runs]}
                else:
                    found[name] = measure(Path(folder))
            RESULT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
