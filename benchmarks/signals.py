"""How soon a run ends after a signal: runs are signalled at many moments, from their start to their end.

    python benchmarks/signals.py --rows 300000 --moments 20

Writes benchmarks/results/signals.json: per way to run, the seconds from the signal to the end of the
process and the load of the machine meanwhile. A run that ended by the signal must have left nothing
behind, and one that was in time must have its release.
"""

import argparse
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

RESULT = Path(__file__).parent / "results" / "signals.json"
POLICY = """\
columns: {age: quasi, zip: quasi, town: quasi, ill: sensitive, note: plain}
constraints: [{k: 5}, {l: 2, of: ill}]
method: least-loss-partition
seed: 1
"""
WAYS = {"in memory": (), "out of core": ("--memory", "1GB"), "gzip": ()}


def write_tables(folder: Path, rows: int) -> None:
    """The table as CSV, plain and gzipped."""
    import gzip

    draw = random.Random(1)
    lines = ["age,zip,town,ill,note"]
    for i in range(rows):
        town, ill = f"town{draw.randrange(300)}", f"ill{draw.randrange(20)}"
        lines.append(f"{draw.randrange(100)},{draw.randrange(10_000)},{town},{ill},{i % 1000}")
    text = "\n".join(lines) + "\n"
    (folder / "t.csv").write_text(text)
    (folder / "t.csv.gz").write_bytes(gzip.compress(text.encode(), 1))
    (folder / "p.yaml").write_text(POLICY)


def start(folder: Path, way: str) -> subprocess.Popen[bytes]:
    """Start a run."""
    table = "t.csv.gz" if way == "gzip" else "t.csv"
    return subprocess.Popen(
        [sys.executable, "-m", "shoal.cli.app", "run", table, "p.yaml", "-o", "r.csv", *WAYS[way]],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(folder / "tmp")},
    )


def signalled(folder: Path, way: str, delay: float, number: int) -> dict[str, Any]:
    """Signal a run after some seconds."""
    kept = {"t.csv", "t.csv.gz", "p.yaml", "tmp"}
    run = start(folder, way)
    time.sleep(delay)
    begun = time.monotonic()
    run.send_signal(number)
    code = run.wait()
    took = time.monotonic() - begun
    there = {path.name for path in folder.iterdir()} - kept
    left = sorted(there - {"r.csv"}) + [path.name for path in (folder / "tmp").iterdir()]
    right = not left and (("r.csv" in there) == (code == 0))
    (folder / "r.csv").unlink(missing_ok=True)
    return {"after": round(delay, 2), "seconds": round(took, 2), "code": code, "right": right}


def main() -> None:
    """Signal runs at many moments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--moments", type=int, default=20)
    given = parser.parse_args()
    # a shell lets what it starts in the background ignore this one, and so would the runs
    signal.signal(signal.SIGINT, signal.default_int_handler)
    found: dict[str, Any] = {"rows": given.rows, "ways": {}}
    with tempfile.TemporaryDirectory(prefix="shoal-signals-") as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        write_tables(folder, given.rows)
        for way in WAYS:
            begun = time.monotonic()
            assert start(folder, way).wait() == 0
            whole = time.monotonic() - begun
            (folder / "r.csv").unlink()
            runs = [
                signalled(folder, way, whole * i / given.moments, number)
                for i in range(1, given.moments + 1)
                for number in (signal.SIGINT, signal.SIGTERM)
            ]
            ended = [run["seconds"] for run in runs if run["code"] != 0]
            found["ways"][way] = {
                "whole_run": round(whole, 2),
                "signalled": len(runs),
                "ended_by_signal": len(ended),
                "longest": max(ended, default=0),
                "median": sorted(ended)[len(ended) // 2] if ended else 0,
                "wrong": sum(not run["right"] for run in runs),
                "load": round(os.getloadavg()[0], 1),
                "runs": runs,
            }
            print(way, {k: v for k, v in found["ways"][way].items() if k != "runs"}, flush=True)
    RESULT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
