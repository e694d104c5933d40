"""The constraint that a sensitive column needs follows from its values."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.risk.columns import contents_of
from shoal.risk.protection import protection_of
from shoal.risk.table import TableInMemory
from tests.examples import examples


def proposed(values: list[object]) -> str:
    return protection_of(contents_of("x", pa.array(values))).constraint


@pytest.mark.parametrize(
    ("values", "constraint"),
    [
        (["flu", "cold", "cough", "ulcer"] * 10, "l: 3"),
        (["flu"] * 70 + ["cold"] * 20 + ["cough"] * 10, "l: 2"),
        (["flu"] * 55 + ["cold"] * 25 + ["cough"] * 20, "l: 3"),
        (["0"] * 92 + ["1", "2", "3", "4"] * 2, "t: 0.2"),
        (["no", "yes"] * 20, "l: 2"),
        (["no"] * 80 + ["yes"] * 20, "l: 2"),
        (["no"] * 81 + ["yes"] * 19, "t: 0.2"),
        (["no"] * 40, ""),
        ([None] * 40, ""),
        (list(range(100)), "t: 0.3, distance: ordered"),
        ([i / 7 for i in range(100)], "t: 0.3, distance: ordered"),
        ([0] * 920 + list(range(1, 81)), "t: 0.3, distance: ordered"),
        ([1, 2, 3, 4, 5] * 8, "l: 3"),
        (["no", "yes", "NA"] * 20, "l: 2"),  # a code for a missing value is none
    ],
)
def test_by_what_the_values_are(values: list[object], constraint: str) -> None:
    assert proposed(values) == constraint


EVENTS = pd.DataFrame(
    {
        "patient_id": [f"p{i}" for i in range(60)] + [f"p{i}" for i in range(0, 60, 2)],
        "age": [20 + i for i in range(60)] + [20 + i for i in range(0, 60, 2)],
        "relapse": ["0"] * 60 + ["1"] * 30,
        "hiv": ["yes" if i % 2 else "no" for i in range(60)] + ["no"] * 30,
    }
)
"""Everybody has had no relapse in some row, and half of the people one in another."""


@pytest.mark.parametrize("memory", [None, "1GB"])
def test_shares_are_those_of_people(memory: str | None, tmp_path: Path) -> None:
    """By rows a third has a relapse, which would allow l = 2; by people everybody has had none."""
    EVENTS.to_csv(tmp_path / "t.csv", index=False)
    draft = shoal.draft_policy(tmp_path / "t.csv", memory=memory)
    assert draft.roles["patient_id"] == "person"
    assert "- {t: 0.2, of: relapse}  # 100.0 % of the people have one value" in draft.text
    assert "- {l: 2, of: hiv}" in draft.text
    rows = shoal.draft_policy(EVENTS.drop(columns="patient_id"))
    assert "- {l: 2, of: relapse}" in rows.text


def test_figures_say_what_they_count_where_people_are_suspected(tmp_path: Path) -> None:
    """In memory people are counted at once; a larger table says that it counts rows."""
    found, given = shoal.inspect(EVENTS), shoal.inspect(EVENTS, person="patient_id")
    assert "count people, by the values of patient_id" in found.rows_for_people
    assert found.people == given.people == EVENTS["patient_id"].nunique()
    assert (found.unique_rows, found.risk, found.search) == (
        given.unique_rows,
        given.risk,
        given.search,
    )
    assert [c.unique_alone for c in found.columns] == [c.unique_alone for c in given.columns]
    EVENTS.to_csv(tmp_path / "t.csv", index=False)
    large = shoal.inspect(tmp_path / "t.csv", memory="1GB")
    assert large.people is None
    assert "(--person patient_id)" in large.rows_for_people
    assert "count rows" in large.rows_for_people
    with pytest.raises(shoal.InputError, match="person: people are not counted in tables larger"):
        shoal.inspect(tmp_path / "t.csv", memory="1GB", person="patient_id")
    assert given.rows_for_people == ""
    assert shoal.inspect(EVENTS.drop(columns="patient_id")).rows_for_people == ""


def test_the_share_of_a_dominant_value_is_that_of_people() -> None:
    policy = shoal.draft_policy(EVENTS).policy.with_changes(constraints=[{"k": 5}])
    found = shoal.anonymize(EVENTS, policy, seed=1).evidence.dominant["relapse"]
    assert (found.label, found.share, found.people) == ("0", 1.0, True)


@examples(20)
@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc")), min_size=1, max_size=40))
def test_people_of_values_by_the_definition(pairs: list[tuple[int, str]]) -> None:
    people, values = zip(*pairs, strict=True)
    table = TableInMemory(pa.table({"id": people, "x": values}))
    found = table.people_of_values("id", table.contents("x"))
    assert found == {v: len({p for p, w in pairs if w == v}) for v in set(values)}


@examples(60)
@given(st.lists(st.integers(1, 60), min_size=2, max_size=6))
def test_the_largest_l_that_groups_of_five_allow(rows: list[int]) -> None:
    """On average a group of five has so many rows outside of the most frequent values."""
    values = [f"v{i}" for i, n in enumerate(rows) for _ in range(n)]
    ranked = sorted(rows, reverse=True)

    def possible(asked: int) -> bool:
        return len(rows) >= asked and all(
            5 * sum(ranked[top:]) >= (asked - top) * sum(rows) for top in range(1, asked)
        )

    largest = max((asked for asked in (2, 3) if possible(asked)), default=None)
    assert proposed(values) == ("t: 0.2" if largest is None else f"l: {largest}")


def test_a_column_of_zeros_does_not_ruin_the_table() -> None:
    rng, n = np.random.default_rng(3), 1000
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "sex": rng.choice(["f", "m"], n),
            "bonus": np.where(rng.random(n) < 0.92, 0, rng.integers(1, 9, n) * 500),
        }
    )
    policy = shoal.draft_policy(table).policy
    alone = policy.with_changes(constraints=[{"k": 5}])
    with_l = policy.with_changes(constraints=[{"k": 5}, {"l": 3, "of": "bonus"}])
    losses = [
        shoal.anonymize(table, p, seed=1).metrics["mean-ncp"] for p in (alone, policy, with_l)
    ]
    assert losses[0] <= losses[1] < losses[2] / 3


def test_a_rare_illness_is_kept_apart() -> None:
    rng, n = np.random.default_rng(4), 600
    age = rng.integers(20, 80, n)
    table = pd.DataFrame(
        {"age": age, "hiv": np.where((age > 70) & (rng.random(n) < 0.6), "yes", "no")}
    )
    release = shoal.anonymize(table, shoal.draft_policy(table).policy, seed=1)
    share = (table["hiv"] == "yes").mean()
    groups = release.table.groupby("age")["hiv"].apply(lambda values: (values == "yes").mean())
    assert groups.max() <= share + 0.2 + 1e-9
