"""What the check of truth costs: its share of a whole run, in one process, in wall and CPU seconds.

Aim: at most 15 % of a run at 1M rows, with all that only truth needs: the step `truth` compares the
written file with the input, cell by cell; in the step `verify` the whole file is read back, of which the
models need the quasi-identifiers and sensitive columns alone; the bytes of the file are hashed before
and after. What the models would have read anyway is timed too, and not counted.
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
from child import QUASI, policy
from shoal.engines.files import LocalFiles
from shoal.engines.memory import MemoryEngine
from shoal.io.arrow import one_chunk
from shoal.pipeline import run as pipeline
from shoal.sample.census import census
from shoal.threads import each

HERE = Path(__file__).parent
METHODS: dict[str, Any] = {
    "flexible-partition (widest)": {"name": "flexible-partition", "dimension": "widest"},
    "least-loss-partition": {"name": "least-loss-partition"},
}


PARTS = {
    "truth": (MemoryEngine, "require_truth"),
    "read_back": (MemoryEngine, "read_back"),
    "digests": (pipeline, "file_digests"),
}
"""What is timed, and where it is called."""


def run(source: Path, target: Path, method: dict[str, Any]) -> dict[str, dict[str, float]]:
    """One run: the seconds of the whole and of its parts, by the clock and of the processor."""
    spent = {name: [0.0, 0.0] for name in (*PARTS, "run", "models_read")}

    def timed(name: str, function: Any) -> Any:
        def call(*arguments: Any, **more: Any) -> Any:
            began = time.perf_counter(), time.process_time()
            try:
                return function(*arguments, **more)
            finally:
                spent[name][0] += time.perf_counter() - began[0]
                spent[name][1] += time.process_time() - began[1]

        return call

    real = {name: getattr(*place) for name, place in PARTS.items()}
    asked = policy(method)
    try:
        for name, place in PARTS.items():
            setattr(*place, timed(name, real[name]))
        timed("run", shoal.run)(source, asked, target, force=True)
    finally:
        for name, place in PARTS.items():
            setattr(*place, real[name])
    timed("models_read", read_for_models)(target)
    return {
        kind: {name: seconds[i] for name, seconds in spent.items()}
        for i, kind in enumerate(("seconds", "cpu_seconds"))
    }


def read_for_models(target: Path) -> None:
    """Read the columns that the models count, as the run reads them."""
    columns = [*QUASI, "disease"]
    table = LocalFiles().read(target, columns=columns)
    each(lambda name: one_chunk(table.column(name)).dictionary_encode(), columns)


def share(one: dict[str, float]) -> float:
    """Of the run, what only truth needs."""
    only = one["truth"] + one["digests"] + max(0.0, one["read_back"] - one["models_read"])
    return only / one["run"]


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
            "share": median(share(one["seconds"]) for one in runs),
            "cpu_share": median(share(one["cpu_seconds"]) for one in runs),
            "cpu_share_of_comparing": median(
                one["cpu_seconds"]["truth"] / one["cpu_seconds"]["run"] for one in runs
            ),
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
    for heading in ("method", "of the time", "of the processor's time", "comparing alone"):
        table.add_column(heading, justify="left" if heading == "method" else "right")
    for name, one in found["methods"].items():
        figures = (one["share"], one["cpu_share"], one["cpu_share_of_comparing"])
        table.add_row(name, *(f"{figure:.1%}" for figure in figures))
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
