"""What the check of truth costs: its share of a whole run, in one process, in wall and CPU seconds.

Aim: at most 15 % of a run at 1M rows. The written file is read back for all checks, which is part of
the step `verify`; the step `truth` compares it with the input, cell by cell.
"""

import argparse
import json
import os
import platform
import tempfile
import time
import warnings
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

import shoal
from child import policy
from shoal.engines.files import LocalFiles
from shoal.engines.memory import MemoryEngine
from shoal.sample.census import census

HERE = Path(__file__).parent
METHODS: dict[str, Any] = {
    "flexible-partition (widest)": {"name": "flexible-partition", "dimension": "widest"},
    "least-loss-partition": {"name": "least-loss-partition"},
}


def run(source: Path, target: Path, method: dict[str, Any]) -> dict[str, float]:
    """One run: the seconds of all steps and of the check, and the same of the processor."""
    spent = 0.0
    real = MemoryEngine.require_truth

    def timed(*arguments: Any) -> None:
        nonlocal spent
        began = time.process_time()
        real(*arguments)
        spent += time.process_time() - began

    MemoryEngine.require_truth = timed  # type: ignore[method-assign]
    began = time.process_time()
    try:
        release = shoal.run(source, policy(method), target, force=True)
    finally:
        MemoryEngine.require_truth = real  # type: ignore[method-assign]
    return {
        "seconds": sum(release.seconds.values()),
        "truth_seconds": release.seconds["truth"],
        "cpu_seconds": time.process_time() - began,
        "truth_cpu_seconds": spent,
    }


def measure(rows: int, repeats: int, folder: Path) -> dict[str, Any]:
    source, target = folder / "census.csv", folder / "out.csv"
    LocalFiles().write(census(2000), source)
    for method in METHODS.values():  # compiles the kernels
        run(source, target, method)
    LocalFiles().write(census(rows), source)
    found: dict[str, Any] = {"rows": rows, "methods": {}}
    for name, method in METHODS.items():
        runs = [run(source, target, method) for _ in range(repeats)]
        found["methods"][name] = {
            "share": median(one["truth_seconds"] / one["seconds"] for one in runs),
            "cpu_share": median(one["truth_cpu_seconds"] / one["cpu_seconds"] for one in runs),
            "runs": runs,
        }
    return found


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, default=1_000_000)
    asked.add_argument("--repeats", type=int, default=3)
    asked.add_argument("--output", type=Path, default=HERE / "results" / "truth.json")
    given = asked.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        found = measure(given.rows, given.repeats, Path(folder))
    content = {
        "date": date.today().isoformat(),
        "version": shoal.__version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "repeats": given.repeats,
        **found,
    }
    given.output.write_text(json.dumps(content, indent=2) + "\n")
    table = Table(title=f"The check of truth, as a share of the run at {given.rows:,} rows")
    for heading in ("method", "of the time", "of the processor's time"):
        table.add_column(heading, justify="left" if heading == "method" else "right")
    for name, one in found["methods"].items():
        table.add_row(name, f"{one['share']:.1%}", f"{one['cpu_share']:.1%}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
