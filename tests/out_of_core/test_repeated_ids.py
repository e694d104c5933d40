"""Ids that repeat are noticed out of core as in memory, in the same words, and counted plainly."""

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.engines.duckdb.session import DuckSession
from shoal.engines.sessions import Session
from shoal.evidence.repeated_ids import agree, agreements, is_panel
from shoal.policy import Policy
from tests.examples import examples
from tests.out_of_core.session_runs import run_in
from tests.out_of_core.test_encode import written
from tests.spark.cases import read_all

METHODS: list[Any] = [
    "least-loss-partition",
    {"name": "k-clustering", "block_rows": 30},
    "datafly",
]
TREES = {"age": {"intervals": [10, 20, 40]}, "town": {"mask": "right"}}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = DuckSession("500MB", tmp_path_factory.mktemp("rows"))
    yield made
    made.close()


def visits(draw: random.Random, rows: int = 160, *, numbered: bool = True) -> pa.Table:
    """Several visits of each person, ids spelled in several ways and some missing; `numbered` tells
    the rows apart."""
    people = [(draw.choice([20, 25, 31, 47, 60]), draw.choice("abc")) for _ in range(rows // 4)]
    who = [draw.randrange(len(people)) for _ in range(rows)]
    ids = [draw.choice([f"P{w}", f"p{w}", f" P{w}"]) for w in who]
    return pa.table(
        {
            "pid": [None if draw.random() < 0.05 else one for one in ids],
            "name": [draw.choice(["Ann", "Bo", "Cy"]) for _ in who],
            "row": pa.array(range(rows)) if numbered else pa.array([1] * rows),
            "age": [people[w][0] for w in who],
            "town": [people[w][1] for w in who],
            "card": [f"c{n}" for n in range(rows)],
            "ill": [draw.choice(["flu", "cold"]) for _ in who],
        }
    )


def policy(method: Any = METHODS[0], **more: Any) -> Policy:
    trees = TREES if method == "datafly" else {}
    roles = {
        name: {"role": "quasi", **({"hierarchy": trees[name]} if trees else {})} for name in TREES
    }
    names = dict.fromkeys(("pid", "name", "card"), "identifier")
    columns = {**names, **roles, "row": "plain", "ill": "sensitive"}
    return Policy.load(
        {"columns": columns, "constraints": [{"k": 4}], "method": method, "seed": 5, **more}
    )


def require_counted(found: Any, table: pa.Table, release: pa.Table) -> None:
    """Count the ids of the classes by the rows' numbers, with sets."""
    assert (found.column, found.role, found.k) == ("pid", "identifier", 4)
    ids = [None if one is None else one.strip().lower() for one in table["pid"].to_pylist()]
    assert found.rows == sum(one is not None for one in ids)
    assert found.ids == len({one for one in ids if one is not None})
    classes: dict[Any, set[Any]] = defaultdict(set)
    for row in release.to_pylist():
        if row["row"] != "*":
            number = int(row["row"])
            who = ids[number]
            classes[row["age"], row["town"]].add(number if who is None else who)
    assert found.classes == len(classes)
    assert found.below == sum(len(one) < 4 for one in classes.values())
    assert f"{found.below:,} of {len(classes):,} published classes" in found.warning


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_same_warning_as_in_memory(session: Session, tmp_path: Path, method: Any) -> None:
    table = visits(random.Random(3))
    (source,), here, there = written(table, tmp_path / "in"), *map(tmp_path.joinpath, ("h", "t"))
    here, there = here.with_suffix(".parquet"), there.with_suffix(".parquet")
    asked = policy(method, suppressed="starred" if method == "datafly" else "withheld")
    memory = shoal.run(source, asked, here)
    found = run_in(session, source, asked, there, folders=False, fragment_rows=50)
    assert found.disclosure == memory.disclosure
    assert found.warnings == memory.warnings
    (one,) = found.disclosure.repeated
    require_counted(one, table, read_all(there))
    assert one.below > 0
    assert one.warning in found.warnings


@examples(12)
@given(st.randoms(use_true_random=False), st.sampled_from(METHODS))
def test_rows_that_are_published_alike(
    session: Session, tmp_path_factory: pytest.TempPathFactory, draw: random.Random, method: Any
) -> None:
    """Which of them has which id does not depend on the engine or on the order of rows."""
    folder = tmp_path_factory.mktemp("alike")
    table = visits(draw, 60, numbered=False)
    memory = shoal.anonymize(table, policy(method))
    mixed = table.take(pa.array(draw.sample(range(60), 60)))
    assert shoal.anonymize(mixed, policy(method)).disclosure.repeated == memory.disclosure.repeated
    (source,) = written(mixed, folder / "in")
    target = folder / "out.parquet"
    found = run_in(session, source, policy(method), target, folders=False, fragment_rows=20)
    assert found.disclosure.repeated == memory.disclosure.repeated


@examples(40)
@given(st.randoms(use_true_random=False))
def test_agreements_are_counted_as_by_pairs(draw: random.Random) -> None:
    rows = draw.randrange(1, 40)
    ids = np.array([draw.randrange(-1, 9) for _ in range(rows)])
    codes = np.array([draw.randrange(3) for _ in range(rows)])
    (found,) = agreements(ids, [codes])
    whose: dict[int, list[int]] = defaultdict(list)
    for who, code in zip(ids.tolist(), codes.tolist(), strict=True):
        if who >= 0:
            whose[who].append(code)
    several = [each for each in whose.values() if len(each) > 1]
    equal: dict[int, int] = dict.fromkeys(sorted({len(each) for each in several}), 0)
    for each in several:
        equal[len(each)] += sum(a == b for a in each for b in each) - len(each)
    assert dict(zip(found.rows.tolist(), found.equal.tolist(), strict=True)) == equal
    assert found.repeats == sum(len(each) - 1 for each in several)
    pairs = [codes[i] == codes[j] for i in range(rows) for j in range(rows) if i != j]
    assert found.by_chance == (np.mean(pairs) if pairs else 0)
    assert not (agree([found]) and is_panel([found]))  # one column cannot agree and number


def test_identifiers_that_cannot_be_read_are_left_alone(session: Session, tmp_path: Path) -> None:
    table = visits(random.Random(3))
    table = table.append_column("list", pa.array([[1]] * len(table)))
    table = table.append_column("none", pa.nulls(len(table)))
    asked = policy().with_changes(identifiers=["pid", "name", "card", "list", "none"])
    (source,) = written(table, tmp_path / "in")
    found = run_in(session, source, asked, tmp_path / "out.parquet", folders=False)
    assert [one.column for one in found.disclosure.repeated] == ["pid"]
    assert "list" not in pq.read_schema(tmp_path / "out.parquet").names


def test_a_draft_notices_them_by_their_rows(tmp_path: Path) -> None:
    """Whatever the column is called, and wherever the table is."""
    rng, people = np.random.default_rng(8), 60
    who = np.repeat(np.arange(people), 4)
    table = pa.table(
        {
            "thing": [f"{w:03}x" for w in who],
            "age": rng.integers(20, 90, people)[who],
            "sex": rng.choice(["f", "m"], people)[who],
            "zip": rng.integers(1000, 1100, people)[who].astype(str),
            "visit": rng.integers(1, 300, len(who)),
            "disease": rng.choice(["flu", "cold", "cough", "none"], len(who)),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    here = shoal.inspect(tmp_path / "in.parquet")
    there = shoal.inspect(tmp_path / "in.parquet", memory="1GB")
    assert here.columns[0].role == there.columns[0].role == "person"
    assert [one.role for one in here.columns] == [one.role for one in there.columns]
