"""Whether a stronger constraint loses less: random small tables and Adult, with the default method.

A release that holds a stronger constraint holds the weaker one too, so its loss should be no less. Each
table is released along ladders of rising constraints: k beside every model of sensitive values, and the
figure of the model itself. A step is a fall where the loss of the stronger release is more than 1 %
below that of the weaker one. A ladder ends where a constraint cannot be met. All tables follow from
their number; `--first` and `--tables` choose them, and what is done so far is written after each.
Losses are those of the release's own metric. The sample hospital and, where `SHOAL_ADULT` names its
folder, Adult are released with k from 2 to 50, alone and beside models of their sensitive columns.
"""

import argparse
import json
import os
import tempfile
import time
import warnings
from collections.abc import Iterator
from datetime import date
from itertools import chain, pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import yaml

import shoal
from loss import KS as MANY_KS
from loss import QUASI, adult_policy
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
BESIDE_ON_ADULT = {
    "l": 3,
    "entropy-l": 2.5,
    "recursive-l": 3,
    "alpha": 0.5,
    "t": 0.5,
    "beta": 2.0,
    "delta": 1.5,
}


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


def losses_of(table: Any, policy: dict[str, Any], rungs: list[Any]) -> list[float]:
    """The losses along a ladder, as far as its constraints can be met."""
    losses: list[float] = []
    for constraints in rungs:
        try:
            release = shoal.anonymize(table, {**policy, "constraints": constraints})
        except Infeasible:
            break
        losses.append(release.metrics["mean-ncp"] or 0.0)
    return losses


def falls(losses: list[float]) -> list[float]:
    """Per step of a ladder, by which share the loss falls; 0 where it does not."""
    return [max(0.0, 1 - high / low) if low else 0.0 for low, high in pairwise(losses)]


def of_table(number: int) -> tuple[int, int, float, dict[str, list[float]]]:
    """Its number, rows and CPU time, and per ladder the falls."""
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    began = time.process_time()
    table, columns = people(number)
    policy = {"columns": columns, "suppression": 0, "seed": 1}
    found = {name: falls(losses_of(table, policy, rungs)) for name, rungs in ladders()}
    return number, table.num_rows, time.process_time() - began, found


def of_adult(folder: Path) -> Iterator[dict[str, Any]]:
    """k from 2 to 50 alone, with hierarchies and with sets, and beside each model of occupation."""
    adult = pd.read_csv(folder / "adult.csv", sep=";")
    for labels in ("trees", "sets"):
        policy, _ = adult_policy(folder, labels, QUASI, 2)
        yield over_k(f"Adult, {labels}", adult, policy, [])
    policy, _ = adult_policy(folder, "trees", [name for name in QUASI if name != "occupation"], 2)
    policy["columns"]["occupation"] = "sensitive"
    for model, figure in BESIDE_ON_ADULT.items():
        more = {"c": 3} if model == "recursive-l" else {}
        yield over_k("Adult", adult, policy, [{model: figure, "of": "occupation", **more}])


def of_demo() -> Iterator[dict[str, Any]]:
    """k from 2 to 50 on the sample hospital, alone and beside the `l` constraints of its policy."""
    with tempfile.TemporaryDirectory() as made:
        shoal.write_sample(made)
        table = Path(made) / "hospital.csv"
        policy = yaml.safe_load((Path(made) / "policy.yaml").read_text())
        education = policy["columns"]["education"]
        education["hierarchy"] = str(Path(made) / education["hierarchy"])
        models = [model for model in policy["constraints"] if "k" not in model]
        for beside in ([], models):
            yield over_k("demo", table, policy, beside)


def over_k(
    name: str, table: Any, policy: dict[str, Any], beside: list[dict[str, Any]]
) -> dict[str, Any]:
    """The losses for rising k beside other constraints, as far as all can be met."""
    began = time.process_time()
    losses = losses_of(table, policy, [[{"k": k}, *beside] for k in MANY_KS])
    return {
        "table": name,
        "beside": beside,
        "mean_ncp": dict(zip(MANY_KS, (round(x, 5) for x in losses), strict=False)),
        "largest_fall": round(max(falls(losses), default=0.0), 4),
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def summary(done: list[tuple[int, int, float, dict[str, list[float]]]]) -> dict[str, Any]:
    """Steps and falls of all tables so far, ladder by ladder."""
    by_ladder: dict[str, Any] = {}
    for name, _ in ladders():
        fallen = [
            {"table": number, "rows": rows, "step": step, "fall": round(fall, 4)}
            for number, rows, _, found in done
            for step, fall in enumerate(found[name])
            if fall > WITHIN
        ]
        by_ladder[name] = {
            "steps": sum(len(found[name]) for *_, found in done),
            "falls": len(fallen),
            "largest": max((one["fall"] for one in fallen), default=0.0),
            "which": fallen,
        }
    return {
        "date": date.today().isoformat(),
        "tables": len(done),
        "first": done[0][0],
        "steps": sum(one["steps"] for one in by_ladder.values()),
        "falls": sum(one["falls"] for one in by_ladder.values()),
        "cpu_seconds_per_release_by_rows": {
            size: round(
                sum(cpu for _, rows, cpu, _ in done if rows == size)
                / max(1, sum(len(f) + 1 for _, r, _, d in done if r == size for f in d.values())),
                3,
            )
            for size in SIZES
        },
        "ladders": by_ladder,
    }


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tables", type=int, default=40)
    asked.add_argument("--first", type=int, default=0)
    parts = ["over k", "tables"]
    asked.add_argument("--parts", nargs="+", choices=parts, default=parts)
    asked.add_argument("--output", type=Path, default=HERE / "results" / "monotonicity.json")
    given = asked.parse_args()
    result: dict[str, Any] = {}
    if given.output.exists():  # what is not measured now stays
        result = json.loads(given.output.read_text())
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    if "over k" in given.parts:
        known = "SHOAL_ADULT" in os.environ
        result["over k"] = []
        for one in chain(of_demo(), of_adult(Path(os.environ["SHOAL_ADULT"])) if known else ()):
            result["over k"].append(one)
            given.output.write_text(json.dumps(result, indent=1) + "\n")
            print(json.dumps(one), flush=True)
    if "tables" not in given.parts:
        return
    numbers, done = range(given.first, given.first + given.tables), []
    with get_context("spawn").Pool() as pool:
        for one in pool.imap(of_table, numbers):
            done.append(one)
            result = result | summary(done)
            given.output.write_text(json.dumps(result, indent=1) + "\n")
            print(*one[:2], round(one[2], 1), result["steps"], result["falls"], flush=True)


if __name__ == "__main__":
    main()
