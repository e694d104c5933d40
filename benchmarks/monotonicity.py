"""Whether a stronger constraint loses less: random small tables, with the default method.

A release that holds a stronger constraint holds the weaker one too, so its loss should be no less. Each
table is released along ladders of rising constraints: k beside every model of sensitive values, and the
figure of the model itself. A step is a fall where the loss of the stronger release is more than 1 %
below that of the weaker one. A ladder ends where a constraint cannot be met. All tables follow from
their number; `--first` and `--tables` choose them. Losses are those of the release's own metric.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from shoal.errors import Infeasible

HERE = Path(__file__).parent
WITHIN = 0.01
SIZES = (25, 60, 150, 400)
KS = (2, 3, 4, 6, 9)
MODELS: dict[str, tuple[float, list[Any]]] = {
    "l": (2, [1, 2, 3, 4]),
    "entropy-l": (1.5, [1.2, 1.5, 2.0, 2.5]),
    "recursive-l": (2, [1, 2, 3]),
    "alpha": (0.6, [0.8, 0.65, 0.5, 0.4]),
    "t": (0.5, [0.6, 0.5, 0.4, 0.3]),
    "beta": (2.0, [4.0, 2.0, 1.0]),
    "delta": (1.5, [3.0, 1.5, 1.0]),
}
"""The figure beside which k rises, and the figures of the model itself, weakest first."""


def people(number: int) -> tuple[pa.Table, dict[str, Any]]:
    """A random table, and the roles of its columns."""
    rng = np.random.default_rng(1_000 + number)
    n = SIZES[number % len(SIZES)]
    towns = (rng.pareto(1, n) * 2).astype(int) % rng.integers(2, 15)
    ills = (rng.pareto(1.2, n) * 2).astype(int) % 7
    table = pa.table(
        {
            "age": rng.integers(20, 20 + rng.integers(3, 60), n),
            "town": [f"t{i}" for i in towns],
            "zip": [f"{i:03d}" for i in rng.integers(0, rng.integers(5, 200), n)],
            "ill": [f"i{i}" for i in ills],
        }
    )
    intervals = {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}}
    columns = {
        "age": intervals if rng.random() < 0.5 else {"role": "quasi", "kind": "ordered"},
        "town": {"role": "quasi", "kind": "unordered"},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "ill": "sensitive",
    }
    return table, columns


def ladders() -> Iterator[tuple[str, list[list[dict[str, Any]]]]]:
    """The name of each ladder, and its constraints, weakest first."""
    yield "k", [[{"k": k}] for k in KS]
    for model, (beside, figures) in MODELS.items():
        more = {"c": 3} if model == "recursive-l" else {}
        of = {"of": "ill", **more}
        yield f"k beside {model}", [[{"k": k}, {model: beside, **of}] for k in KS]
        yield model, [[{"k": 2}, {model: figure, **of}] for figure in figures]


def falls_of(table: pa.Table, columns: dict[str, Any], rungs: list[Any]) -> list[float]:
    """Per step of a ladder, by which share the loss falls; 0 where it does not."""
    losses: list[float] = []
    for constraints in rungs:
        policy = {"columns": columns, "constraints": constraints, "suppression": 0, "seed": 1}
        try:
            losses.append(shoal.anonymize(table, policy).metrics["mean-ncp"] or 0.0)
        except Infeasible:
            break
    return [max(0.0, 1 - high / low) if low else 0.0 for low, high in pairwise(losses)]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tables", type=int, default=40)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--output", type=Path, default=HERE / "results" / "monotonicity.json")
    given = asked.parse_args()
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    began, found = time.process_time(), {}
    for name, rungs in ladders():
        steps, fallen = 0, []
        for number in range(given.first, given.first + given.tables):
            table, columns = people(number)
            falls = falls_of(table, columns, rungs)
            steps += len(falls)
            for step, fall in enumerate(falls):
                if fall > WITHIN:
                    one = {"table": number, "rows": table.num_rows, "step": step}
                    fallen.append(one | {"fall": round(fall, 4)})
        worst = max((one["fall"] for one in fallen), default=0.0)
        found[name] = {"steps": steps, "falls": len(fallen), "largest": worst, "which": fallen}
        print(name, steps, len(fallen), worst, round(time.process_time() - began, 1), flush=True)
    result = {
        "date": date.today().isoformat(),
        "tables": given.tables,
        "first": given.first,
        "steps": sum(one["steps"] for one in found.values()),
        "falls": sum(one["falls"] for one in found.values()),
        "ladders": found,
    }
    given.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
