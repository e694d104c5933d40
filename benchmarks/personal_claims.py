"""The claims made for personalised (α,l)-diversity k-anonymity, on Adult with random diseases.

Loss, recognition rate and time of plain k-anonymity, (α,l)-diversity and the personalised model, all
by top-down, against k and rows, averaged over seeds. One of 8 diseases per row, a level of protection
for a random quarter, l = 4, α = 0.8. `SHOAL_ADULT` names the folder that holds adult.csv.
"""

import argparse
import json
import os
import sys
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from shoal.engines.local import LocalEngine
from top_down import HERE, policy

LEVELS = {
    4: ["HIV", "Cancer"],
    3: ["Phthisis", "Hepatitis"],
    2: ["Heart Disease", "Asthma"],
    1: ["Flu", "Indigestion"],
}
TREE = {
    "any disease": {
        "cardio-respiratory": {
            "respiratory infection": ["Flu", "Phthisis"],
            "chest disease": ["Asthma", "Heart Disease"],
        },
        "other": {
            "digestive disease": ["Indigestion", "Hepatitis"],
            "systemic disease": ["HIV", "Cancer"],
        },
    }
}
VALUES = [value for values in LEVELS.values() for value in values]
DIVERSE = [{"l": 4, "of": "disease"}, {"alpha": 0.8, "of": "disease"}]
MODELS = ("plain", "alpha-l", "personal")


def drawn(table: pa.Table, rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    some = table.take(pa.array(np.sort(rng.permutation(table.num_rows)[:rows])))
    disease = [VALUES[i] for i in rng.integers(0, len(VALUES), rows)]
    wishes = [
        int(level) if asks else None
        for asks, level in zip(rng.random(rows) < 0.25, rng.integers(1, 5, rows), strict=True)
    ]
    return some.append_column("disease", pa.array(disease)).append_column(
        "ppl", pa.array(wishes, pa.int8())
    )


def asked(folder: Path, model: str, k: int, seed: int) -> dict[str, Any]:
    made = policy(folder, True, k, "top-down") | {"seed": seed}
    disease = {"role": "sensitive", "levels": LEVELS, "hierarchy": {"tree": TREE}}
    if model == "personal":
        made["columns"] |= {"disease": disease | {"preference": "ppl"}, "ppl": "preference"}
    else:
        made["columns"] |= {"disease": disease}
    if model != "plain":
        made["constraints"] = [*made["constraints"], *DIVERSE]
    return made


def measured(folder: Path, table: pa.Table, k: int, rows: int, seeds: int) -> dict[str, Any]:
    found: dict[str, Any] = {"k": k, "rows": rows}
    for model in MODELS:
        figures = []
        for seed in range(seeds):
            release = shoal.anonymize(drawn(table, rows, seed), asked(folder, model, k, seed))
            figures.append(
                [
                    release.metrics["ncp"],
                    release.metrics["recognition-rate"],
                    release.seconds["group"],
                    release.suppressed_rows,
                ]
            )
        names = ("ncp", "recognition_rate", "group_seconds", "suppressed_rows")
        found[model] = dict(zip(names, np.mean(figures, axis=0).tolist(), strict=True))
    print(json.dumps(found), flush=True)
    return found


def verdicts(by_k: list[dict[str, Any]], by_rows: list[dict[str, Any]]) -> dict[str, bool]:
    every = [*by_k, *by_rows]

    def rises(points: list[dict[str, Any]], model: str, figure: str) -> bool:
        values = [point[model][figure] for point in points]
        return all(a <= b for a, b in pairwise(values))

    last, first = by_k[-1], by_k[0]
    flat = [point["personal"]["recognition_rate"] for point in by_rows]
    return {
        "loss: personalised >= (alpha,l) >= k": all(
            p["personal"]["ncp"] >= p["alpha-l"]["ncp"] >= p["plain"]["ncp"] for p in every
        ),
        "loss grows with k": all(rises(by_k, model, "ncp") for model in MODELS),
        "loss grows with rows": all(rises(by_rows, model, "ncp") for model in MODELS),
        "(alpha,l) and k meet for large k": last["alpha-l"]["ncp"] / last["plain"]["ncp"] < 1.02,
        "recognition rate: personalised lowest": all(
            p["personal"]["recognition_rate"]
            <= min(p["alpha-l"]["recognition_rate"], p["plain"]["recognition_rate"])
            for p in every
        ),
        "recognition rate falls with k": first["personal"]["recognition_rate"]
        > last["personal"]["recognition_rate"],
        "recognition rate flat in rows": max(flat) / min(flat) < 1.05,
        "times close for larger k": last["personal"]["group_seconds"]
        / last["plain"]["group_seconds"]
        < 1.25,
        "time grows with rows": all(rises(by_rows, model, "group_seconds") for model in MODELS),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 15, 20, 25])
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000, 10_000, 20_000, 30_000])
    parser.add_argument("--rows-by-k", type=int, default=10_000)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "personal_claims.json")
    given = parser.parse_args()
    if "SHOAL_ADULT" not in os.environ:
        sys.exit("Adult is not there: set SHOAL_ADULT to the folder that holds adult.csv.")
    folder = Path(os.environ["SHOAL_ADULT"])
    table = LocalEngine().read(folder / "adult.csv")
    for model in MODELS:  # the first call compiles
        shoal.anonymize(drawn(table, 500, 0), asked(folder, model, 5, 0))
    by_k = [measured(folder, table, k, given.rows_by_k, given.seeds) for k in given.k]
    by_rows = [measured(folder, table, given.k[0], rows, given.seeds) for rows in given.rows]
    claims = verdicts(by_k, by_rows)
    for claim, held in claims.items():
        print("holds " if held else "FAILS ", claim)
    result = {
        "date": date.today().isoformat(),
        "seeds": given.seeds,
        "by_k": by_k,
        "by_rows": by_rows,
        "claims": claims,
    }
    given.output.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
