"""A few cases of the campaign, and a judge that finds what is planted.

`make fuzz` goes on with the campaign itself.
"""

import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from tests.fuzz.campaign import SHARD, State, gather, kernels, outcome_of, release_of, run
from tests.fuzz.cases import Case, Column, case_of
from tests.fuzz.counts import lines
from tests.fuzz.judge import Row, complaints, read_csv, write_csv

SEED = 1_000_000
"""The campaign begins at 0; these are cases that it reaches late."""


@pytest.mark.parametrize(("engine", "count"), [("memory", 40), ("disk", 4)])
def test_every_case_keeps_its_promises(engine: str, count: int, tmp_path: Path) -> None:
    for seed in range(SEED, SEED + count):
        case = case_of(seed, engine)
        with kernels(case):
            outcome_of(case, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(("engine", "count"), [("memory", 1000), ("disk", 60)])
def test_more_cases_keep_their_promises(engine: str, count: int, tmp_path: Path) -> None:
    for seed in range(2 * SEED, 2 * SEED + count):
        case = case_of(seed, engine)
        with kernels(case):
            outcome_of(case, tmp_path)


@pytest.mark.parametrize("seed", [11318, 17170, 20046, 20959, 75891, 20_005_978, 20_019_621])
def test_the_judge_takes_what_is_right(seed: int, tmp_path: Path) -> None:
    """What it once complained of: a node over all leaves beside missing values, a code for missing
    values in a ruled column of Anatomy, people behind rows that are starred in a part, a sensitive
    text that is invisible, a median of rows that are one group in a part of the columns, and uniform
    labels beside a star for one of these parts."""
    assert outcome_of(case_of(seed), tmp_path) == "released"


def test_an_error_may_name_what_is_common_in_one_column_and_rare_in_another(tmp_path: Path) -> None:
    assert outcome_of(case_of(20_005_626), tmp_path) == "infeasible"


def test_a_case_follows_from_its_seed() -> None:
    assert case_of(7) == case_of(7)
    assert case_of(7).policy != case_of(8).policy
    assert case_of(7, "disk").policy != case_of(7).policy


def test_a_campaign_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    run("memory", 3, 600, State(path, "memory"), tmp_path)
    again = run("memory", 2, 600, State(path, "memory"), tmp_path)
    kept = State(path, "memory")
    assert kept.next == again.next == 5
    assert kept.to_dict() == again.to_dict()
    assert sum(kept.outcomes.values()) == 5


def test_shards_are_added_up(tmp_path: Path) -> None:
    every = tmp_path / "fuzz-memory.json"
    run("memory", 2, 600, State(every, "memory"), tmp_path)
    beside = State(tmp_path / "fuzz-memory-1.json", "memory", 1)
    run("memory", 1, 600, beside, tmp_path)
    gather(every, "memory", tmp_path)
    run("memory", 2, 600, beside, tmp_path)
    found = gather(every, "memory", tmp_path)
    assert found == gather(every, "memory", tmp_path)
    assert found["runs"] == sum(found["outcomes"].values()) == 5
    assert {name: shard["next"] for name, shard in found["shards"].items()} == {
        "0": 2,
        "1": SHARD + 3,
    }


def test_all_counts_are_printed() -> None:
    assert {line.partition(":")[0] for line in lines()} >= {
        "random runs, memory",
        "mutants",
        "crashes",
        "soak",
        "wide table",
    }


def test_csv_is_read_as_it_was_written() -> None:
    draw = random.Random(1)
    texts = [None, "", "a", 'q"', "x,y", "l\nm", "r\r\ns", "'", " b "]
    for separator in ",;\t|":
        for quote_all in (False, True):
            rows = [[draw.choice(texts) for _ in range(3)] for _ in range(20)]
            found = read_csv(write_csv(["a", "b", "c"], rows, separator, quote_all), separator)
            assert [list(row.values()) for row in found] == rows


# what is planted in a release that was right, and what the judge must say


def one_row_apart(case: Case, rows: list[Row]) -> str:
    """A row gets a label of its own."""
    rows[0]["age"] = case.column("age").texts[case.column("tag").texts.index(rows[0]["tag"])]
    return "class of"


def another_value(case: Case, rows: list[Row]) -> str:
    """A sensitive value slips into another row."""
    name = case.with_role("sensitive")[0].name
    rows[0][name] = "planted"
    return "is not true"


def twice(_: Case, rows: list[Row]) -> str:
    """A row is published twice, in place of another one."""
    rows[1] = dict(rows[0])
    return "published twice"


def uncovered(case: Case, rows: list[Row]) -> str:
    """A label of another place."""
    rows[0][case.with_role("quasi")[0].name] = "[100000~200000]"
    return "is not true"


def one_value(case: Case, rows: list[Row]) -> str:
    """All rows have one sensitive value, in the table too: l cannot hold."""
    column = case.with_role("sensitive")[0]
    text = next(text for text in column.texts if text is not None)
    column.texts = [text] * case.n_rows
    for row in rows:
        row[column.name] = text
    return "'l'"


def too_few(_: Case, rows: list[Row]) -> str:
    """Most rows are lost."""
    del rows[3:]
    return "rows suppressed"


@pytest.mark.parametrize(
    "plant", [one_row_apart, another_value, twice, uncovered, one_value, too_few]
)
def test_the_judge_finds_what_is_planted(
    plant: Callable[[Case, list[Row]], str], tmp_path: Path
) -> None:
    case = planted_case()
    rows, _, _ = release_of(case, tmp_path)
    assert complaints(case, rows) == []
    expected = plant(case, rows)
    assert any(expected in words for words in complaints(case, rows)), complaints(case, rows)


def planted_case() -> Case:
    """A case with everything that the plants need."""
    ages, ills = [str(20 + 3 * i) for i in range(12)], ["flu", "gout", "flu", "asthma"] * 3
    columns = [
        Column("age", "quasi", list(ages), "number", meaning={t: Fraction(t) for t in ages}),
        Column("ill", "sensitive", list(ills), meaning={text: text for text in ills}),
        Column("tag", "plain", [f"r{i}" for i in range(12)]),
    ]
    policy = {
        "columns": {column.name: {"role": column.role} for column in columns},
        "constraints": [{"k": 3}, {"l": 2, "of": "ill"}],
        "suppression": 0.1,
        "method": "mondrian",
        "seed": 1,
    }
    return Case(0, "memory", columns, policy, from_file=False)
