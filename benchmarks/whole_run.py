"""The whole run beside reading and writing the file, at several sizes.

Aims: at 1M rows at most 3 times the floor with the widest rounded cut and 5 times with the least-loss
partition; growth from the smallest to the largest no steeper than n^1.15; peak memory under 4 times
the table's Arrow size.
"""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
from rich.console import Console
from rich.table import Table

import shoal
from shoal.sample.census import census

HERE = Path(__file__).parent
METHODS: dict[str, Any] = {
    "flexible-partition (widest)": {"name": "flexible-partition", "dimension": "widest"},
    "least-loss-partition": {"name": "least-loss-partition"},
}


def child(*args: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(HERE / "child.py"), *args], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def command(*args: str) -> float:
    """Wall seconds of a whole command, start-up included."""
    import time

    began = time.perf_counter()
    subprocess.run(args, check=True, capture_output=True)
    return time.perf_counter() - began


def measure(rows: int, repeats: int, folder: Path) -> dict[str, Any]:
    source, target = folder / f"census-{rows}.csv", folder / "out.csv"
    con = duckdb.connect()
    table = census(rows)
    con.register("census", table)
    con.execute(f"COPY census TO '{source}' (HEADER)")
    arrow = con.sql(f"SELECT * FROM read_csv('{source}')").to_arrow_table().nbytes
    del table, con
    floors, runs = [], {name: [] for name in METHODS}
    for _ in range(repeats):
        floors.append(child("floor", str(source), str(target))["seconds"])
        for name, method in METHODS.items():
            runs[name].append(child("run", str(source), str(target), json.dumps(method)))
    found: dict[str, Any] = {"rows": rows, "arrow_bytes": arrow, "floor_seconds": median(floors)}
    found["methods"] = {}
    for name, every in runs.items():
        typical = sorted(every, key=lambda one: one["seconds"])[len(every) // 2]
        found["methods"][name] = typical | {
            "over_floor": typical["seconds"] / found["floor_seconds"],
            "memory_over_arrow": max(one["peak_bytes"] for one in every) / arrow,
        }
    source.unlink()
    return found


def show(results: list[dict[str, Any]], growth: dict[str, float]) -> None:
    table = Table(title="The whole run beside reading and writing the file")
    for heading in ("rows", "method", "seconds", "times the floor", "memory / Arrow", "mean NCP"):
        table.add_column(heading, justify="left" if heading == "method" else "right")
    for one in results:
        for name, found in one["methods"].items():
            table.add_row(
                f"{one['rows']:,}",
                name,
                f"{found['seconds']:.2f}",
                f"{found['over_floor']:.2f}",
                f"{found['memory_over_arrow']:.2f}",
                f"{found['mean_ncp']:.4f}",
            )
    console = Console(width=100)
    console.print(table)
    for name, exponent in growth.items():
        console.print(f"{name}: time grows with n^{exponent:.2f}")
    for one in results:
        for name, found in one["methods"].items():
            steps = ", ".join(f"{step} {taken:.2f}" for step, taken in found["steps"].items())
            console.print(f"{one['rows']:,} {name}: {steps}", style="dim")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 5_000_000])
    asked.add_argument("--repeats", type=int, default=3)
    asked.add_argument("--output", type=Path, default=HERE / "results" / "whole_run.json")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = [measure(rows, given.repeats, Path(folder)) for rows in given.rows]
    first, last = results[0], results[-1]
    growth = {
        name: math.log(last["methods"][name]["seconds"] / first["methods"][name]["seconds"])
        / math.log(last["rows"] / first["rows"])
        for name in METHODS
        if last["rows"] > first["rows"]
    }
    given.output.write_text(
        json.dumps(
            {
                "date": date.today().isoformat(),
                "version": shoal.__version__,
                "python": platform.python_version(),
                "cores": os.cpu_count(),
                "repeats": given.repeats,
                "growth_exponent": growth,
                "results": results,
            },
            indent=2,
        )
        + "\n"
    )
    show(results, growth)


if __name__ == "__main__":
    main()
