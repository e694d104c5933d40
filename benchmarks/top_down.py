"""Loss of top-down beside the partition methods on Adult, and how its time grows.

`SHOAL_ADULT` names a folder with `adult.csv` and one hierarchy file per column beside it. Growth is
measured on rows drawn from Adult with a made-up zip code, so that they do not repeat.
"""

import argparse
import json
import math
import os
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import shoal

HERE = Path(__file__).parent
QUASI = [
    "age",
    "workclass",
    "education",
    "native-country",
    "marital-status",
    "race",
    "sex",
]
METHODS: dict[str, Any] = {
    "top-down": "top-down",
    "least-loss-partition": "least-loss-partition",
    "flexible-partition": "flexible-partition",
    "mondrian": "mondrian",
    "mondrian (relaxed)": {"name": "mondrian", "strict": False},
}


def policy(folder: Path, trees: bool, k: int, method: object) -> dict[str, Any]:
    columns: dict[str, Any] = {"age": {"role": "quasi", "kind": "ordered"}}
    for name in QUASI[1:]:
        tree = str(folder / f"adult_hierarchy_{name}.csv")
        how = {"hierarchy": tree} if trees else {"kind": "unordered"}
        columns[name] = {"role": "quasi", **how}
    return {"columns": columns, "constraints": [{"k": k}], "method": method, "default": "drop"}


def quality(folder: Path, table: pa.Table) -> list[dict[str, Any]]:
    found = []
    for k in (5, 10):
        for trees in (False, True):
            for name, method in METHODS.items():
                release = shoal.anonymize(table, policy(folder, trees, k, method))
                found.append(
                    {
                        "k": k,
                        "labels": "hierarchies" if trees else "sets",
                        "method": name,
                        "mean_ncp": release.metrics["mean-ncp"],
                        "groups": release.groups,
                    }
                )
                print(*found[-1].values(), flush=True)
    return found


def grown(table: pa.Table, rows: int) -> pa.Table:
    """Rows drawn from the table, each with a number of its own drawn from 10,000."""
    rng = np.random.default_rng(1)
    drawn = table.take(pa.array(rng.integers(0, table.num_rows, rows)))
    return drawn.append_column("zip", pa.array(rng.integers(0, 10_000, rows)))


def seconds(table: pa.Table, asked: dict[str, Any], times: int = 3) -> float:
    """The fastest of some runs of the grouping alone."""
    return min(shoal.anonymize(table, asked).seconds["group"] for _ in range(times))


def growth(folder: Path, table: pa.Table) -> dict[str, Any]:
    asked = policy(folder, False, 5, "top-down")
    asked["columns"]["zip"] = "quasi"
    times = {}
    for rows in (10_000, 30_000, 100_000, 300_000):
        times[rows] = seconds(grown(table, rows), asked, 3 if rows < 100_000 else 1)
        print(rows, round(times[rows], 2), flush=True)
    exponent = math.log(times[300_000] / times[10_000]) / math.log(30)
    return {"seconds": times, "exponent": exponent}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--output", type=Path, default=HERE / "results" / "top_down.json")
    given = asked.parse_args()
    if "SHOAL_ADULT" not in os.environ:
        sys.exit("Adult is not there: set SHOAL_ADULT to the folder that holds adult.csv.")
    folder = Path(os.environ["SHOAL_ADULT"])
    began = time.time()
    from shoal.engines.files import LocalFiles

    table = LocalFiles().read(folder / "adult.csv")
    ratios = {}
    found = quality(folder, table)
    for trees in (False, True):
        for k in (5, 10):
            own = seconds(table, policy(folder, trees, k, "top-down"))
            other = seconds(table, policy(folder, trees, k, "flexible-partition"))
            ratios[f"{'hierarchies' if trees else 'sets'} k={k}"] = own / other
    print(ratios, flush=True)
    result = {
        "date": date.today().isoformat(),
        "threads": os.environ.get("SHOAL_THREADS", "all"),
        "rows": table.num_rows,
        "quality": found,
        "times_flexible_partition": ratios,
        "growth": growth(folder, table),
        "took": round(time.time() - began),
    }
    given.output.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
