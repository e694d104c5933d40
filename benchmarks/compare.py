"""What `shoal compare` takes beside the methods themselves, on Adult.

    SHOAL_ADULT=FOLDER python benchmarks/compare.py [--by CRITERION]... [-o results/compare.json]

Wall time of the whole command beside the time of its runs, from the table in memory to the verified
release, and by accuracy that of the models, which are trained on a release of their own; both as the
command itself reports them. The rest is overhead: the start of two processes, reading, warming up and
risk. Once on Adult, and once on ten times as many rows. Run it on a quiet machine.
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

import numpy as np
import pandas as pd

from prediction import POLICY, TARGET, table

ROOT = Path(__file__).parents[1]
LOSS = "relative-non-uniform-entropy"
TIMES = 10
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
    methods = sum(one["seconds"] for one in runs)
    models = sum(one["models"]["seconds"] for one in runs if one["models"])
    return {
        "recommended": found["recommended"]["method"],
        "figures": {one["method"]: round(one["figure"], 4) for one in runs},
        "wall_seconds": round(seconds, 1),
        "wall_seconds_of_the_methods": round(methods, 1),
        "wall_seconds_of_the_models": round(models, 1),
        "overhead_seconds": round(seconds - methods - models, 1),
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
    criteria, random = asked.by or [LOSS, "query-error", "accuracy"], np.random.default_rng(1)
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
        more = pd.concat([rows] * TIMES, ignore_index=True)
        more["age"] += random.integers(-3, 4, len(more))
        more.to_csv(folder / "adult.csv", index=False)
        found["ten_times_the_rows"] = {"rows": len(more), "by": {LOSS: compared(folder, LOSS)}}
    asked.output.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
