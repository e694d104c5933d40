"""Refinement: what it lowers the loss to on Adult, from several methods, and how long it takes.

`SHOAL_ADULT` names a folder with `adult.csv` and one hierarchy file per column beside it. Every release
is checked again on its published text, by code of this file alone: class sizes, and the loss by widths
of ages and leaves of nodes.
"""

import argparse
import csv
import json
import os
import sys
import time
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

import shoal
from adult import QUASI

HERE = Path(__file__).parent
AIMS = {
    ("age free", 5): 0.0455,
    ("age free", 10): 0.073,
    ("sets", 5): 0.0215,
    ("sets", 10): 0.040,
}
"""Mean NCP to reach from k-clustering with `refine: thorough`."""


def policy(folder: Path, labels: str, k: int, method: object) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name in QUASI:
        if labels == "all trees" or (labels == "age free" and name != "age"):
            columns[name] = {
                "role": "quasi",
                "hierarchy": str(folder / f"adult_hierarchy_{name}.csv"),
            }
        else:
            columns[name] = {"role": "quasi", "kind": "ordered" if name == "age" else "unordered"}
    return {
        "columns": columns,
        "constraints": [{"k": k}],
        "method": method,
        "default": "drop",
        "seed": 1,
    }


def leaves_of(folder: Path) -> dict[str, tuple[dict[str, int], int]]:
    """Per column, the leaves under each label of its hierarchy, and how many there are."""
    found = {}
    for name in QUASI:
        with (folder / f"adult_hierarchy_{name}.csv").open(newline="") as file:
            lines = list(csv.reader(file, delimiter=";"))
        under = Counter(label for line in lines for label in set(line))
        found[name] = (dict(under), len(lines))
    return found


def check(table: pa.Table, raw: pa.Table, labels: str, k: int, folder: Path) -> float:
    """Mean NCP by the published text; raises where a class is too small."""
    columns = [table[name].to_pylist() for name in QUASI]
    rows = list(zip(*columns, strict=True))
    smallest = min(Counter(rows).values())
    if smallest < k or len(rows) != raw.num_rows:
        raise SystemExit(f"A class of {smallest} rows, {len(rows)} rows published.")
    leaves, total = leaves_of(folder), 0.0
    ages = [int(age) for age in raw["age"].to_pylist()]
    for name, column in zip(QUASI, columns, strict=True):
        values = len(set(raw[name].to_pylist()))
        under, n_leaves = leaves[name]
        present = {str(value) for value in raw[name].to_pylist()}
        for label, count in Counter(column).items():
            if name == "age" and labels != "all trees":
                ends = label.strip("[]").split("~")
                lost = (int(ends[-1]) - int(ends[0])) / (max(ages) - min(ages))
            elif labels == "sets":
                members = label.count(", ") + 1 if label.startswith("{") else 1
                lost = 0.0 if members == 1 else members / values
            else:
                lost = 0.0 if str(label) in present else under.get(label, n_leaves) / n_leaves
            total += lost * count
    return total / (len(rows) * len(QUASI))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--methods", nargs="+", default=["k-clustering", "least-loss-partition"])
    asked.add_argument("--labels", nargs="+", default=["age free", "sets", "all trees"])
    asked.add_argument("--k", type=int, nargs="+", default=[5, 10])
    asked.add_argument("--efforts", nargs="+", default=["none", "quick", "thorough"])
    asked.add_argument("--output", type=Path, default=HERE / "results" / "refinement.json")
    given = asked.parse_args()
    if "SHOAL_ADULT" not in os.environ:
        sys.exit("Adult is not there: set SHOAL_ADULT to the folder that holds adult.csv.")
    folder = Path(os.environ["SHOAL_ADULT"])
    raw = pa.csv.read_csv(folder / "adult.csv", parse_options=pa.csv.ParseOptions(delimiter=";"))
    found = []
    for labels in given.labels:
        for method in given.methods:
            for k in given.k:
                for effort in given.efforts:
                    keys = {} if effort == "none" else {"refine": effort}
                    wanted = policy(folder, labels, k, method) | keys
                    if not found:  # the first call compiles
                        shoal.anonymize(raw.slice(0, 500), wanted | {"refine": 1})
                    began = time.process_time()
                    release = shoal.anonymize(raw, wanted)
                    cpu = round(time.process_time() - began, 2)
                    one: dict[str, Any] = {"labels": labels, "method": method, "k": k}
                    one |= {"refine": effort, "mean_ncp": release.metrics["mean-ncp"]}
                    one["recounted"] = check(release.table, raw, labels, k, folder)
                    one |= {
                        f"{step}_seconds": release.seconds.get(step, 0.0)
                        for step in ("group", "refine")
                    }
                    one["cpu_seconds_of_the_run"] = cpu
                    aim = AIMS.get((labels, k))
                    if aim and effort == "thorough" and method == "k-clustering":
                        one |= {"aim": aim, "met": one["mean_ncp"] <= aim}
                    print(one, flush=True)
                    found.append(one)
    given.output.write_text(
        json.dumps({"date": date.today().isoformat(), "results": found}, indent=2) + "\n"
    )


if __name__ == "__main__":
    main()
