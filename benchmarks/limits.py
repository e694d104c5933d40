"""Tables that are larger than they look: the memory that a run takes, and whether it can be ended.

    python benchmarks/limits.py                      # both; or: gzip, wide

- A gzip file of some hundred kilobytes with a hundred million rows. A run of it must stay below the
  ceiling, and end within two seconds of a SIGTERM, whatever it is doing.
- A table of a thousand columns and a hundred thousand rows: memory should be a few times the table.

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
import time
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parent / "results" / "limits.json"
MOMENTS = (2.0, 10.0, 30.0, 60.0)
"""Seconds after which a run of the gzip file is ended."""


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a command."""
    return subprocess.Popen(
        [sys.executable, "-m", "shoal.cli.app", *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def peak(pid: int) -> int:
    """The most memory that a process has had, in bytes; 0 when it is over."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    found = [int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM")]
    return found[0] if found else 0


def watched(run: subprocess.Popen[bytes], seconds: float) -> int:
    """The most memory of a process until it ends, or so many seconds are over."""
    most, end = 0, time.monotonic() + seconds
    while run.poll() is None and time.monotonic() < end:
        most = max(most, peak(run.pid))
        time.sleep(0.05)
    return most


def compressed(folder: Path) -> dict[str, Any]:
    """A hundred million rows of two columns in a few hundred kilobytes."""
    rows, piece = 100_000_000, b"34,flu\n" * 1_000_000
    path = folder / "t.csv.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"age,ill\n")
        for _ in range(rows // 1_000_000):
            file.write(piece)
    (folder / "p.yaml").write_text(
        "columns: {age: quasi, ill: sensitive}\nconstraints: [{k: 5}]\nmethod: mondrian\nseed: 1\n"
    )
    found = []
    for seconds in MOMENTS:
        run = start(folder, "run", "t.csv.gz", "p.yaml", "-o", "r.csv")
        most = watched(run, seconds)
        begun = time.monotonic()
        run.send_signal(signal.SIGTERM)
        _, words = run.communicate()
        found.append(
            {
                "after": seconds,
                "ended_in": round(time.monotonic() - begun, 2),
                "code": run.returncode,
                "peak": most,
                "words": words.decode()[-200:],
                "left": sorted({p.name for p in folder.iterdir()} - {"t.csv.gz", "p.yaml"}),
                "load": round(os.getloadavg()[0], 1),
            }
        )
        print(found[-1], flush=True)
    return {
        "rows": rows,
        "file": path.stat().st_size,
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "runs": found,
    }


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
    most = watched(run, 3600)
    _, words = run.communicate()
    size = (folder / "w.csv").stat().st_size
    found = {
        "rows": rows,
        "columns": columns,
        "file": size,
        "peak": most,
        "times_the_file": round(most / size, 1),
        "seconds": round(time.monotonic() - begun, 1),
        "code": run.returncode,
        "words": words.decode()[-200:],
        "load": round(os.getloadavg()[0], 1),
    }
    print(found, flush=True)
    return found


def main() -> None:
    """Measure what was asked for, and keep the rest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", choices=("gzip", "wide"))
    given = parser.parse_args()
    found = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    for name, measure in (("gzip", compressed), ("wide", wide)):
        if not given.what or name in given.what:
            with tempfile.TemporaryDirectory(prefix="shoal-limits-") as folder:
                found[name] = measure(Path(folder))
            RESULT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
