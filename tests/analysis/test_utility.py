"""Utility against plain counting, scipy and tables whose answer is known."""

import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

import shoal
from shoal.analysis.marginals import wasserstein
from shoal.analysis.pairs import cramers_v
from shoal.errors import InputError
from tests.browser import NARROW, opened
from tests.examples import examples

QUASI = ["age", "sex", "town"]


def people(rows: int = 400, seed: int = 1) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    age = random.integers(18, 80, rows)
    sex = random.choice(["f", "m"], rows)
    return pd.DataFrame(
        {
            "age": age,
            "sex": sex,
            "town": random.choice(["Ath", "Huy", "Mons", "Spa"], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "income": np.where(age + 10 * (sex == "m") > 50, "high", "low"),
            "spent": age * 10.0 + random.normal(0, 20, rows),
        }
    )


def released(table: pd.DataFrame, k: int = 5, **keys: Any) -> Any:
    return shoal.anonymize(table, quasi=QUASI, plain=["income", "spent"], k=k, seed=7, **keys)


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=40),
    st.lists(st.integers(-50, 50), min_size=1, max_size=40),
)
@examples(40)
def test_wasserstein_is_that_of_scipy(one: list[int], other: list[int]) -> None:
    found = wasserstein(np.array(one, float), np.array(other, float))
    assert math.isclose(found, wasserstein_distance(one, other), abs_tol=1e-9)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=60))
@examples(40)
def test_association_is_that_of_the_formula(pairs: list[tuple[int, int]]) -> None:
    n, cells = len(pairs), Counter(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = 0.0
    if min(len(first), len(second)) > 1:
        phi = sum(
            (cells[a, b] - first[a] * second[b] / n) ** 2 / (first[a] * second[b] / n)
            for a in first
            for b in second
        )
        r, c = len(first), len(second)
        corrected = max(0.0, phi / n - (r - 1) * (c - 1) / (n - 1))
        least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
        expected = min(1.0, math.sqrt(corrected / least)) if least > 1e-9 else 0.0
    columns = np.array(pairs).T
    assert math.isclose(cramers_v(columns[0], columns[1]), expected, abs_tol=1e-6)


def test_nothing_lost_is_nothing_different() -> None:
    table = people()
    release = released(table, k=1)
    found = shoal.utility(table, release, queries=["sex, town", "age"])
    assert [one.column for one in found.columns] == list(table)
    assert all(one.total_variation == 0 for one in found.columns)
    assert all(one.wasserstein in (0, None) for one in found.columns)
    assert all(one.raw == one.release for one in found.pairs)
    assert all(one.total_variation == 0 and one.largest_error == 0 for one in found.counts)
    age = found.columns[0]
    assert age.mean_raw == pytest.approx(table.age.mean())
    assert age.mean_release == pytest.approx(table.age.mean())


def test_counts_are_those_of_a_group_by() -> None:
    table = people()
    found = shoal.utility(table, released(table), queries=[["sex", "town"]]).counts[0]
    plain = table.groupby(["sex", "town"]).size()
    assert {cell.values: cell.raw for cell in found.shown} == plain.to_dict()
    shares = sum(cell.release for cell in found.shown) + found.rest.release
    assert shares == pytest.approx(len(table))
    apart = sum(abs(cell.release - cell.raw) for cell in found.shown) / 2 / len(table)
    assert found.total_variation == pytest.approx(apart, abs=0.02)


def test_rare_combinations_and_the_ends_of_numbers_are_not_shown() -> None:
    table = people()
    table.loc[0, "town"] = "Marker"
    table.loc[1, "age"] = 119
    found = shoal.utility(table, released(table), queries=["town", "age"])
    text = str(found.counts) + str(found.to_dict())
    assert "Marker" not in text
    assert "119" not in re.findall(r"\d+", str(found.counts))
    assert all(cell.raw >= 10 for one in found.counts for cell in one.shown)


def test_labels_are_drawn_from_what_they_stand_for() -> None:
    raw = pd.DataFrame({"age": [30, 31, 32, 33] * 50, "town": ["Ath", "Mons"] * 100})
    release = pd.DataFrame({"age": ["[30~33]"] * 200, "town": ["{Ath, Mons}"] * 200})
    policy = {"columns": {"age": "quasi", "town": "quasi"}, "constraints": [{"k": 2}]}
    found = shoal.utility(raw, release, policy)
    age, town = found.columns
    assert age.total_variation < 0.05
    assert town.total_variation < 0.05
    assert age.mean_release == pytest.approx(31.5, abs=0.1)


def test_models_of_a_release_are_tested_on_rows_it_has_not_seen() -> None:
    table = people(800)
    found = shoal.utility(table, released(table), target="income")
    prediction = found.prediction
    assert prediction is not None
    assert prediction.task == "classification"
    assert (prediction.trained, prediction.tested) == (600, 200)
    assert [one.learner for one in prediction.models] == [
        "logistic regression",
        "decision tree",
        "random forest",
    ]
    for one in prediction.models:
        assert one.raw > 0.9
        assert 0.8 < one.release <= 1
        assert one.auc_release is not None
        assert one.auc_release > 0.9
    assert prediction.baseline < 0.7


def test_a_release_of_noise_predicts_nothing() -> None:
    table = people(400)
    noise = table.assign(income=np.random.default_rng(3).permutation(table.income))
    prediction = shoal.utility(noise, released(noise), target="income").prediction
    assert prediction is not None
    assert all(one.release < prediction.baseline + 0.15 for one in prediction.models)


def test_numbers_are_predicted_and_held_out_rows_used() -> None:
    table, other = people(600), people(200, seed=2)
    found = shoal.utility(table, released(table), target="spent", held_out=other).prediction
    assert found is not None
    assert (found.task, found.tested, found.held_out) == ("regression", 200, True)
    assert all(one.score == "r2" and one.release > 0.8 for one in found.models)


@pytest.mark.parametrize(
    ("change", "keys", "words"),
    [
        ({}, {"target": "name"}, "The target 'name' is not a column that the release publishes"),
        ({}, {"target": "incom"}, "Did you mean 'income'?"),
        ({}, {"queries": "sex, twn"}, "Did you mean 'town'?"),
        ({}, {"queries": "sex, sex"}, "different columns"),
        ({}, {"held_out": pd.DataFrame({"age": [1]})}, "name the target"),
        (
            {},
            {"target": "income", "held_out": pd.DataFrame({"age": [1]})},
            "The held-out table has no column 'sex'",
        ),
        ({"drop": "town"}, {}, "The raw table has no column 'town', which the release has"),
        ({"rows": 10}, {}, "the raw table only 10"),
        ({"rows": 0}, {}, "raw table has no rows"),
    ],
)
def test_what_does_not_fit_is_refused(
    change: dict[str, Any], keys: dict[str, Any], words: str
) -> None:
    table = people()
    release = released(table)
    raw = table.drop(columns=change["drop"]) if "drop" in change else table
    raw = raw.head(change.get("rows", len(raw)))
    with pytest.raises(shoal.ShoalError, match=re.escape(words)) as error:
        shoal.utility(raw, release, **keys)
    assert error.value.exit_code == 2


def test_page_json_and_frame(tmp_path: Path) -> None:
    table = people()
    table["<b>x</b>"] = "a"
    release = shoal.anonymize(
        table, quasi=QUASI, plain=["income", "spent", "<b>x</b>"], k=5, seed=7
    )
    out = tmp_path / "utility.html"
    found = shoal.utility(table, release, target="income", queries="sex, town", output=out)
    assert [path.name for path in found.outputs] == ["utility.html", "utility.json"]
    assert list(found.to_frame()["column"]) == [one.column for one in found.columns]
    assert "<b>x</b>" not in out.read_text()
    with opened(out, NARROW) as seen:
        seen.require_quiet()
        seen.require_no_overflow()
        seen.require_one_main_heading_and_unique_ids()
        assert "age and sex" in seen.charts["pairs"]
        assert "Predicting income" in seen.page.inner_text("main")


@pytest.mark.parametrize("changed", ["age", "town", "ill"])
def test_a_raw_table_that_does_not_fit_the_release(changed: str) -> None:
    rng = np.random.default_rng(4)
    raw = pa.table(
        {
            "age": rng.integers(20, 60, 200),
            "town": rng.choice(["Ath", "Mons", "Huy"], 200),
            "ill": rng.choice(["flu", "gout"], 200),
        }
    )
    release = shoal.anonymize(raw, quasi=["age", "town"], sensitive="ill", k=5, seed=1)
    assert shoal.utility(raw, release).raw_rows == 200
    other = {
        "age": rng.integers(70, 90, 200),
        "town": ["Liège"] * 200,
        "ill": ["hiv"] * 200,
    }
    wrong = raw.set_column(raw.column_names.index(changed), changed, pa.array(other[changed]))
    with pytest.raises(InputError, match=f"does not fit the release. Column '{changed}'") as error:
        shoal.utility(wrong, release)
    assert "Liège" not in str(error.value)


def test_values_that_are_only_published_as_anything_fit_the_release() -> None:
    raw = pa.table({"town": ["Ath"] * 40 + ["Mons", "Huy", "Liège", "Spa"] * 5})
    tree = {"tree": ["Ath", {"east": ["Huy", "Liège"]}, {"west": ["Mons", "Spa"]}]}
    policy = {"columns": {"town": {"role": "quasi", "hierarchy": tree}}, "constraints": [{"k": 15}]}
    release = shoal.anonymize(raw, policy, seed=1)
    assert set(release.table["town"].to_pylist()) == {"Ath", "*"}
    assert shoal.utility(raw, release).raw_rows == 60
    wrong = pa.table({"town": ["Gent"] * 40 + ["Huy"] * 20})
    with pytest.raises(InputError, match="40 rows of the raw table have a value that no label"):
        shoal.utility(wrong, release)


def test_more_raw_rows_than_the_policy_lets_be_suppressed_are_reported() -> None:
    table = people()
    release = released(table, suppression=0.05)
    twice = pd.concat([table, table], ignore_index=True)
    with pytest.warns(shoal.ShoalWarning, match=r"rows \(50\.0 %\) more than the release"):
        shoal.utility(twice, release)
