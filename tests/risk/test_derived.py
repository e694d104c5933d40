"""Columns that follow from others are found, and no coincidence is taken for it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import shoal

RNG = np.random.default_rng(7)


def people(n: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    wage = np.round(rng.lognormal(3, 0.5, n), 2)
    age = rng.integers(20, 70, n)
    educ = rng.integers(6, 18, n)
    return pd.DataFrame({"age": age, "educ": educ, "wage": wage})


def reasons(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    return {c.name: (c.role, c.reason) for c in shoal.draft_policy(table).inspection.columns}


def test_a_logarithm_is_left_out() -> None:
    table = people().assign(lwage=lambda t: np.round(np.log(t["wage"]), 3))
    role, reason = reasons(table)["lwage"]
    assert role == "identifier"
    assert "wage, which it would give away" in reason
    assert reasons(table)["wage"][0] == "sensitive"
    # the one that was made from the other is left out, whichever comes first
    assert reasons(table[["lwage", "age", "wage"]])["lwage"][0] == "identifier"


def test_a_code_for_words_is_left_out() -> None:
    words = ["primary", "secondary", "college", "masters", "doctorate"]
    code = np.random.default_rng(2).integers(0, 5, 300)
    table = pd.DataFrame(
        {"education": [words[c] for c in code], "education-num": code + 3, "age": range(300)}
    )
    found = reasons(table)
    assert found["education-num"][0] == "identifier"
    assert found["education"][0] == "quasi"


@pytest.mark.parametrize("name", ["age2", "agesq", "x3"])
def test_squares_are_left_out(name: str) -> None:
    table = people().assign(**{name: lambda t: t["age"] ** 2})
    assert reasons(table)[name][0] == "identifier"


def test_a_function_without_a_name_of_its_own_is_left_out() -> None:
    table = people().assign(nodes=np.random.default_rng(3).integers(0, 20, 600))
    table["node4"] = (table["nodes"] > 4).astype(int)
    role, reason = reasons(table)["node4"]
    assert (role, reason) == ("identifier", "it follows from nodes, which is enough")
    assert reasons(table)["nodes"][0] == "undecided"


def test_totals_are_left_out() -> None:
    rng = np.random.default_rng(4)
    parts = pd.DataFrame(rng.integers(0, 100, (400, 3)), columns=["rent", "food", "fuel"])
    for order in (["rent", "food", "fuel", "x"], ["x", "rent", "food", "fuel"]):
        table = parts.assign(x=parts.sum(axis=1))[order].assign(age=rng.integers(20, 80, 400))
        found = reasons(table)
        assert found["x"][0] == "identifier"
        assert "sum or difference of" in found["x"][1]
        assert all(found[name][0] != "identifier" for name in parts)
    named = parts.assign(total=parts.sum(axis=1))[["food", "total", "fuel", "rent"]]
    assert reasons(named)["total"][0] == "identifier"


def test_a_difference_is_left_out_where_it_comes_last() -> None:
    table = people().assign(exper=lambda t: t["age"] - t["educ"] - 6)
    found = reasons(table)
    assert found["exper"][0] == "identifier"
    assert "educ" in found["exper"][1]
    assert found["age"][0] == found["educ"][0] == "quasi"


@pytest.mark.parametrize("seed", range(5))
def test_independent_columns_are_kept(seed: int) -> None:
    rng, n = np.random.default_rng(seed), 300
    gain = np.where(rng.random(n) < 0.1, rng.integers(1, 5000, n), 0)
    loss = np.where((gain == 0) & (rng.random(n) < 0.1), rng.integers(1, 900, n), 0)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "capital-gain": gain,
            "capital-loss": loss,  # never both, but none follows from the other
            "rare1": (rng.random(n) < 0.01).astype(int),
            "rare2": (rng.random(n) < 0.01).astype(int),
            "amount": rng.normal(size=n).round(3),
            "other": rng.normal(size=n).round(3),
        }
    )
    assert not [name for name, (role, _) in reasons(table).items() if role == "identifier"]


def test_missing_values_do_not_hide_a_copy() -> None:
    table = people().assign(lwage=lambda t: np.log(t["wage"]).round(4).astype(str))
    table.loc[::9, "lwage"] = "NA"
    assert reasons(table)["lwage"][0] == "identifier"


def test_households_and_weights_are_recognised() -> None:
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "hhid": np.repeat(np.arange(150), 2),
            "age": rng.integers(20, 90, 300),
            "fnlwgt": np.repeat(rng.integers(10_000, 900_000, 150), 2),
            "weight": rng.normal(70, 12, 300).round(1),
        }
    )
    found = reasons(table)
    assert found["hhid"][0] == "person"
    assert "households are counted; write identifier to count people" in found["hhid"][1]
    assert found["fnlwgt"][0] == "weight"
    assert "survey weight" in found["fnlwgt"][1]
    assert found["weight"][0] == "quasi"
    table["weight"] = rng.lognormal(8, 1, 300).round(1)
    assert reasons(table)["weight"] == (
        "identifier",
        "a survey weight beside another, by which the population is estimated",
    )
    alone = table.drop(columns="fnlwgt")
    assert reasons(alone.drop(columns="hhid"))["weight"][0] == "weight"
    assert reasons(alone)["weight"] == (
        "identifier",
        "a survey weight, but rows with the same hhid have different ones",
    )
    table.loc[3, "fnlwgt"] = 0
    assert reasons(table)["fnlwgt"][0] == "identifier"
    table["pid"] = np.repeat(np.arange(100), 3)
    found = reasons(table)
    assert (found["pid"][0], found["hhid"][0]) == ("person", "identifier")


def test_tables_larger_than_memory_are_looked_at_by_a_sample(tmp_path: Path) -> None:
    """About 20,000 rows are enough to suspect a copy; whether it is one is counted in all of them."""
    n = 45_000
    rng = np.random.default_rng(5)
    words = np.array(["primary", "secondary", "college", "masters", "doctorate"])
    code = rng.integers(0, 5, n)
    almost = code + 3
    almost[[7, 900]] = 9 - almost[[7, 900]]  # two rows of all: no copy, whatever a sample shows
    table = pd.DataFrame(
        {
            "education": words[code],
            "education-num": almost,
            "age": rng.integers(20, 70, n),
            "rent": rng.integers(100, 900, n),
            "food": rng.integers(50, 400, n),
        }
    )
    table["agesq"] = table["age"] ** 2
    table["total_cost"] = table["rent"] + table["food"]
    table.to_csv(tmp_path / "t.csv", index=False)
    found = {c.name: c for c in shoal.inspect(tmp_path / "t.csv", memory="1GB").columns}
    for name in ("agesq", "total_cost"):
        assert found[name].role == "identifier"
        assert "of 45,000 rows)" in found[name].reason
    assert found["education-num"].role != "identifier"
    here = {c.name: c.role for c in shoal.inspect(table).columns}
    assert here == {name: one.role for name, one in found.items()}
    table.assign(**{"education-num": code + 3}).to_csv(tmp_path / "t.csv", index=False)
    found = {c.name: c for c in shoal.inspect(tmp_path / "t.csv", memory="1GB").columns}
    assert found["education-num"].role == "identifier"
    assert "each value stands for one of education" in found["education-num"].reason
