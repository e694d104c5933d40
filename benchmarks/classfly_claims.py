"""What the Classfly+ paper claims of its methods, asked of ours on its synthetic table.

Precision against rows for the first two and the first four constraints; time against rows and
against constraints. Every claim is printed with our figures, whether it held or not.
"""

import argparse
import json
import platform
import time
from collections.abc import Callable, Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import shoal
from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.cells.spans import spans_of
from shoal.methods.base import Method
from shoal.methods.classfly_plus import ClassflyPlus
from shoal.methods.datafly import Datafly
from shoal.metrics.base import Parts
from shoal.metrics.precision import Precision
from shoal.models.requirement import Requirement
from synthetic import CONSTRAINTS, cells_of, coded, columns_named

HERE = Path(__file__).parent
METHODS: dict[str, Method] = {
    "datafly": Datafly(),
    "naive": ClassflyPlus("naive"),
    "complete": ClassflyPlus("complete"),
    "partial": ClassflyPlus("partial"),
}
FAMILY = ("naive", "complete", "partial")
ROWS = range(1024, 10241, 1024)
SETS = (2, 4)
SIZES = range(2, 9)
ALIKE = 0.25
"""Two times are about the same when they differ by no more than this share."""

Series = dict[str, list[float]]


def grouped(cells: Cells, method: Method, constraints: int) -> tuple[Grouping, ...]:
    return method.group(cells, Requirement(CONSTRAINTS[:constraints]), 0, lambda _: None)


def precision_of(cells: Cells, groupings: tuple[Grouping, ...]) -> float:
    spans = tuple(spans_of(cells, grouping) for grouping in groupings)
    nothing = np.zeros(cells.n_rows, np.bool_)
    found = Precision().measure(Parts(cells, groupings, spans, 0, nothing, None))
    assert found is not None
    return found


def same(one: Sequence[Grouping], other: Sequence[Grouping]) -> bool:
    """Whether two answers publish the same table, cell for cell."""
    return all(
        np.array_equal(a.group < 0, b.group < 0)
        and np.array_equal(
            np.where(a.group[:, None] < 0, -1, a.levels[a.group]),  # type: ignore[index]
            np.where(b.group[:, None] < 0, -1, b.levels[b.group]),  # type: ignore[index]
        )
        for a, b in zip(one, other, strict=True)
    )


def precisions(constraints: int, tables: int) -> tuple[Series, int]:
    """Mean precision against rows, and at how many points complete and partial differ."""
    found: Series = {name: [] for name in METHODS}
    differ = 0
    for rows in ROWS:
        every: Series = {name: [] for name in METHODS}
        for seed in range(tables):
            cells = cells_of(coded(rows, seed), columns_named(CONSTRAINTS[:constraints]))
            answers = {
                name: grouped(cells, method, constraints) for name, method in METHODS.items()
            }
            for name, answer in answers.items():
                every[name].append(precision_of(cells, answer))
            differ += not same(answers["complete"], answers["partial"])
        for name in METHODS:
            found[name].append(mean(every[name]))
    return found, differ


def times(points: Sequence[tuple[int, int]], repeats: int) -> Series:
    """Seconds at each (rows, constraints), the methods taking turns.

    The fastest of the repeats counts: at a few milliseconds all above it is other work of the machine.
    """
    found: Series = {name: [] for name in METHODS}
    for rows, constraints in points:
        cells = cells_of(coded(rows, 0), columns_named(CONSTRAINTS[:constraints]))
        every: Series = {name: [] for name in METHODS}
        for _ in range(repeats):
            for name, method in METHODS.items():
                began = time.perf_counter()
                grouped(cells, method, constraints)
                every[name].append(time.perf_counter() - began)
        for name in METHODS:
            found[name].append(min(every[name]))
    return found


def lead(found: Series, over: str) -> list[float]:
    """How far complete lies above another method at each point, in per cent of that."""
    return [100 * (a / b - 1) for a, b in zip(found["complete"], found[over], strict=True)]


def rises(values: Sequence[float]) -> int:
    return sum(after > before for before, after in pairwise(values))


def claims(measured: dict[str, Any]) -> list[dict[str, Any]]:
    two, four = measured["precision"]["2"], measured["precision"]["4"]
    by_rows, by_size = measured["seconds_by_rows"], measured["seconds_by_constraints"]
    points = len(ROWS)

    def where(holds: Callable[[int], bool]) -> int:
        return sum(holds(i) for i in range(points))

    differ = sum(measured["complete_differs_from_partial"].values())
    leads = [mean(lead(two, "datafly")), mean(lead(four, "datafly"))]
    above = where(lambda i: two["naive"][i] > two["datafly"][i])
    below = where(lambda i: four["naive"][i] < four["datafly"][i])
    risen = {
        (size, name): rises(found[name])
        for size, found in (("2", two), ("4", four))
        for name in FAMILY
    }
    slowest = where(lambda i: max(by_rows, key=lambda name: by_rows[name][i]) == "naive")
    ratio = mean(by_rows["partial"]) / mean(by_rows["complete"])
    ratio8 = by_size["partial"][-1] / by_size["complete"][-1]
    fastest = min(by_size, key=lambda name: by_size[name][-1])
    last = ", ".join(f"{name} {1000 * by_size[name][-1]:.1f} ms" for name in METHODS)
    ends_rows = {name: by_rows[name][-1] / by_rows[name][0] for name in METHODS}
    ends_size = {name: by_size[name][-1] / by_size[name][0] for name in METHODS}
    listed = [
        (
            "precision of complete = partial at every point",
            differ == 0,
            f"cell for cell the same on {2 * points * measured['tables'] - differ} of "
            f"{2 * points * measured['tables']} tables",
        ),
        (
            "precision of complete 10-20 % above datafly on average",
            all(10 <= one <= 20 for one in leads),
            f"{leads[0]:+.1f} % on C1, C2; {leads[1]:+.1f} % on C1 to C4",
        ),
        ("naive above datafly on C1, C2", above == points, f"at {above} of {points} points"),
        ("naive below datafly on C1 to C4", below == points, f"at {below} of {points} points"),
        (
            "precision of the family rises with rows",
            all(found[name][-1] > found[name][0] for found in (two, four) for name in FAMILY)
            and min(risen.values()) > (points - 1) // 2,
            "; ".join(
                f"{words}: "
                + ", ".join(
                    f"{name} {found[name][0]:.3f} to {found[name][-1]:.3f}" for name in FAMILY[:2]
                )
                for words, found in (("C1, C2", two), ("C1 to C4", four))
            )
            + f"; up in {sum(risen.values())} of {len(risen) * (points - 1)} steps",
        ),
        ("naive slowest on C1 to C4", slowest == points, f"at {slowest} of {points} points"),
        (
            "complete and partial take about the same time",
            abs(ratio - 1) <= ALIKE and abs(ratio8 - 1) <= ALIKE,
            f"partial / complete {ratio:.2f} on C1 to C4, {ratio8:.2f} at 8 constraints",
        ),
        ("datafly fastest at 8 constraints", fastest == "datafly", f"fastest: {fastest}; {last}"),
        (
            "time rises with the number of constraints",
            min(ends_size.values()) > 1,
            "from 2 to 8: " + ", ".join(f"{n} x{x:.1f}" for n, x in ends_size.items()),
        ),
        (
            "time rises with rows",
            min(ends_rows.values()) > 1,
            "from 1,024 to 10,240: " + ", ".join(f"{n} x{x:.1f}" for n, x in ends_rows.items()),
        ),
    ]
    return [{"claim": claim, "held": bool(held), "ours": ours} for claim, held, ours in listed]


def markdown(measured: dict[str, Any]) -> list[str]:
    """The claims as lines of a table."""
    return [
        f"| {one['claim']} | {'held' if one['held'] else 'did not hold'} | {one['ours']} |"
        for one in measured["claims"]
    ]


def show(measured: dict[str, Any]) -> None:
    console = Console(width=100)
    for size in SETS:
        table = Table(title=f"Precision, the first {size} constraints")
        for heading in ("rows", *METHODS):
            table.add_column(heading, justify="right")
        for i, rows in enumerate(ROWS):
            found = measured["precision"][str(size)]
            table.add_row(f"{rows:,}", *(f"{found[name][i]:.4f}" for name in METHODS))
        console.print(table)
    for title, points, found in (
        ("Milliseconds, C1 to C4, by rows", ROWS, measured["seconds_by_rows"]),
        ("Milliseconds, 10,240 rows, by constraints", SIZES, measured["seconds_by_constraints"]),
    ):
        table = Table(title=title)
        for heading in ("", *METHODS):
            table.add_column(heading, justify="right")
        for i, point in enumerate(points):
            table.add_row(f"{point:,}", *(f"{1000 * found[name][i]:.1f}" for name in METHODS))
        console.print(table)
    for one in measured["claims"]:
        console.print(f"[bold]{'held' if one['held'] else 'did not hold'}[/]: {one['claim']}")
        console.print(f"    {one['ours']}")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument(
        "--tables", type=int, default=10, help="tables that precision is averaged over"
    )
    asked.add_argument("--repeats", type=int, default=21)
    asked.add_argument("--output", type=Path, default=HERE / "results" / "classfly_claims.json")
    given = asked.parse_args()
    precision, differ = {}, {}
    for size in SETS:
        precision[str(size)], differ[str(size)] = precisions(size, given.tables)
    measured: dict[str, Any] = {
        "date": date.today().isoformat(),
        "version": shoal.__version__,
        "python": platform.python_version(),
        "tables": given.tables,
        "repeats": given.repeats,
        "rows": list(ROWS),
        "constraints": list(SIZES),
        "precision": precision,
        "complete_differs_from_partial": differ,
        "seconds_by_rows": times([(rows, 4) for rows in ROWS], given.repeats),
        "seconds_by_constraints": times([(ROWS[-1], size) for size in SIZES], given.repeats),
    }
    measured["claims"] = claims(measured)
    given.output.write_text(json.dumps(measured, indent=2) + "\n")
    show(measured)


if __name__ == "__main__":
    main()
