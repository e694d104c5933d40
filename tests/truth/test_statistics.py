"""The check that labels are statistics of their classes, with the arithmetic written out."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shoal.encoding.columns import ColumnSpec
from shoal.engines.statistics_truth import StatisticsCheck
from shoal.policy import Policy

TOWNS = ("Ath", "Huy", "Mons", "Wavre")


def untrue(
    form: str,
    labels: list[str | None],
    values: list[str | None],
    others: list[str] | None = None,
    people: list[int] | None = None,
    **spec: Any,
) -> list[int]:
    """The rows whose label is found not to be the statistic of their class."""
    column: dict[str, Any] = {"role": "quasi", "kind": spec.get("kind", "ordered"), "labels": form}
    if "order" in spec:
        column["order"] = list(spec["order"])
    policy = Policy.load(
        {"columns": {"x": column, "y": "quasi"}, "constraints": [{"k": 1}]},
    )
    cells = {"x": labels, "y": others or ["*"] * len(labels)}
    check = StatisticsCheck(
        policy,
        [("x", "y")],
        lambda name: pa.array(cells[name], pa.string()),
        None if people is None else np.array(people, np.int64),
    )
    assert check.concerns("x")
    assert not check.concerns("y")
    coded = pa.array(values, pa.string()).dictionary_encode()
    found = check.untrue(
        "x",
        coded.indices,
        coded.dictionary.to_pylist(),
        ColumnSpec(kind=column["kind"], labels=form, order=spec.get("order")),  # type: ignore[arg-type]
    )
    return [] if found is None else np.flatnonzero(found).tolist()


@pytest.mark.parametrize(
    ("form", "values", "good", "bad"),
    [
        ("midpoint", ["10", "20", "11"], "15", ["14", "16"]),
        ("midpoint", ["10", "21"], "16", ["15", "17"]),  # 15.5, rounded up
        ("midpoint", ["10.0", "10.5"], "10.3", ["10.2", "10.4", "10.25"]),  # as many decimals
        ("midpoint", ["-3", "-2"], "-2", ["-3", "-4"]),  # -2.5, rounded up
        ("mean", ["10", "20", "12"], "14", ["13", "15"]),
        ("mean", ["10", "11"], "11", ["10"]),  # 10.5, rounded up
        ("mean", ["10", "10", "11"], "10", ["11"]),  # 10.33
        ("mean", ["10", "11", "11"], "11", ["10"]),  # 10.67
        ("mean", ["10"] * 9 + ["20"], "11", ["12"]),
        ("median", ["10", "30", "11"], "11", ["10", "17"]),
        ("median", ["10", "30", "11", "14"], "13", ["12", "11"]),  # 12.5
        ("median", ["10", "10", "10", "99"], "10", ["11", "55"]),
        ("mode", ["10", "10", "11"], "10", ["11", "12"]),
        ("midpoint", ["2020-01-01", "2020-01-03"], "2020-01-02", ["2020-01-01"]),
        (
            "midpoint",
            ["2020-01-01", "2020-01-04"],
            "2020-01-03",  # half of a day later than the middle
            ["2020-01-02", "2020-01-02T12:00:00"],
        ),
        ("midpoint", ["7", "7"], "7", ["8"]),
    ],
)
def test_a_class(form: str, values: list[str], good: str, bad: list[str]) -> None:
    n = len(values)
    assert untrue(form, [good] * n, [*values]) == []
    for label in (*bad, "x", None):
        assert untrue(form, [label] * n, [*values]) == list(range(n))


def test_of_two_common_values_either_is_the_mode() -> None:
    for label in ("10", "11"):
        assert untrue("mode", [label] * 5, ["10", "10", "11", "11", "12"]) == []
    assert untrue("mode", ["12"] * 5, ["10", "10", "11", "11", "12"]) == [0, 1, 2, 3, 4]


def test_each_class_by_itself() -> None:
    """Rows 0 and 2 read alike, and so do 1 and 3: their midpoints are 15 and 35."""
    values: list[str | None] = ["10", "30", "20", "40"]
    assert untrue("midpoint", ["15", "35", "15", "35"], values) == []
    assert untrue("midpoint", ["15", "36", "15", "36"], values) == [1, 3]
    # all rows read alike in this column, and differ in the other
    assert untrue("midpoint", ["25"] * 4, values) == []
    assert untrue("midpoint", ["25"] * 4, values, ["a", "b", "a", "b"]) == [0, 1, 2, 3]
    assert untrue("midpoint", ["15", "35", "15", "35"], values, ["a", "b", "a", "b"]) == []
    assert untrue("midpoint", ["25"] * 4, values, ["a", "b", "b", "a"]) == []
    # three classes: those of the last two differ in both columns
    labels: list[str | None] = ["5", "5", "5", "35", "35"]
    assert untrue("midpoint", labels, ["5", "0", "10", "30", "40"], ["a", *"bbaa"]) == []
    assert untrue("midpoint", labels, ["5", "0", "30", "10", "40"], ["a", *"bbaa"]) == [1, 2, 3, 4]


def test_a_star_says_nothing() -> None:
    assert untrue("midpoint", ["*", "*", "8", "8"], ["1", "9", "7", "9"]) == []


def test_missing_values() -> None:
    """Beside numbers they have no statistic but the mode; a class of nothing else is missing."""
    assert untrue("midpoint", [None, None, "7"], [None, "", "7"]) == []
    assert untrue("midpoint", ["7", "7"], [None, "7"]) == [0, 1]
    assert untrue("midpoint", [None, None], [None, "7"]) == [0, 1]
    assert untrue("mode", [None] * 3, [None, None, "7"]) == []
    assert untrue("mode", ["7"] * 3, [None, None, "7"]) == [0, 1, 2]
    assert untrue("mode", ["7"] * 3, ["7", None, "7"]) == []


def test_values_in_a_list() -> None:
    """The lower one of two in the middle; what is between them in the list is no value of theirs."""
    options: dict[str, Any] = {"order": TOWNS}
    assert untrue("median", ["Ath"] * 2, ["Ath", "Mons"], **options) == []
    assert untrue("median", ["Huy"] * 2, ["Ath", "Mons"], **options) == [0, 1]
    assert untrue("median", ["Mons"] * 2, ["Ath", "Mons"], **options) == [0, 1]
    assert untrue("median", ["Mons"] * 3, ["Ath", "Mons", "Wavre"], **options) == []
    assert untrue("median", ["Wavre"] * 3, ["Wavre", "Mons", "Wavre"], **options) == []
    assert untrue("mode", ["Wavre"] * 3, ["Wavre", "Mons", "Wavre"], **options) == []
    assert untrue("median", ["Huy"], ["Huy"], **options) == []
    assert untrue("median", ["Rome"], ["Huy"], **options) == [0]
    assert untrue("median", ["Ath"] * 2, [None, "Ath"], **options) == [0, 1], "one is missing"


def test_values_without_order() -> None:
    options: dict[str, Any] = {"kind": "unordered"}
    assert untrue("mode", ["10"] * 3, ["10", "10", "9"], **options) == []
    assert untrue("mode", ["10.0"] * 3, ["10", "10", "9"], **options) == [0, 1, 2]
    assert untrue("mode", [r"a\*"] * 3, ["a*", "a*", "b"], **options) == []
    assert untrue("mode", [""] * 3, ["", "", "a"], **options) == [], "an empty text is a value here"


def test_everybody_counts_once() -> None:
    """Person 7 has 10 three times and person 8 has 20 once: their mean is 15, that of rows 12.5. Both
    values are as common as each other."""
    values: list[str | None] = ["10", "10", "10", "20"]
    people = [7, 7, 7, 8]
    assert untrue("mean", ["15"] * 4, values, people=people) == []
    assert untrue("mean", ["13"] * 4, values, people=people) == [0, 1, 2, 3]
    assert untrue("mean", ["13"] * 4, values) == []
    assert untrue("mode", ["20"] * 4, values, people=people) == []
    assert untrue("mode", ["20"] * 4, values) == [0, 1, 2, 3]
    assert untrue("median", ["15"] * 4, values, people=people) == []
    assert untrue("median", ["10"] * 4, values) == []


def test_no_rows() -> None:
    assert untrue("mean", [], []) == []
