"""The automatic choice: which method for which table, the same on every engine, and said aloud."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.encoding.domain import Domain, Kind
from shoal.methods.auto import Auto, Facts
from shoal.models.alpha import Alpha
from shoal.models.base import Model
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement
from shoal.testing import check_method

FEW = Domain("sex", Kind.SET, pa.array(["f", "m", None]), 2)
MANY = Domain("zip", Kind.SET, pa.array([str(i) for i in range(6)]), -1)
WIDE = Domain("address", Kind.SET, pa.array([str(i) for i in range(2_001)]), -1)
ONLY_K: tuple[Model, ...] = (K(5),)


def test_conformance() -> None:
    check_method(Auto, tables=2)


@pytest.mark.parametrize(
    ("domains", "rows", "models", "more", "method", "why"),
    [
        ((FEW,), 1_000, ONLY_K, {}, "local-recoding", "0 of 1 quasi-identifiers have more than"),
        ((FEW,) * 4 + (MANY,), 5_000_000, ONLY_K, {}, "local-recoding", "1 of 5"),
        ((FEW,), 99, ONLY_K, {}, "k-clustering", "fewer than 100 rows"),
        ((FEW,), 99, (Alpha(0.5, "ill"),), {}, "local-recoding", "0 of 1"),
        ((MANY,), 99, (K(5), L(2, "ill")), {}, "local-recoding", "give sensitive values away"),
        ((FEW,), 5_000_001, ONLY_K, {}, "least-loss-partition", "more than 5,000,000 rows"),
        ((FEW, MANY), 1_000, (K(5), L(2, "ill")), {}, "k-clustering", "1 of 2"),
        ((FEW, MANY), 100_001, ONLY_K, {}, "local-recoding", "1 of 2"),
        ((MANY,), 100_001, ONLY_K, {}, "least-loss-partition", "more than 100,000 rows"),
        ((WIDE,), 99_000, ONLY_K, {}, "k-clustering", "1 of 1"),
        ((WIDE,), 100_000, ONLY_K, {}, "least-loss-partition", "one of them has very many"),
        ((FEW, WIDE), 100_000, ONLY_K, {}, "local-recoding", "1 of 2"),
        ((MANY,), 1_000, (Alpha(0.5, "ill"),), {}, "local-recoding", "need not give one that does"),
        ((MANY,), 1_000, ONLY_K, {"starred": True}, "local-recoding", "starred"),
        ((MANY,), 1_000, ONLY_K, {"anatomy": True}, "least-loss-partition", "as they are"),
    ],
)
def test_the_rules(
    domains: tuple[Domain, ...],
    rows: int,
    models: tuple[Model, ...],
    more: dict[str, Any],
    method: str,
    why: str,
) -> None:
    choice = Auto().choose(Facts(domains, rows, Requirement(models), **more))
    assert choice.method.name == method
    assert why in choice.reason
    # refined where all rows are in one block on every engine
    assert choice.refine == ("quick" if choice.method.block_rows else None)
    refined = method != "least-loss-partition" and rows <= 100_000 and not more
    assert choice.method.block_rows == (100_000 if refined else None)
    assert choice.note.startswith(f"auto chose {method}")


def test_people_and_what_the_policy_says_about_refinement() -> None:
    people = Facts((FEW,), 10, Requirement(ONLY_K, counts_people=True))
    assert Auto().choose(people).method.name == "least-loss-partition"
    asked = Facts((MANY,), 10, Requirement(ONLY_K), refine=3)
    assert Auto().choose(asked).refine == 3


@pytest.mark.parametrize("towns", [5, 12])
def test_said_aloud_and_the_same_on_disk(towns: int, tmp_path: Path) -> None:
    """What is chosen is what its name gives, in memory and out of core."""
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "age": rng.integers(20, 60 if towns == 12 else 25, 300),
            "town": pa.array(rng.integers(0, towns, 300).astype(str)).cast(pa.string()),
        }
    )
    policy = {
        "columns": {"age": "quasi", "town": {"role": "quasi", "kind": "unordered"}},
        "constraints": [{"k": 4}],
        "seed": 3,
    }
    one = shoal.anonymize(table, policy)
    name = "local-recoding" if towns == 5 else "k-clustering"
    assert one.method == name
    assert one.notes[0].startswith(f"auto chose {name}")
    assert one.to_dict()["notes"][0] == one.notes[0]
    blocks = {"name": name, "block_rows": 100_000}
    named: dict[str, Any] = {**policy, "method": blocks, "refine": "quick"}
    assert one.table.equals(shoal.anonymize(table, named).table)
    pq.write_table(table, tmp_path / "people.parquet")
    found = shoal.run(
        tmp_path / "people.parquet",
        policy,
        tmp_path / "out.parquet",
        memory="500MB",
        report=tmp_path / "report.json",
    )
    assert (found.method, found.notes[0]) == (one.method, one.notes[0])
    certificate = json.loads((tmp_path / "report.json").read_text())
    assert certificate["notes"][0] == one.notes[0]
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert sorted(map(str, rows)) == sorted(map(str, one.table.to_pylist()))


def test_compared_only_where_it_is_the_policys_own() -> None:
    from shoal.comparison.plan import read_methods

    assert "auto" in read_methods(None, "auto")
    assert "auto" not in read_methods(None, "mondrian")
    assert read_methods("auto,mondrian") == ("auto", "mondrian")
