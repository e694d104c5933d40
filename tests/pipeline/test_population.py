"""k-map and δ-presence: whole releases against a population, counted by a slow reader of labels."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import shoal
from tests import naive
from tests.releases import every_method, raw_text

TREE = {"north": ["a", "b"], "south": ["c", {"far": ["d", "e"]}]}
LEAVES = {"north": {"a", "b"}, "south": {"c", "d", "e"}, "far": {"d", "e"}}
COLUMNS: dict[str, Any] = {
    "age": "quasi",
    "town": {"role": "quasi", "hierarchy": {"tree": TREE}},
    "sex": {"role": "quasi", "kind": "unordered"},
    "ill": "sensitive",
}
QUASI = ["age", "town", "sex"]


def everybody(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 40, n),
            "town": rng.choice(list("abcde"), n),
            "sex": rng.choice(["f", "m", None], n, p=[0.5, 0.45, 0.05]),
        }
    )


def some(people: pd.DataFrame, n: int = 90) -> pd.DataFrame:
    chosen = people.sample(n, random_state=1).reset_index(drop=True)
    return chosen.assign(ill=["flu", "gout", "ulcer"] * (n // 3))


def policy(constraint: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"columns": COLUMNS, "constraints": [constraint], **keys}


def covered(release: pd.DataFrame, people: pd.DataFrame) -> list[tuple[int, int]]:
    """Rows of each published class, and the people whom its labels fit."""
    found = []
    for labels, rows in release.groupby(QUASI, dropna=False):
        fits = [
            all(
                naive.inside(
                    None if pd.isna(label) else label,
                    raw_text(None if pd.isna(value) else value),
                    LEAVES if name == "town" else None,
                )
                for name, label, value in zip(QUASI, labels, person, strict=True)
            )
            for person in people[QUASI].itertuples(index=False)
        ]
        found.append((len(rows), sum(fits)))
    return found


@pytest.mark.parametrize("method", every_method())
def test_k_map_holds_on_the_published_labels(method: dict[str, Any]) -> None:
    people = everybody()
    release = shoal.anonymize(some(people), policy({"k-map": 8}, method=method, population=people))
    fits = covered(release.table, people)
    assert min(n for _, n in fits) >= 8
    assert release.findings[0].reached == min(n for _, n in fits)
    assert release.published_classes > 1


@pytest.mark.parametrize("method", every_method())
def test_presence_holds_on_the_published_labels(method: dict[str, Any]) -> None:
    people = everybody()
    asked = policy({"delta-presence": 0.5}, method=method, population=people)
    release = shoal.anonymize(some(people), asked)
    fits = covered(release.table, people)
    assert max(rows / n for rows, n in fits) <= 0.5
    assert release.findings[0].reached == pytest.approx(max(r / n for r, n in fits), abs=1.1e-4)
    assert release.published_classes > 1


def test_from_files_and_verified_again(tmp_path: Path) -> None:
    people = everybody()
    people.to_csv(tmp_path / "people.csv", index=False)
    some(people).to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "policy.yaml").write_text(
        """
columns:
  age: quasi
  town: {role: quasi, hierarchy: {tree: {north: [a, b], south: [c, {far: [d, e]}]}}}
  sex: {role: quasi, kind: unordered}
  ill: sensitive
constraints: [{k-map: 8}, {delta-presence: 0.5}, {k: 2}]
population: people.csv
"""
    )
    asked = shoal.Policy.load(tmp_path / "policy.yaml")
    release = shoal.run(tmp_path / "table.csv", asked, tmp_path / "out.csv")
    assert [f.holds for f in shoal.verify(tmp_path / "out.csv", asked)] == [True] * 3
    assert shoal.Policy.load(asked.to_yaml()) == asked
    stricter = asked.replace_keys(constraints=[{"delta-presence": 0.5, "least": 0.4}])
    (found,) = shoal.verify(tmp_path / "out.csv", stricter)
    assert not found.holds
    with pytest.raises(
        shoal.PolicyError, match="No method guarantees delta-presence with a `least`"
    ):
        shoal.run(tmp_path / "table.csv", stricter, tmp_path / "other.csv")
    assert release.verified


@pytest.mark.parametrize("end", [{"top": 40}, {"bottom": 40}])
def test_open_ends_in_a_file_cover_the_population(end: dict[str, int], tmp_path: Path) -> None:
    ages = [30, 32, 36, 36, 39, 41, 44, 44, 48, 52]
    pd.DataFrame({"age": ages * 3}).to_csv(tmp_path / "people.csv", index=False)
    pd.DataFrame({"age": ages}).to_csv(tmp_path / "table.csv", index=False)
    asked = {
        "columns": {"age": {"role": "quasi", **end}},
        "constraints": [{"k": 3}, {"k-map": 5}],
        "population": str(tmp_path / "people.csv"),
    }
    shoal.run(tmp_path / "table.csv", asked, tmp_path / "out.csv")
    labels = (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert "40+" in labels or "≤40" in labels
    assert all(finding.holds for finding in shoal.verify(tmp_path / "out.csv", asked))


def test_a_population_without_these_people_is_told(tmp_path: Path) -> None:
    people = everybody()
    table = some(people)
    strangers = people.assign(age=people["age"] + 100)
    with pytest.raises(shoal.Infeasible, match=r"shares no value .* in the quasi columns age, so"):
        shoal.anonymize(table, policy({"k-map": 2}, population=strangers))
    # every value is there, but no row
    odd = table.assign(ill="flu", sex="f")
    others = people[people["sex"] == "m"]
    one = people[people["sex"] == "f"].head(1).assign(age=20, town="a")
    odd = odd[(odd["age"] > 20) | (odd["town"] != "a")]
    mixed = pd.concat([others, one])
    with pytest.raises(shoal.Infeasible, match="no row of the population table equals any row"):
        shoal.anonymize(odd, policy({"k-map": 2}, population=mixed))
    with pytest.raises(shoal.Infeasible, match="Both tables must spell"):
        shoal.anonymize(odd, policy({"delta-presence": 0.5}, population=mixed))
    with pytest.raises(shoal.InputError, match=r"people.csv does not exist.* `population:`"):
        shoal.anonymize(table, policy({"k-map": 2}, population="people.csv"))
    with pytest.raises(shoal.InputError, match=r"has no column 'sex'; .* It has age, town\."):
        shoal.anonymize(some(people), policy({"k-map": 2}, population=people[["age", "town"]]))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"constraints": [{"k-map": 2}]}, "population: missing; k-map needs it"),
        (
            {"constraints": [{"k": 2}], "population": "x.csv"},
            "population: found, but no constraint uses it",
        ),
        ({"constraints": [{"k-map": 2}], "population": 5}, "population: found 5; must be a file"),
    ],
)
def test_a_population_is_named_where_it_is_needed(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(shoal.PolicyError, match=words):
        shoal.Policy.load({"columns": COLUMNS, **keys})


@pytest.mark.parametrize("as_text", [False, True])
def test_a_population_may_be_given_beside_the_policy(as_text: bool) -> None:
    asked: Any = {"columns": {"age": "quasi", "ill": "sensitive"}, "constraints": [{"k-map": 2}]}
    if as_text:
        asked = "columns: {age: quasi, ill: sensitive}\nconstraints: [{k-map: 2}]\n"
    people = everybody()
    table = some(people)[["age", "ill"]]
    assert shoal.anonymize(table, asked, population=people).verified
    with pytest.raises(shoal.PolicyError, match=r"^seed: found -1"):
        shoal.anonymize(table, asked, population=people, seed=-1)
    with pytest.raises(shoal.PolicyError, match="or from Python any table"):
        shoal.anonymize(table, asked)


def test_a_population_in_memory_is_not_written_down() -> None:
    asked = shoal.Policy.load(policy({"k-map": 2}, population=everybody()))
    text = asked.to_yaml()
    assert "\npopulation:" not in text
    assert "\n# population: was a table in memory" in text
    assert shoal.Policy.load(text, population=everybody()) == asked


def test_methods_that_take_k_alone_say_so() -> None:
    asked = policy({"k-map": 2}, population=everybody(), method="datafly")
    with pytest.raises(shoal.PolicyError, match="the policy also asks for k-map"):
        shoal.anonymize(some(everybody()), asked)
