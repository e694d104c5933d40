"""Searches over the lattice of Adult: Incognito, and the optimum over every node.

`SHOAL_ADULT` names a folder with `adult.csv` and one hierarchy file per column beside it. Incognito:
8 quasi-identifiers, k = 5, without and with l = 3 of occupation, at 0 % and 5 % suppression; nodes
rolled up from those below, counted anew from the distinct rows, and anew from all rows, in turns. The
optimum: 9 quasi-identifiers, 12,960 nodes, k = 5, by several metrics, at 0 % and 5 % suppression; and
the same with every node visited. Times are of the search alone, the median of several rounds after
one that compiles.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import shoal
from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping
from shoal.methods.base import Method, Progress
from shoal.methods.incognito import Incognito, valid_nodes
from shoal.methods.lattice import Classes, NodeCosts, Traversal
from shoal.methods.optimal import Optimal, costs_of_best
from shoal.models.requirement import Requirement

HERE = Path(__file__).parent
QUASI = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]
METRICS = ["mean-ncp", "dm", "average-class-size", "non-uniform-entropy", "mean-group"]


def silent(share: float) -> None:
    """Nobody watches."""


@dataclass(frozen=True)
class Timed(Method):
    """A method that runs searches in turns on the cells it is given, and keeps their times."""

    searches: Callable[[Cells, Requirement], dict[str, Callable[[], Any]]]
    answer: Incognito | Optimal
    repeats: int
    seconds: dict[str, float] = field(default_factory=dict)

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """The answer's groups, after the searches."""
        found: dict[str, list[float]] = {}
        for turn in range(self.repeats + 1):
            for name, search in self.searches(cells, requirement).items():
                began = time.perf_counter()
                search()
                if turn:
                    found.setdefault(name, []).append(time.perf_counter() - began)
        self.seconds.update({name: median(times) for name, times in found.items()})
        return self.answer.group(cells, requirement, seed, progress)


def subsets(cells: Cells, requirement: Requirement) -> dict[str, Callable[[], Any]]:
    """Incognito's search, from nodes below, from the distinct rows and from all rows."""
    alone = replace(
        cells,
        codes=np.repeat(cells.codes, cells.counts, axis=0),
        starts=np.arange(cells.n_rows + 1, dtype=np.int64),
    )
    judge, single = (Incognito().nodes(c, requirement).judge for c in (cells, alone))
    return {
        "rolled_up": lambda: valid_nodes(judge, silent),
        "from_distinct_rows": lambda: valid_nodes(judge, silent, roll_up=False),
        "from_rows": lambda: valid_nodes(single, silent, roll_up=False),
    }


def optimum(metric: str, cells: Cells, requirement: Requirement) -> dict[str, Callable[[], Any]]:
    """The search for the best node, and one that visits every node."""
    measured = Optimal(metric=metric).nodes(cells, requirement)
    return {
        "optimal": lambda: costs_of_best(measured, silent),
        "every_node": lambda: costs_of_all(measured),
    }


def costs_of_all(measured: NodeCosts) -> np.ndarray:
    """The cost of every valid node, nothing being left out."""
    costs = np.full(measured.counting.lattice.shape, np.nan)

    def look(classes: Classes) -> bool:
        kept = measured.judge.kept(classes)
        if kept is not None:
            costs[classes.levels] = measured.cost(classes, kept)
        return True

    Traversal(measured.counting, look).run(silent)
    return costs


def released(folder: Path, quasi: list[str], method: Timed, diverse: bool, **keys: Any) -> Any:
    """The release, and in it the times."""
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": str(folder / f"adult_hierarchy_{name}.csv")}
        for name in quasi
    }
    constraints: list[dict[str, Any]] = [{"k": 5}]
    if diverse:
        columns["occupation"] = "sensitive"
        constraints.append({"l": 3, "of": "occupation"})
    policy = {"columns": columns, "constraints": constraints, "default": "drop", **keys}
    return shoal.anonymize(folder / "adult.csv", policy, method=method)


def incognito(folder: Path, repeats: int, diverse: bool, suppression: float) -> dict[str, Any]:
    """All minimal nodes of eight columns."""
    method = Timed(subsets, Incognito(), repeats)
    quasi = [name for name in QUASI if name != "occupation"]
    release = released(folder, quasi, method, diverse, suppression=suppression)
    seconds = method.seconds
    return {
        "constraints": "k = 5, l = 3 of occupation" if diverse else "k = 5",
        "suppression": suppression,
        "minimal_nodes": len(release.minimal_nodes),
        "mean_ncp": release.metrics["mean-ncp"],
        "seconds": seconds,
        "times_rolled_up": {
            name: seconds[name] / seconds["rolled_up"] for name in seconds if name != "rolled_up"
        },
    }


def optimal(folder: Path, repeats: int, metric: str, suppression: float) -> dict[str, Any]:
    """The best node of nine columns."""
    method = Timed(lambda c, r: optimum(metric, c, r), Optimal(metric), repeats)
    release = released(folder, QUASI, method, diverse=False, suppression=suppression)
    return {
        "metric": metric,
        "suppression": suppression,
        "figure": release.metrics[metric],
        "suppressed_rows": release.suppressed_rows,
        "levels": {name: int(next(iter(c.levels))) for name, c in release.columns.items()},
        "seconds": method.seconds,
    }


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--repeats", type=int, default=3)
    asked.add_argument("--output", type=Path, default=HERE / "results" / "lattice.json")
    given = asked.parse_args()
    if "SHOAL_ADULT" not in os.environ:
        sys.exit("Adult is not there: set SHOAL_ADULT to the folder that holds adult.csv.")
    folder = Path(os.environ["SHOAL_ADULT"])
    found: dict[str, Any] = {
        "date": date.today().isoformat(),
        "version": shoal.__version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "repeats": given.repeats,
        "incognito": [],
        "optimal": [],
    }
    for suppression, diverse in product((0.0, 0.05), (False, True)):
        one = incognito(folder, given.repeats, diverse, suppression)
        found["incognito"].append(one)
        ratios = ", ".join(f"{n} {x:.1f}" for n, x in one["times_rolled_up"].items())
        print(
            f"incognito, {suppression:.0%}, {one['constraints']}: {one['minimal_nodes']} minimal "
            f"nodes in {one['seconds']['rolled_up']:.3f} s; times as long: {ratios}"
        )
    for suppression in (0.0, 0.05):
        for metric in METRICS:
            one = optimal(folder, given.repeats, metric, suppression)
            found["optimal"].append(one)
            print(
                f"optimal, {suppression:.0%}, {metric}: {one['figure']:.6g} in "
                f"{one['seconds']['optimal']:.2f} s; every node in "
                f"{one['seconds']['every_node']:.2f} s"
            )
    given.output.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
