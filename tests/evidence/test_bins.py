"""Bins of class sizes and of values, by hand."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.evidence.bars import axis_of
from shoal.evidence.evidence import binned, histogram
from tests.anatomy.plain import people, policy
from tests.evidence import plain
from tests.evidence.tables import by_name


def labels(values: list[object], kind: str = "ordered", rows: int = 10) -> list[str]:
    """The bars of a column in which every value has so many rows."""
    table = pa.table({"x": [value for value in values for _ in range(rows)]})
    asked = {"columns": {"x": {"role": "quasi", "kind": kind}}, "constraints": [{"k": 2}]}
    found = shoal.anonymize(table, asked).evidence.columns["x"]
    assert sum(bar.before for bar in found.distribution) == pytest.approx(1)
    return [bar.label for bar in found.distribution]


def test_sizes_of_classes_in_bins_that_grow() -> None:
    found = histogram(np.array([1, 1, 3, 7, 19, 20, 120]))
    assert found == ((1, 2), (3, 1), (7, 1), (19, 1), (20, 1), (120, 1))
    bins = [(one.low, one.high, one.classes, one.rows) for one in binned(found, 120)]
    assert bins == [
        (1, 1, 2, 2),
        (2, 4, 1, 3),
        (5, 9, 1, 7),
        (10, 19, 1, 19),
        (20, 49, 1, 20),
        (50, 99, 0, 0),
        (100, 199, 1, 120),
    ]
    assert histogram(np.zeros(0, np.int64)) == ()


def test_few_common_values_are_shown_as_they_are() -> None:
    assert labels([0, 1, 2]) == ["0", "1", "2"]


def test_whole_numbers_have_round_edges_and_open_ends() -> None:
    found = labels(list(range(3, 98)))
    assert found[:2] == ["under 10", "10 to 19"]
    assert found[-1] == "90 and over"


def test_decimals_have_edges_that_belong_to_one_bin() -> None:
    found = labels([round(0.05 * i, 2) for i in range(41)])
    assert found[:2] == ["under 0.2", "0.2 to under 0.4"]
    assert found[-1].endswith("and over")


def test_a_far_value_does_not_stretch_the_bins() -> None:
    found = labels([*range(100), 10**9])
    assert "1,000,000,000" not in " ".join(found)
    assert len(found) > 5


@pytest.mark.parametrize(
    ("days", "first", "last"),
    [(365 * 60, "before 1910", "1950 and later"), (400, "before 1900-02", "1901-01 and later")],
)
def test_dates_by_years_and_months(days: int, first: str, last: str) -> None:
    start = datetime.date(1900, 1, 1)
    found = labels([start + datetime.timedelta(i * days // 40) for i in range(40)])
    assert (found[0], found[-1]) == (first, last)


def test_days_that_lie_close() -> None:
    start = datetime.date(1900, 1, 1)
    found = labels([start + datetime.timedelta(i) for i in range(40)], rows=3)
    assert found[0].startswith("before 1900-01-")
    assert " to " in found[1]


def test_words_that_read_like_ours_are_quoted() -> None:
    assert labels(["others", "missing", "a"], "unordered") == ["a", "'missing'", "'others'"]


def test_values_that_few_share_are_others() -> None:
    table = pa.table({"x": ["a"] * 20 + ["b"] * 9 + ["c"] * 3})
    found = shoal.anonymize(table, quasi="x", k=3).evidence.columns["x"]
    assert [(bar.label, bar.before) for bar in found.distribution] == [
        ("a", 0.625),
        ("others", 0.375),
    ]
    assert found.lumped == 2


def test_numbers_no_float_can_bin_are_left_alone() -> None:
    texts = pa.array(["-1.7e308", "1.7e308"])
    assert axis_of(texts, np.array([1, 1]), guess=False) is None
    assert axis_of(pa.array(["a", "1"]), np.array([1, 1]), guess=False) is None


def test_anatomy_leaves_quasi_columns_as_they_were() -> None:
    table = people(60)
    release = shoal.anonymize(table, policy(method="l-clustering"))
    raw, evidence = by_name(table), release.evidence
    rows = list(zip(raw["age"], raw["town"], strict=True))
    assert list(evidence.before) == plain.sizes(rows)
    shown = by_name(release.table)
    kept = list(zip(shown["age"], shown["town"], strict=True))
    assert list(evidence.after) == plain.sizes(kept)
    share = release.published_rows / release.rows
    for name, words in (("age", "as it was"), ("ill", "in a table apart")):
        told = {one.label: one.share for one in evidence.columns[name].generality}
        assert told[words] == pytest.approx(share)
    if share == 1:
        assert all(
            bar.before == pytest.approx(bar.after, abs=1e-8)
            for column in evidence.columns.values()
            for bar in column.distribution
        )
