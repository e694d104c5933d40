"""What counting people costs: the same table grouped with and without a person column.

Both are run in turn in one process and compared by their median, since machines are noisy. CPU time of
the step `group` is compared as well as its wall-clock time.
"""

import argparse
import json
import statistics
import time
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import shoal

HERE = Path(__file__).parent
CONSTRAINTS: dict[str, list[dict[str, Any]]] = {
    "k": [{"k": 5}],
    "k and l": [{"k": 5}, {"l": 3, "of": "diagnosis"}],
}
METHODS = ("least-loss-partition", "flexible-partition", "mondrian")


def table_of(rows: int, rows_a_person: int) -> pa.Table:
    """Visits: what a person is stays the same, when and why she came does not."""
    rng = np.random.default_rng(0)
    people = rows // rows_a_person
    person = np.repeat(np.arange(people), rows_a_person)[:rows]

    def of_person(low: int, high: int) -> Any:
        return rng.integers(low, high, people)[person]

    return pa.table(
        {
            "person": pa.array(person),
            "age": np.clip(rng.normal(50, 18, people), 0, 99).astype(int)[person],
            "sex": of_person(0, 2),
            "town": of_person(0, 300),
            "job": of_person(0, 40),
            "day": rng.integers(0, 365, len(person)),
            "ward": rng.integers(0, 25, len(person)),
            "diagnosis": rng.integers(0, 60, len(person)),
        }
    )


def policy(method: str, constraints: list[dict[str, Any]], people: bool) -> dict[str, Any]:
    return {
        "columns": {
            "person": "person" if people else "identifier",
            **dict.fromkeys(("age", "sex", "town", "job", "day", "ward"), "quasi"),
            "diagnosis": "sensitive",
        },
        "constraints": constraints,
        "method": method,
        "seed": 1,
    }


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, default=1_000_000)
    asked.add_argument("--each", type=int, default=3, help="rows a person")
    asked.add_argument("--times", type=int, default=3)
    asked.add_argument("--methods", nargs="+", default=list(METHODS))
    asked.add_argument("--output", type=Path, default=HERE / "results" / "people.json")
    given = asked.parse_args()
    table, small = table_of(given.rows, given.each), table_of(3000, given.each)
    found = []
    for method in given.methods:
        for name, constraints in CONSTRAINTS.items():
            seconds: dict[bool, list[float]] = {True: [], False: []}
            whole: dict[bool, list[float]] = {True: [], False: []}
            loss = {}
            for people in (True, False):
                shoal.anonymize(small, policy(method, constraints, people))  # compiles
            for _ in range(given.times):
                for people in (True, False):
                    before = time.process_time()
                    release = shoal.anonymize(table, policy(method, constraints, people))
                    whole[people].append(time.process_time() - before)
                    seconds[people].append(release.seconds["group"])
                    loss[people] = release.metrics["mean-ncp"]
            middle = {people: statistics.median(all_of) for people, all_of in seconds.items()}
            one = {
                "method": method,
                "constraints": name,
                "group_seconds_people": middle[True],
                "group_seconds_rows": middle[False],
                "ratio": middle[True] / middle[False],
                "cpu_ratio_of_whole_run": statistics.median(whole[True])
                / statistics.median(whole[False]),
                "mean_ncp_people": loss[True],
                "mean_ncp_rows": loss[False],
            }
            found.append(one)
            print(
                f"{method:<22} {name:<8} grouping in people {one['ratio']:.2f} times that in rows "
                f"({middle[True]:.2f} s, {middle[False]:.2f} s), CPU of the run "
                f"{one['cpu_ratio_of_whole_run']:.2f} times",
                flush=True,
            )
    result = {"date": str(date.today()), "rows": given.rows, "rows_a_person": given.each}
    given.output.write_text(json.dumps({**result, "results": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
