"""Tables of people with several rows each, and plain counting of people from written files."""

import csv
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

POLICY: dict[str, Any] = {
    "columns": {
        "patient": "person",
        "age": "quasi",
        "sex": {"role": "quasi", "kind": "unordered"},
        "illness": "sensitive",
        "ward": "plain",
    },
    "constraints": [{"k": 5}, {"l": 2, "of": "illness"}],
    "seed": 7,
}


def visits(people: int = 60, most: int = 8, seed: int = 1, same: bool = False) -> pa.Table:
    """People with 1 to `most` visits each (all `most` where `same`), shuffled.

    Age and sex belong to a person, illness and ward to a visit.
    """
    draw = Random(seed)
    rows = []
    for person in range(people):
        age, sex = draw.randint(1, 90), draw.choice("fm")
        for _ in range(most if same else draw.randint(1, most)):
            illness = draw.choice(["flu", "flu", "asthma", "cancer", "cold"])
            rows.append((f"P{person:03d}", age, sex, illness, draw.choice("ABC")))
    draw.shuffle(rows)
    return pa.table(dict(zip(POLICY["columns"], map(list, zip(*rows, strict=True)), strict=True)))


def written_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a written file, as texts."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    return [
        {name: "" if value is None else str(value) for name, value in row.items()}
        for row in pq.read_table(path).to_pylist()
    ]


def people_by_class(key: Path, quasi: list[str], person: str = "person") -> dict[Any, set[str]]:
    """The people of each class of a release, counted plainly in its key."""
    found = defaultdict(set)
    for row in written_rows(key):
        found[tuple(row[name] for name in quasi)].add(row[person])
    return dict(found)


def without_person(rows: list[dict[str, str]], person: str = "person") -> list[tuple[str, ...]]:
    """The rows of a key as those of its release, in an order of their own."""
    return sorted(tuple(v for name, v in row.items() if name != person) for row in rows)
