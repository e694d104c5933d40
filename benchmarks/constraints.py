"""Time of the climbing methods against rows and against constraints, on the synthetic table.

Aims: time per generalisation step grows no steeper than n^1.1; a million rows with eight constraints
take at most 40 times one DuckDB GROUP BY over the same nine columns, measured in the same run. Time
is that of sorting the coded rows into cells and of grouping them. Each number of constraints runs in
a process of its own, in which sizes, methods and the database take turns after one round that
compiles; ratios are taken inside a round, and the median of the rounds counts.
"""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

import shoal
from shoal.methods.base import Method
from shoal.methods.classfly_plus import ClassflyPlus
from shoal.methods.datafly import Datafly
from shoal.models.requirement import Requirement
from shoal.reproduction.synthetic import (
    COLUMNS,
    CONSTRAINTS,
    cells_of,
    coded,
    columns_named,
    domains,
)

HERE = Path(__file__).parent
METHODS: dict[str, Method] = {
    "datafly": Datafly(),
    "naive": ClassflyPlus("naive"),
    "complete": ClassflyPlus("complete"),
    "partial": ClassflyPlus("partial"),
}
NUMBERS = ("Height", "Weight", "Work_Hrs", "Salary")
STEEPEST, MOST = 1.1, 40


def typed(columns: dict[str, np.ndarray]) -> pa.Table:
    """The table as a user has it: texts, dates and numbers."""
    found = {}
    for name in COLUMNS:
        texts = domains()[name][0].texts
        if name in NUMBERS:
            texts = texts.cast(pa.int64())
        elif name == "Birth":
            texts = texts.cast(pa.date32())
        found[name] = texts.take(pa.array(columns[name]))
    return pa.table(found)


def measure(rows: int, constraints: int) -> dict[str, Any]:
    """One size, once, in this process."""
    asked = Requirement(CONSTRAINTS[:constraints])
    columns, names = coded(rows, seed=0), columns_named(CONSTRAINTS[:constraints])
    seconds: dict[str, float] = {}
    steps: dict[str, int] = {}
    step_seconds: dict[str, float] = {}
    began = time.perf_counter()
    cells = cells_of(columns, names)
    seconds["cells"] = time.perf_counter() - began
    for name, method in METHODS.items():
        reported: list[float] = []
        began = time.perf_counter()
        method.group(cells, asked, 0, lambda _, r=reported: r.append(time.perf_counter()))
        seconds[name] = time.perf_counter() - began
        # the start and every step are reported; what comes before and after is no step
        steps[name] = len(reported) - 1
        step_seconds[name] = (reported[-1] - reported[0]) / steps[name]
    con = duckdb.connect()
    for name, table in (("duckdb", typed(columns)), ("duckdb_codes", pa.table(columns))):
        con.register("t", table)
        began = time.perf_counter()
        con.sql(f"SELECT count(*) FROM t GROUP BY {', '.join(COLUMNS)}").to_arrow_table()
        seconds[name] = time.perf_counter() - began
    return {"rows": rows, "steps": steps, "seconds": seconds, "step_seconds": step_seconds}


def rounds(constraints: int, sizes: list[int], repeats: int) -> dict[str, Any]:
    """Every size in turn, several times, after a first round that compiles."""
    every = [[measure(rows, constraints) for rows in sizes] for _ in range(repeats + 1)][1:]
    return {
        "constraints": constraints,
        "growth_per_step": {name: median(growth(r, name) for r in every) for name in METHODS},
        "times_duckdb": {
            floor: {
                name: median(times_duckdb(r[-1], name, floor) for r in every) for name in METHODS
            }
            for floor in ("duckdb", "duckdb_codes")
        },
        "sizes": [
            {
                "rows": rows,
                "steps": every[0][i]["steps"],
                "seconds": {
                    name: median(r[i]["seconds"][name] for r in every)
                    for name in every[0][i]["seconds"]
                },
            }
            for i, rows in enumerate(sizes)
        ],
    }


def growth(one: list[dict[str, Any]], name: str) -> float:
    """x of n^x, for the time of one step from the fewest rows to the most, in one round."""
    first, last = one[0], one[-1]
    ratio = last["step_seconds"][name] / first["step_seconds"][name]
    return math.log(ratio) / math.log(last["rows"] / first["rows"])


def times_duckdb(one: dict[str, Any], name: str, floor: str) -> float:
    seconds = one["seconds"]
    return float((seconds["cells"] + seconds[name]) / seconds[floor])


def child(constraints: int, sizes: list[int], repeats: int) -> dict[str, Any]:
    given = ["--constraints", str(constraints), "--rows", *map(str, sizes)]
    command = [sys.executable, str(HERE / "constraints.py"), "--child", "--repeats", str(repeats)]
    done = subprocess.run([*command, *given], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def show(found: dict[str, Any]) -> None:
    console = Console(width=100)
    table = Table(title="Milliseconds to group the synthetic table under k constraints (steps)")
    for heading in ("k", "rows", "cells", *METHODS, "GROUP BY", "of codes"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in found["results"]:
        for size in one["sizes"]:
            ms = {name: 1000 * seconds for name, seconds in size["seconds"].items()}
            table.add_row(
                str(one["constraints"]),
                f"{size['rows']:,}",
                f"{ms['cells']:.0f}",
                *(f"{ms[name]:.0f} ({size['steps'][name]})" for name in METHODS),
                f"{ms['duckdb']:.0f}",
                f"{ms['duckdb_codes']:.0f}",
            )
    console.print(table)
    for one in found["results"]:
        words = ", ".join(f"{name} n^{x:.2f}" for name, x in one["growth_per_step"].items())
        console.print(f"a step with {one['constraints']} constraints grows with: {words}")
    console.print(
        f"aim, no steeper than n^{STEEPEST}: {'met' if found['growth_met'] else 'missed'}"
    )
    for floor, ratios in found["results"][-1]["times_duckdb"].items():
        words = ", ".join(f"{name} {x:.1f}" for name, x in ratios.items())
        console.print(f"times {floor}, most rows and constraints: {words}")
    console.print(f"aim, at most {MOST} times: {'met' if found['times_met'] else 'missed'}")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    asked.add_argument("--constraints", type=int, nargs="+", default=[2, 4, 6, 8])
    asked.add_argument("--repeats", type=int, default=5)
    asked.add_argument("--output", type=Path, default=HERE / "results" / "constraints.json")
    asked.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.child:
        print(json.dumps(rounds(given.constraints[0], given.rows, given.repeats)))
        return
    results = [child(c, given.rows, given.repeats) for c in given.constraints]
    found = {
        "date": date.today().isoformat(),
        "version": shoal.__version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "repeats": given.repeats,
        "growth_met": max(x for r in results for x in r["growth_per_step"].values()) <= STEEPEST,
        "times_met": max(results[-1]["times_duckdb"]["duckdb"].values()) <= MOST,
        "results": results,
    }
    given.output.write_text(json.dumps(found, indent=2) + "\n")
    show(found)


if __name__ == "__main__":
    main()
