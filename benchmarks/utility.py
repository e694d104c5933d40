"""What measuring the utility of a release costs, beside making the release.

Both in one process each, one after the other, on the made-up hospital: a run from file to verified file,
then `shoal.utility` of the two files with a target and a query. CPU seconds of all threads. Both were
run on a small table before, which compiles what they need.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import shoal

HERE = Path(__file__).parent
RUN = "import sys, shoal; shoal.run(*sys.argv[1:4], seed=0, force=True)"
SMALL = 10_000
"""Rows of the table that both are run on before."""
MEASURE = (
    "import sys, shoal; found = shoal.utility(*sys.argv[1:4], target='disease', "
    "queries='sex, education'); print(found)"
)


def timed(code: str, *arguments: Path) -> dict[str, float]:
    """The CPU and wall seconds of a process."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": round(cpu, 2), "wall": round(time.perf_counter() - began, 2)}


def both(rows: int, method: str) -> tuple[dict[str, float], dict[str, float]]:
    """What a run and the measurement of its release take."""
    with tempfile.TemporaryDirectory() as folder:
        sample = shoal.write_sample(Path(folder), rows=rows)
        release = Path(folder) / "release.csv"
        words = sample.policy.read_text(encoding="utf-8")
        sample.policy.write_text(words.replace("method: auto ", f"method: {method} "), "utf-8")
        run = timed(RUN, sample.table, sample.policy, release)
        return run, timed(MEASURE, sample.table, release, sample.policy)


def measured(rows: int, method: str) -> dict[str, Any]:
    both(SMALL, method)
    run, utility = both(rows, method)
    ratio = {key: round(utility[key] / run[key], 2) for key in run}
    return {"rows": rows, "method": method, "run": run, "utility": utility, "ratio": ratio}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--method", nargs="+", default=["least-loss-partition", "auto"])
    parser.add_argument("-o", "--output", type=Path, default=HERE / "results" / "utility.json")
    arguments = parser.parse_args()
    found = [measured(rows, method) for method in arguments.method for rows in arguments.rows]
    arguments.output.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
