"""What `shoal compare` takes beside the methods themselves, on Adult.

    SHOAL_ADULT=FOLDER python benchmarks/compare.py [--by CRITERION]... [-o results/compare.json]

Wall time of the whole command beside the time of its runs, from the table in memory to the verified
release, as the command itself reports it; both from one run, so that their ratio holds on a busy machine
too. The rest is the start of two processes, reading, warming up, risk, and what the criterion needs.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from prediction import POLICY, TARGET, table

ROOT = Path(__file__).parents[1]
METHODS = "flexible-partition,k-clustering,least-loss-partition,local-recoding,mondrian"


def compared(folder: Path, by: str) -> dict[str, Any]:
    """One comparison, in a process of its own."""
    target = ["--target", TARGET] if by == "accuracy" else []
    words = ["compare", "adult.csv", "policy.json", "--methods", METHODS, "--by", by, *target]
    before, began = _cpu(), time.perf_counter()
    made = subprocess.run(
        [sys.executable, "-c", "from shoal.cli.app import main; main()", *words, "--json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        check=True,
    )
    seconds, cpu = time.perf_counter() - began, _cpu() - before
    found = json.loads(made.stdout)
    runs = [one for one in found["outcomes"] if one["status"] == "done"]
    inside = sum(one["seconds"] for one in runs)
    return {
        "recommended": found["recommended"]["method"],
        "figures": {one["method"]: round(one["figure"], 4) for one in runs},
        "wall_seconds": round(seconds, 1),
        "wall_seconds_of_the_methods": round(inside, 1),
        "ratio": round(seconds / inside, 2),
        "cpu_seconds": round(cpu, 1),
    }


def _cpu() -> float:
    """CPU seconds of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--by", action="append", help="criteria; three if not given")
    parser.add_argument(
        "-o", "--output", type=Path, default=ROOT / "benchmarks/results/compare.json"
    )
    asked = parser.parse_args()
    criteria = asked.by or ["relative-non-uniform-entropy", "query-error", "accuracy"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = table()
        rows.to_csv(folder / "adult.csv", index=False)
        policy = {**POLICY, "constraints": [{"k": 10}], "method": "mondrian"}
        (folder / "policy.json").write_text(json.dumps(policy))
        compared(folder, criteria[0])  # the first one compiles what is missing
        found = {
            "machine": {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)},
            "python": platform.python_version(),
            "rows": len(rows),
            "k": 10,
            "by": {by: compared(folder, by) for by in criteria},
        }
    asked.output.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
