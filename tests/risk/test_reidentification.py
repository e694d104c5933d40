"""Prosecutor, journalist and marketer risk, by hand and by plain counting."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.risk.assessment import reidentification
from tests.examples import examples


def test_by_hand():
    # classes of 1, 2 and 7 rows: 1/1 + 2 * 1/2 + 7 * 1/7 = 3 of 10 rows
    found = reidentification(np.array([1, 2, 7]))
    assert found.prosecutor.highest == 1.0
    assert found.prosecutor.average == pytest.approx(3 / 10)
    assert found.prosecutor.above == pytest.approx(3 / 10)  # 1/7 is not above 0.2
    assert found.journalist == found.prosecutor
    assert found.marketer == pytest.approx(3 / 10)
    assert (found.basis, found.unique_rows, found.unique_share) == ("table", 1, 0.1)


def test_by_hand_with_a_population():
    # people: 4, 2 and 70; rows of the second class are all there are
    found = reidentification(np.array([1, 2, 7]), np.array([4, 2, 70]))
    assert found.journalist.highest == 1 / 2
    assert found.journalist.average == pytest.approx((1 / 4 + 2 / 2 + 7 / 70) / 10)
    assert found.journalist.above == pytest.approx(3 / 10)
    assert found.marketer == found.journalist.average
    assert (found.basis, found.outside) == ("population", 0)
    # a population with fewer people in a class than rows here cannot be the whole one
    short = reidentification(np.array([3, 2]), np.array([0, 5]))
    assert (short.outside, short.journalist.highest) == (3, 1 / 3)


def test_the_threshold_is_not_above_itself():
    assert reidentification(np.array([5]), threshold=0.2).prosecutor.above == 0.0
    assert reidentification(np.array([4]), threshold=0.2).prosecutor.above == 1.0


def test_nobody():
    found = reidentification(np.zeros(0, np.int64))
    assert (found.prosecutor.highest, found.marketer, found.unique_share) == (0.0, 0.0, 0.0)


rows = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab")), min_size=1, max_size=25)


@examples(25)
@given(rows, rows)
def test_as_counted_plainly(ours, others):
    table = pa.table({"a": [a for a, _ in ours], "b": [b for _, b in ours]})
    people = pa.table({"a": [a for a, _ in ours + others], "b": [b for _, b in ours + others]})
    here, there = Counter(ours), Counter(ours + others)
    chances = [Fraction(1, here[row]) for row in ours]
    wider = [Fraction(1, there[row]) for row in ours]
    found = shoal.assess(table, ["a", "b"], population=people).reidentification
    assert found.prosecutor.highest == pytest.approx(float(max(chances)))
    assert found.prosecutor.average == pytest.approx(float(sum(chances) / len(ours)))
    assert found.prosecutor.above == pytest.approx(sum(c > 0.2 for c in chances) / len(ours))
    assert found.journalist.highest == pytest.approx(float(max(wider)))
    assert found.marketer == pytest.approx(float(sum(wider) / len(ours)))
    assert found.outside == 0


def test_a_release_before_and_after():
    people = pd.DataFrame({"age": [20, 21, 30, 31, 40, 41], "x": list("aabbcc")})
    made = shoal.anonymize(people, quasi="age", plain="x", k=2)
    assert shoal.assess(people, "age").reidentification.prosecutor.highest == 1.0
    after = shoal.assess(made, population=people)
    assert after.reidentification.prosecutor.highest == 0.5
    assert after.reidentification.journalist.highest == 0.5
    assert after.to_dict()["quasi"] == ("age",)


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ({}, "Say which columns"),
        ({"quasi": ["agee"]}, "no column 'agee'. Did you mean 'age'"),
        ({"quasi": []}, "at least one column"),
        ({"quasi": "age", "fraction": 0}, "above 0 and at most 1"),
        ({"quasi": "age", "fraction": 2}, "above 0 and at most 1"),
        ({"quasi": "age", "msu": 0}, "at least 1"),
        ({"quasi": "age", "threshold": 0}, "above 0 and at most 1"),
        ({"quasi": "age", "population": pa.table({"zip": [1]})}, "population table has no column"),
    ],
)
def test_what_cannot_be_meant(words, match):
    with pytest.raises(shoal.InputError, match=match):
        shoal.assess(pa.table({"age": [1, 2]}), **words)
