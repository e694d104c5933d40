"""Anonymizer: scikit-learn's own checks, a plain twin, pipelines and bad input."""

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from shoal.errors import HierarchyError, Infeasible, InputError, PolicyError
from shoal.sklearn import Anonymizer
from tests.examples import examples

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")

OWN_CLASS = (
    "fit_transform gives every training row the label of its own class, transform the narrowest class "
    "that covers a row: labels overlap, so the two may differ, as in scikit-learn's TargetEncoder"
)
EXPECTED = {
    "check_transformer_general": OWN_CLASS,
    "check_transformer_data_not_an_array": OWN_CLASS,
    "check_fit2d_1sample": "one row cannot hold k = 2: the error is Infeasible, which says so",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", [None, "mean", "uniform"])
def test_estimator_checks(form: str | None) -> None:
    labels: Any = None if form is None else {"x0": form}
    found = check_estimator(
        Anonymizer(k=2, seed=0, encode="numbers", method="least-loss-partition", labels=labels),
        expected_failed_checks=EXPECTED,
        on_skip=None,
        on_fail=None,
    )
    assert {each["check_name"] for each in found if each["status"] == "failed"} == set()
    assert {each["check_name"] for each in found if each["status"] == "xfail"} == set(EXPECTED)
    assert sum(each["status"] == "passed" for each in found) >= 38


# --- a plain twin: an age and a town, labels read by hand ------------------------------------

Row = tuple[int, str]


def covers(label: tuple[str, str], row: Row) -> list[bool]:
    age, town = label
    ends = re.fullmatch(r"\[(\d+)~(\d+)\]", age)
    low, high = (int(ends[1]), int(ends[2])) if ends else (int(age), int(age))
    return [low <= row[0] <= high, row[1] in town.strip("{}").split(", ")]


def lost(low: int, high: int, members: set[str], train: list[Row]) -> float:
    ages, towns = [row[0] for row in train], {row[1] for row in train}
    width = (max(ages) - min(ages)) or 1
    return (high - low) / width + (len(members) / len(towns) if len(members) > 1 else 0)


def nearest(labels: list[tuple[str, str]], row: Row, train: list[Row]) -> tuple[str, str]:
    """What transform should give, by the published texts alone."""
    ranked = []
    for label in labels:
        ends = [int(part) for part in re.findall(r"\d+", label[0])]
        members = set(label[1].strip("{}").split(", "))
        own = lost(ends[0], ends[-1], members, train)
        if all(covers(label, row)):
            ranked.append((0, own, label, label))
            continue
        low, high, more = min(ends[0], row[0]), max(ends[-1], row[0]), members | {row[1]}
        age = label[0] if covers(label, row)[0] else f"[{low}~{high}]"
        town = label[1] if covers(label, row)[1] else "{" + ", ".join(sorted(more)) + "}"
        ranked.append((1, lost(low, high, more, train) - own, label, (age, town)))
    best = min(ranked, key=lambda each: (each[0], round(each[1], 6)))
    equal = [e for e in ranked if e[0] == best[0] and abs(e[1] - best[1]) < 1e-6]
    return sorted(equal, key=lambda each: each[2])[0][3]


rows = st.tuples(st.integers(10, 40), st.sampled_from("uvwxyz"))


@examples(25)
@given(train=st.lists(rows, min_size=6, max_size=40), new=st.lists(rows, min_size=1, max_size=8))
def test_new_rows_get_the_label_of_the_twin(train: list[Row], new: list[Row]) -> None:
    frame, other = (pd.DataFrame(some, columns=["age", "town"]) for some in (train, new))
    given: dict[str, Any] = {"k": 3, "kinds": {"town": "unordered", "age": "ordered"}, "seed": 0}
    anonymizer = Anonymizer(**given, method="least-loss-partition")
    own = [tuple(map(str, row)) for row in anonymizer.fit_transform(frame)]
    for row, label in zip(train, own, strict=True):
        assert all(covers(label, row))
        assert own.count(label) >= 3
    labels = sorted(set(own))
    found = [tuple(map(str, row)) for row in anonymizer.transform(other)]
    for row, label in zip(new, found, strict=True):
        assert all(covers(label, row))
        assert label == nearest(labels, row, train)
    inside = [any(all(covers(label, row)) for label in labels) for row in new]
    assert anonymizer.coverage_[-1].uncovered == inside.count(False)


# --- other forms of labels: the same twin ------------------------------------------------------

FORMS = st.sampled_from(
    [("mean", "mode"), ("median", "range"), ("midpoint", "mode"), ("mode", "mode")]
)


@examples(25)
@given(
    train=st.lists(rows, min_size=6, max_size=40),
    new=st.lists(rows, min_size=1, max_size=8),
    forms=FORMS,
)
def test_new_rows_get_the_statistics_of_the_twins_class(
    train: list[Row], new: list[Row], forms: tuple[str, str]
) -> None:
    """The class whose ranges and sets would cover a row, or be nearest; its statistics stay."""
    frame, other = (pd.DataFrame(some, columns=["age", "town"]) for some in (train, new))
    given: dict[str, Any] = {"k": 3, "kinds": {"town": "unordered", "age": "ordered"}, "seed": 0}
    anonymizer = Anonymizer(
        **given, method="least-loss-partition", labels={"age": forms[0], "town": forms[1]}
    )
    own = [tuple(map(str, row)) for row in anonymizer.fit_transform(frame)]
    release = anonymizer.release_.table.to_pylist()
    assert own == [(str(row["age"]), str(row["town"])) for row in release]
    classes: dict[tuple[str, str], list[Row]] = {}
    for row, label in zip(train, own, strict=True):
        classes.setdefault(label, []).append(row)
    assert min(map(len, classes.values())) >= 3
    found = [tuple(map(str, row)) for row in anonymizer.transform(other)]
    uncovered = 0
    for row, label in zip(new, found, strict=True):
        ranked = []
        for published, members in classes.items():
            low, high = min(age for age, _ in members), max(age for age, _ in members)
            towns = {town for _, town in members}
            inside = low <= row[0] <= high and row[1] in towns
            cost = lost(low, high, towns, train)
            wide = lost(min(low, row[0]), max(high, row[0]), towns | {row[1]}, train)
            town = published[1]
            if forms[1] == "range" and row[1] not in towns:
                town = "{" + ", ".join(sorted(towns | {row[1]})) + "}"
            ranked.append((not inside, cost if inside else wide - cost, published, town))
        best = min(ranked, key=lambda each: (each[0], round(each[1], 6)))
        equal = [e for e in ranked if e[0] == best[0] and abs(e[1] - best[1]) < 1e-6]
        chosen = min(equal, key=lambda each: each[2])
        assert label == (chosen[2][0], chosen[3])
        uncovered += best[0]
    assert anonymizer.coverage_[-1].uncovered == uncovered


@examples(25)
@given(train=st.lists(rows, min_size=6, max_size=40), new=st.lists(rows, min_size=1, max_size=8))
def test_new_rows_get_the_uniform_label_that_has_their_value(
    train: list[Row], new: list[Row]
) -> None:
    frame, other = (pd.DataFrame(some, columns=["age", "town"]) for some in (train, new))
    given: dict[str, Any] = {"k": 3, "kinds": {"town": "unordered", "age": "ordered"}, "seed": 0}
    given["labels"] = {"age": "uniform", "town": "uniform"}
    anonymizer = Anonymizer(**given, method="least-loss-partition").fit(frame)
    own = [tuple(row.values()) for row in anonymizer.release_.table.to_pylist()]
    assert [tuple(row) for row in anonymizer.transform(frame)] == own
    assert anonymizer.coverage_[-1].uncovered == 0
    found, uncovered = [tuple(row) for row in anonymizer.transform(other)], 0
    for row, label in zip(new, found, strict=True):
        fitting = []
        for j in range(2):
            published = {each[j] for each in own}
            fitting.append({one for one in published if one == "*" or covers_one(one, row, j)})
            assert len(fitting[j]) <= 1, "they never overlap"
            assert label[j] == (fitting[j] or {"*"}).pop()
        uncovered += label not in own
    assert anonymizer.coverage_[-1].uncovered == uncovered


def covers_one(label: str, row: Row, j: int) -> bool:
    return covers((label, "") if j == 0 else ("0", label), row)[j]


@pytest.mark.parametrize("encode", ["numbers", "bounds"])
def test_features_of_other_forms(encode: str) -> None:
    frame, _ = patients(120)
    frame["size"] = frame.age.map(lambda age: "S" if age < 40 else "M" if age < 60 else "L")
    forms: Any = {"age": "mean", "region": "mode", "visit": "uniform", "size": "median"}
    given: dict[str, Any] = {"plain": "pulse", "orders": {"size": ["S", "M", "L"]}, "k": 8}
    anonymizer = Anonymizer(**given, labels=forms, seed=0, encode=encode)
    found = anonymizer.set_output(transform="pandas").fit_transform(frame)
    release = anonymizer.release_.table.to_pandas()
    assert found.age.tolist() == release.age.astype(float).tolist()  # one feature in both
    assert found["size"].tolist() == release["size"].map({"S": 0, "M": 1, "L": 2}).tolist()
    modes = [name for name in found if name.startswith("region_")]
    assert set(modes) == {f"region_{mode}" for mode in release.region}
    assert [modes[i][7:] for i in found[modes].to_numpy().argmax(axis=1)] == release.region.tolist()
    ends = release.visit.str.strip("[]").str.split("~", expand=True)
    days = ends.apply(lambda end: (pd.to_datetime(end) - pd.Timestamp(0)).dt.days)
    if encode == "bounds":
        assert found[["visit_low", "visit_high"]].to_numpy().tolist() == days.to_numpy().tolist()
    else:
        assert found.visit.tolist() == days.mean(axis=1).tolist()
    new = anonymizer.transform(frame.assign(age=200, visit=pd.Timestamp("2031-05-05")))
    assert set(new.age) <= set(found.age)  # a statistic is never widened
    if encode == "bounds":  # no label has that day: a star, which says what all labels say
        assert new[["visit_low", "visit_high"]].drop_duplicates().to_numpy().tolist() == [
            [days[0].min(), days[1].max()]
        ]
    assert anonymizer.coverage_[-1].uncovered == len(frame)
    assert list(new) == list(found) == anonymizer.get_feature_names_out().tolist()


@pytest.mark.parametrize("labels", [{"age": "mean", "region": "mode"}, {"age": "uniform"}], ids=str)
def test_cross_validation_of_other_forms(labels: Any) -> None:
    frame, ill = patients()
    anonymizer = Anonymizer(plain="pulse", k=10, seed=0, encode="numbers", labels=labels)
    pipeline = make_pipeline(anonymizer, LogisticRegression(max_iter=2000))
    found = cross_validate(pipeline, frame, ill, cv=3, return_estimator=True, error_score="raise")
    assert found["test_score"].mean() > 0.7
    for fitted in found["estimator"]:
        assert fitted[0].coverage_[-1].rows == len(frame) // 3
        table = fitted[0].release_.table.to_pandas()
        assert table.groupby(["age", "region", "visit"]).size().min() >= 10


def test_a_policy_with_labels() -> None:
    policy = {
        "columns": {"age": {"role": "quasi", "labels": "mean"}},
        "constraints": [{"k": 3}],
        "default": "drop",
    }
    train = pd.DataFrame({"age": [31, 36, 35, 61, 64, 62]})
    anonymizer = Anonymizer(policy, seed=0).fit(train)
    assert anonymizer.transform(train)[:, 0].tolist() == ["34"] * 3 + ["62"] * 3
    assert anonymizer.transform(pd.DataFrame({"age": [40, 99]}))[:, 0].tolist() == ["34", "62"]
    assert "widened" in anonymizer.coverage_[-1].guarantee


# --- pipelines -------------------------------------------------------------------------------


def patients(n: int = 240) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "region": rng.choice(["north", "south", "east"], n),
            "visit": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
            "pulse": rng.integers(50, 110, n).astype(float),
        }
    )
    return frame, (frame.age + rng.normal(0, 8, n) > 55).to_numpy()


def test_cross_validation() -> None:
    frame, ill = patients()
    pipeline = make_pipeline(
        Anonymizer(quasi=["age", "region", "visit"], plain="pulse", k=10, seed=0, encode="numbers"),
        LogisticRegression(max_iter=2000),
    )
    found = cross_validate(pipeline, frame, ill, cv=3, return_estimator=True, error_score="raise")
    assert found["test_score"].mean() > 0.75
    for fitted in found["estimator"]:
        anonymizer = fitted[0]
        (coverage,) = anonymizer.coverage_  # of the held-out rows; cross_validate asks once
        assert coverage.rows == len(frame) // 3
        assert 0 <= coverage.uncovered <= coverage.rows
        assert coverage.share == pytest.approx(1 - coverage.uncovered / coverage.rows)
        assert "were not counted" in coverage.guarantee
        labels = anonymizer.set_params(encode="labels").transform(frame)
        assert labels.shape == (len(frame), 4)
        assert all(isinstance(label, str) and label for label in labels[:, 0])
        assert all(finding.holds for finding in anonymizer.release_.findings)


def test_features_and_frames() -> None:
    frame, _ = patients(60)
    given: dict[str, Any] = {
        "quasi": ["age", "region", "visit"],
        "plain": "pulse",
        "k": 5,
        "seed": 0,
    }
    anonymizer = Anonymizer(**given).set_output(transform="pandas")
    labels = anonymizer.fit_transform(frame)
    assert labels.index.equals(frame.index)
    assert list(labels) == list(anonymizer.get_feature_names_out()) == list(frame)
    assert labels.groupby(["age", "region", "visit"]).size().min() >= 5
    assert labels.pulse.tolist() == frame.pulse.tolist()
    bounds = clone(anonymizer).set_params(encode="bounds").fit(frame).transform(frame)
    assert (bounds.age_low <= frame.age).all()
    assert (bounds.age_high >= frame.age).all()
    given_labels = anonymizer.transform(frame)
    for text, low, high in zip(given_labels.age, bounds.age_low, bounds.age_high, strict=True):
        assert [float(end) for end in re.findall(r"\d+", text)] in ([low, high], [low])
    days = (frame.visit - pd.Timestamp(0)).dt.days
    assert (bounds.visit_low <= days).all()
    assert (bounds.visit_high >= days).all()
    regions = bounds[["region_north", "region_south", "region_east"]]
    assert np.allclose(regions.sum(axis=1), 1)
    own = regions.to_numpy()[
        np.arange(60), [list(regions).index(f"region_{r}") for r in frame.region]
    ]
    assert (own > 0).all()
    middle = Anonymizer(**given, encode="numbers").fit_transform(frame)
    middle_names = ["age", "region_east", "region_north", "region_south", "visit", "pulse"]
    names = clone(anonymizer).set_params(encode="numbers").fit(frame).get_feature_names_out()
    assert sorted(names) == sorted(middle_names)
    assert middle.shape == (60, 6)
    from_polars = Anonymizer(**given).fit_transform(pl.DataFrame(frame))
    assert from_polars[:, 1].tolist() == labels.region.tolist()


def test_hierarchies_missing_values_and_full_domain() -> None:
    frame = pd.DataFrame(
        {
            "age": [21, 22, 23, 24, 41, 42, 43, None],
            "town": ["a", "a", "b", "b", "c", "c", "d", "d"],
        }
    )
    tree = {"town": {"tree": {"AB": ["a", "b"], "CD": ["c", "d"]}}}
    both = {**tree, "age": {"intervals": [10, 50]}}
    for method, trees in (("least-loss-partition", tree), ("optimal", both)):
        anonymizer = Anonymizer(k=2, hierarchies=trees, method=method, seed=0).fit(frame)
        found = anonymizer.transform(frame)
        assert anonymizer.coverage_[-1].uncovered == 0
        new = pd.DataFrame({"age": [22.0, None], "town": ["d", "a"]})
        assert anonymizer.transform(new).shape == (2, 2)
        assert set(found[:, 1]) <= {"a", "b", "c", "d", "AB", "CD", "*"}
        numbers = clone(anonymizer).set_params(encode="numbers").fit(frame)
        assert np.allclose(numbers.transform(frame)[:, 1:].sum(axis=1), 1)


def test_suppressed_rows_stay_in_their_place() -> None:
    frame = pd.DataFrame({"town": ["a"] * 4 + ["z"] + ["b"] * 4, "pulse": range(9)})
    trees = {"town": {"tree": {"AB": ["a", "b"], "Z": ["z"]}}}
    given: dict[str, Any] = {"k": 4, "hierarchies": trees, "method": "optimal", "suppression": 0.2}
    anonymizer = Anonymizer(quasi="town", plain="pulse", **given, seed=0)
    found = anonymizer.fit_transform(frame)
    assert found[:, 0].tolist() == ["a"] * 4 + ["*"] + ["b"] * 4
    assert found[4, 1] == "*"
    assert anonymizer.classes_of_rows_.tolist() == [0] * 4 + [-1] + [1] * 4
    numbers = clone(anonymizer).set_params(encode="numbers").fit_transform(frame)
    assert np.allclose(numbers[4, :2], 1 / 2)
    assert np.isnan(numbers[4, 2])


@pytest.mark.parametrize("encode", ["numbers", "bounds"])
def test_nothing_of_suppressed_rows_is_in_the_features(encode: str) -> None:
    frame = pd.DataFrame(
        {"age": [31, 36, 35, 38, 61, 64, 62, 65, 117], "job": ["a"] * 4 + ["b"] * 4 + ["diver"]}
    )
    frame["ill"] = ["flu", "cold"] * 4 + ["gout"]
    trees = {"age": {"intervals": [10, 20]}, "job": {"tree": {"AB": ["a", "b"], "Z": ["diver"]}}}
    given: dict[str, Any] = {"k": 4, "hierarchies": trees, "method": "optimal", "suppression": 0.2}
    anonymizer = Anonymizer(plain="ill", **given, seed=0, encode=encode)
    found = anonymizer.fit_transform(frame)
    assert anonymizer.classes_of_rows_[8] == -1
    assert np.nanmax(found) == 70 if encode == "bounds" else np.nanmax(found) == 65
    assert not {"job_diver", "ill_gout"} & set(anonymizer.get_feature_names_out())
    assert anonymizer.transform(frame).shape == found.shape


def test_bounds_say_what_labels_say() -> None:
    """Of a node no more than its label, and of a star no more than all labels together."""
    frame = pd.DataFrame(
        {"age": [31, 36, 35, 61, 64, 62], "seen": ["2020-01-05"] * 3 + ["2021-03-01"] * 3}
    )
    trees = {"age": {"intervals": [10, 50]}, "seen": {"date": ["month", "year"]}}
    anonymizer = Anonymizer(k=3, hierarchies=trees, method="optimal", seed=0, encode="bounds")
    anonymizer.set_output(transform="pandas")
    found = anonymizer.fit_transform(frame)
    labels = anonymizer.release_.table.to_pandas()
    assert set(labels.age) == {"[30-40)", "[60-70)"}
    assert found[["age_low", "age_high"]].drop_duplicates().to_numpy().tolist() == [
        [30, 40],
        [60, 70],
    ]
    days = pd.to_datetime(labels.seen) - pd.Timestamp(0)
    assert (found.seen_low <= days.dt.days).all()
    new = anonymizer.transform(pd.DataFrame({"age": [99], "seen": ["2020-01-05"]}))  # a star
    assert new[["age_low", "age_high"]].to_numpy().tolist() == [[30, 70]]


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
def test_rows_of_another_kind_than_the_training_rows() -> None:
    frame = pd.DataFrame({"age": [31, 36, 61, 64]})
    named, bare = (Anonymizer(k=2, seed=0).fit(rows) for rows in (frame, frame.to_numpy()))
    with pytest.raises(
        InputError, match=r"named age; in these rows.*named x0, age cannot be found"
    ):
        named.transform(frame.to_numpy())
    with pytest.raises(InputError, match="Give a frame both times, or an array both times"):
        bare.transform(frame)


@pytest.mark.parametrize("encode", ["labels", "numbers", "bounds"])
def test_rules_hold_for_columns_that_are_not_generalised(encode: str) -> None:
    frame = pd.DataFrame({"age": [31, 36, 61, 64], "pay": [1234, 5678, 2345, 98765]})
    policy = {
        "columns": {"age": "quasi", "pay": {"role": "plain", "round": 1000, "top": 6000}},
        "constraints": [{"k": 2}],
    }
    anonymizer = Anonymizer(policy, seed=0, encode=encode)
    both = anonymizer.fit_transform(frame), anonymizer.transform(frame)
    raw = {str(float(pay)) for pay in frame["pay"]} | {str(pay) for pay in frame["pay"]}
    for found in both:
        assert not raw & {str(cell) for cell in found.ravel()}
    assert np.array_equal(*both)
    del policy["columns"]["pay"]["top"]  # type: ignore[attr-defined]
    rounded = Anonymizer(policy, seed=0, encode=encode).fit_transform(frame)[:, -1]
    assert [int(pay) for pay in rounded] == [1000, 6000, 2000, 99000]


def test_bad_input() -> None:
    frame, _ = patients(40)
    with pytest.raises(PolicyError, match="encode: found 'ordinal'; allowed: labels, numbers"):
        Anonymizer(k=2, encode="ordinal").fit(frame)  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match="k: missing"):
        Anonymizer().fit(frame)
    with pytest.raises(PolicyError, match="cannot do so with `publish: anatomy`"):
        Anonymizer(
            {
                "columns": {"age": "quasi", "region": "sensitive"},
                "constraints": [{"l": 2, "of": "region"}],
                "publish": "anatomy",
                "default": "drop",
            }
        ).fit(frame)
    with pytest.raises(InputError, match="Column 'region': `labels: mean` is for numbers"):
        Anonymizer(quasi="region", k=2, labels={"region": "mean"}, default="drop").fit(frame)
    with pytest.raises(PolicyError, match="labels"):
        Anonymizer(quasi="age", k=2, labels={"age": "average"}, default="drop").fit(frame)  # type: ignore[dict-item]
    with pytest.raises(PolicyError, match="labels"):
        Anonymizer(k=2, plain="age", labels={"age": "mean"}).fit(frame)
    with pytest.raises(Infeasible, match="40 rows"):
        Anonymizer(quasi="age", k=50, default="drop").fit(frame)
    fitted = Anonymizer(quasi="age", k=5, default="drop").fit(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(frame.rename(columns={"age": "years"}))
    with pytest.raises(InputError, match="Column 'age' has values of the type"):
        fitted.transform(frame.assign(age="old"))
    tree = {"region": {"tree": {"*": ["north", "south", "east"]}}}
    fitted = Anonymizer(quasi="region", k=5, default="drop", hierarchies=tree).fit(frame)
    with pytest.raises((InputError, HierarchyError), match="region"):
        fitted.transform(frame.assign(region="west"))


def test_features_of_stars_and_unknown_values_say_no_more_than_labels() -> None:
    train = pd.DataFrame({"age": [31.0, 36, 35, 61, 64, 62], "sex": list("FFFMMM")})
    new = pd.DataFrame({"age": [np.nan, 33, 62], "sex": ["F", "X", None]})
    found = {}
    for encode in ("labels", "bounds"):
        anonymizer = (
            Anonymizer(k=3, seed=1, encode=encode).set_output(transform="pandas").fit(train)
        )
        found[encode] = anonymizer.transform(new)
    labels, ends = found["labels"], found["bounds"]
    assert labels.age[0] == "*"
    assert ends[["age_low", "age_high"]].loc[0].tolist() == [31, 64]
    assert labels.sex[1:].tolist() == ["{F, X}", "{M, <missing>}"]
    assert ends[["sex_F", "sex_M"]].to_numpy().tolist() == [[1, 0], [0.5, 0], [0, 0.5]]


def test_a_value_beside_a_class_of_missing_ones_is_not_shown() -> None:
    train = pd.DataFrame({"dose": [None, None, None, 1.0, 2, 3], "sex": list("FFFMMM")})
    new = pd.DataFrame({"dose": [99.0], "sex": ["F"]})
    labels = Anonymizer(k=3, seed=1).fit(train).transform(new)
    assert labels[0, 0] == "*"
    for encode, expected in (("bounds", [1, 3]), ("numbers", [2])):
        features = Anonymizer(k=3, seed=1, encode=encode).fit(train).transform(new)
        assert features[0, : len(expected)].tolist() == expected


def test_people_weights_and_targets() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.integers(20, 60, 120), "town": rng.choice(list("abc"), 120)})
    frame["id"], frame["y"] = np.arange(120) // 2, frame.age > 40
    frame["w"] = frame.id % 7 + 1
    anonymizer = Anonymizer(k=4, person="id", weight="w", plain="y", to_predict="y", seed=2).fit(
        frame
    )
    policy = anonymizer.release_.policy
    assert (policy.person, policy.weight, policy.predict) == ("id", "w", "y")
    assert set(policy.quasi) == {"age", "town"}
    people = frame.groupby(anonymizer.classes_of_rows_).id.nunique()
    assert people[people.index >= 0].min() >= 4
    assert anonymizer.get_feature_names_out().tolist() == ["age", "town", "y"]
    assert anonymizer.transform(frame).shape == (120, 3)
    assert clone(anonymizer).get_params()["to_predict"] == "y"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("predict", "as to_predict"),
        ("order", "Rows come back in their order"),
        ("metrics", "into a policy"),
        ("quasis", "quasi"),
    ],
)
def test_keywords_that_there_are_not(name: str, words: str) -> None:
    with pytest.raises(TypeError, match=f"no keyword '{name}'.*{words}"):
        Anonymizer(k=2, **{name: None})


def test_without_scikit_learn() -> None:
    code = "import sys; sys.modules['sklearn'] = None; import shoal.sklearn"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "shoal.sklearn needs scikit-learn: pip install 'shoal[sklearn]'" in done.stderr
