"""Loss and time of every method on Adult, categories as sets and with hierarchies.

`SHOAL_ADULT` names a folder with `adult.csv` and one hierarchy file per column beside it.
"""

import argparse
import json
import os
import sys
from datetime import date
from pathlib import Path
from typing import Any

import shoal

HERE = Path(__file__).parent
QUASI = [
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
]
METHODS: dict[str, Any] = {
    "least-loss-partition": "least-loss-partition",
    "flexible-partition": "flexible-partition",
    "flexible-partition (widest)": {"name": "flexible-partition", "dimension": "widest"},
    "mondrian": "mondrian",
    "mondrian (relaxed)": {"name": "mondrian", "strict": False},
    "bottom-up": "bottom-up",
}


def policy(folder: Path, trees: bool, k: int, method: object) -> dict[str, Any]:
    columns: dict[str, Any] = {"age": {"role": "quasi", "kind": "ordered"}}
    for name in QUASI[1:]:
        tree = str(folder / f"adult_hierarchy_{name}.csv")
        how = {"hierarchy": tree} if trees else {"kind": "unordered"}
        columns[name] = {"role": "quasi", **how}
    columns["salary-class"] = "plain"
    return {
        "columns": columns,
        "constraints": [{"k": k}],
        "method": method,
        "target": "salary-class",
        "default": "drop",
    }


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--k", type=int, nargs="+", default=[5, 10])
    asked.add_argument("--output", type=Path, default=HERE / "results" / "adult.json")
    given = asked.parse_args()
    if "SHOAL_ADULT" not in os.environ:
        sys.exit("Adult is not there: set SHOAL_ADULT to the folder that holds adult.csv.")
    folder = Path(os.environ["SHOAL_ADULT"])
    found = []
    for k in given.k:
        for trees in (False, True):
            for name, method in METHODS.items():
                asked_of = policy(folder, trees, k, method)
                for _ in range(2):  # the first call compiles
                    release = shoal.anonymize(folder / "adult.csv", asked_of)
                one = {
                    "k": k,
                    "labels": "hierarchies" if trees else "sets",
                    "method": name,
                    "mean_ncp": release.metrics["mean-ncp"],
                    "groups": release.groups,
                    "dm": release.metrics["dm"],
                    "cm": release.metrics["cm"],
                    "group_seconds": release.seconds["group"],
                }
                found.append(one)
                print(
                    f"k={k} {one['labels']:<11} {name:<27} mean NCP {one['mean_ncp']:.4f}  "
                    f"{one['groups']:,} groups  {one['group_seconds']:.3f} s"
                )
    given.output.write_text(
        json.dumps({"date": date.today().isoformat(), "results": found}, indent=2) + "\n"
    )


if __name__ == "__main__":
    main()
