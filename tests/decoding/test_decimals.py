"""Half-open intervals: whether the numbers in them are whole, and the shape of what is decoded."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import shoal

INTERVALS: dict[str, Any] = {
    "columns": {"x": {"role": "quasi", "hierarchy": {"intervals": [1, 2, 4, 8]}}, "y": "plain"},
    "constraints": [{"k": 2}],
}


def table(labels: list[str], times: int = 4) -> pa.Table:
    return pa.table({"x": labels * times, "y": ["a"] * len(labels) * times})


def decoded(labels: list[str], policy: Any = INTERVALS, **keys: Any) -> pa.Table:
    return shoal.decode(table(labels), policy, **keys)


def test_intervals_with_whole_ends_may_hold_decimals() -> None:
    labels = ["[1-2)", "[2-4)", "[0-1)"]
    assert decoded(labels, numbers="expected")["x"].to_pylist()[:3] == [1.5, 3.0, 0.5]
    drawn = decoded(labels, numbers="sample")["x_sampled"]
    assert pa.types.is_floating(drawn.type)
    for label, value in zip(labels * 4, drawn.to_pylist(), strict=True):
        low, high = (float(end) for end in label[1:-1].split("-"))
        assert low < value < high
    assert len(set(drawn.to_pylist())) > 6  # spread over the interval


@pytest.mark.parametrize(
    ("labels", "column"),
    [
        (["[40-44)", "45", "47"], {"hierarchy": {"intervals": [4]}}),  # other values are whole
        (["[40-44)", "[45~47]"], {"kind": "ordered"}),
        (["[40-44)"], {"hierarchy": {"intervals": [4]}, "round": 1}),  # the policy says so
    ],
)
def test_what_else_is_known_makes_them_whole(labels: list[str], column: dict[str, Any]) -> None:
    policy = INTERVALS | {"columns": {"x": {"role": "quasi"} | column, "y": "plain"}}
    drawn = decoded(labels, policy, numbers="sample")["x_sampled"]
    assert pa.types.is_integer(drawn.type)
    inside = [
        value for value, label in zip(drawn.to_pylist(), labels * 4, strict=True) if "-" in label
    ]
    assert set(inside) <= {40, 41, 42, 43}


def test_one_whole_value_does_not() -> None:
    assert decoded(["[1-2)", "3"], numbers="expected")["x"].to_pylist()[:2] == [1.5, 3.0]


def test_nested_intervals_share_out_by_width() -> None:
    (whole,) = set(decoded(["[0-8)"], numbers="expected")["x"].to_pylist())
    assert whole == 4.0
    inner, outer = decoded(["[0-1)", "[0-8)"], numbers="expected")["x"].to_pylist()[:2]
    assert inner == 0.5
    assert 0.5 < outer < 4.0  # the rows in [0-1) say that low values are common


def skewed(n: int = 2000) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame({"x": rng.gamma(3.0, 0.5, n).round(2), "y": rng.choice(["a", "b"], n)})


@pytest.mark.parametrize(
    "policy",
    [
        INTERVALS | {"method": "optimal", "suppression": 0.02, "constraints": [{"k": 30}]},
        INTERVALS
        | {
            "columns": {"x": {"role": "quasi", "labels": "uniform"}, "y": "quasi"},
            "constraints": [{"k": 20}],
        },
        INTERVALS
        | {
            "columns": {
                "x": {"role": "quasi", "labels": "uniform", "kind": "ordered"},
                "y": "quasi",
            },
            "constraints": [{"k": 30}],
        },
    ],
    ids=["intervals", "uniform", "uniform and ordered"],
)
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_column_of_decimals_keeps_its_mean(policy: dict[str, Any]) -> None:
    people = skewed()
    release = shoal.anonymize(people, policy, seed=1)
    assert any(label.endswith(")") for label in release.table["x"])
    middle = release.decode()["x"].mean()
    for form in ("expected", "sample"):
        mean = release.decode(numbers=form).iloc[:, 0].mean()
        assert mean == pytest.approx(middle, rel=0.05)
        assert mean == pytest.approx(people["x"].mean(), rel=0.08)
    ends = release.decode(numbers="bounds")
    assert (ends["x_low"] < ends["x_high"]).any()
    found = {one.column: one for one in shoal.utility(people, release).columns}["x"]
    assert found.kind == "number"
    assert found.total_variation < 0.5
    assert found.mean_release == pytest.approx(people["x"].mean(), rel=0.08)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_utility_knows_whole_numbers_from_the_raw_table() -> None:
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"x": rng.integers(0, 40, 3000), "y": "a"})
    policy = INTERVALS | {
        "columns": {"x": {"role": "quasi", "hierarchy": {"intervals": [4]}}, "y": "plain"}
    }
    release = shoal.anonymize(
        people, policy | {"method": "optimal", "constraints": [{"k": 50}]}, seed=1
    )
    assert set(release.table["x"].str[-1]) == {")"}
    (found, _) = shoal.utility(people, release).columns
    assert found.mean_release == pytest.approx(people["x"].mean(), abs=0.1)


def test_estimates_have_few_digits() -> None:
    policy = INTERVALS | {"columns": {"x": {"role": "quasi", "kind": "ordered"}, "y": "plain"}}
    labels = ["[30~53]", "[31~47]", "44", "[20~61]", "39"]
    for value in decoded(labels, policy, numbers="expected")["x"].to_pylist():
        assert len(repr(value)) <= 8


STATISTICS = INTERVALS | {
    "columns": {
        "x": {"role": "quasi", "labels": "mean"},
        "town": {"role": "quasi", "labels": "mode"},
        "y": "plain",
    }
}


def test_the_columns_of_statistics_depend_on_policy_and_options_alone() -> None:
    given = pa.table({"x": ["41", "45.5", "*"], "town": ["Ath", "Huy", "*"], "y": ["a"] * 3})
    with pytest.warns(
        shoal.ShoalWarning, match="'x': no bounds is known, because its labels are the mean"
    ):
        found = shoal.decode(given, STATISTICS, numbers="bounds", categories="list").to_pydict()
    assert found == {"x_low": [None] * 3, "x_high": [None] * 3, "town": [None] * 3, "y": ["a"] * 3}
    with pytest.warns(shoal.ShoalWarning, match="'town': no indicators is known"):
        found = shoal.decode(given, STATISTICS, categories="indicators").to_pydict()
    assert (found["town=Ath"], found["town=Huy"]) == ([1, 1, 1], [1, 1, 1])
    with pytest.warns(shoal.ShoalWarning, match="the published values are used"):
        found = shoal.decode(given, STATISTICS, numbers="sample", categories="shares").to_pydict()
    assert found["x_sampled"][:2] == [41.0, 45.5]
    assert found["town=Ath"] == [1.0, 0.0, 0.5]
    assert found["town=Huy"] == [0.0, 1.0, 0.5]


@pytest.mark.parametrize("column", [{"kind": "ordered"}, {"type": "number"}, {"labels": "mean"}])
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_stars_alone_have_the_columns_of_other_labels(column: dict[str, Any]) -> None:
    policy = INTERVALS | {"columns": {"x": {"role": "quasi"} | column, "y": "plain"}}
    names = decoded(["*"], policy, numbers="bounds").column_names
    assert names == ["x_low", "x_high", "y"]


def test_codes_of_the_policy_are_missing_values_in_a_quasi_column() -> None:
    columns = {"x": {"role": "quasi", "kind": "ordered", "missing": ["NA"]}, "y": "plain"}
    found = decoded(["[1~3]", "NA"], INTERVALS | {"columns": columns})
    assert found["x"].to_pylist()[:2] == [2.0, None]
