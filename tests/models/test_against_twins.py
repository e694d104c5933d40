"""Every model against its textbook twin on random groups."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding.counts import RaisedCounts
from shoal.models.alpha import Alpha
from shoal.models.average_risk import AverageRisk
from shoal.models.beta import Beta
from shoal.models.delta import Delta
from shoal.models.l import EntropyL, RecursiveL
from shoal.models.shares import known
from shoal.models.t import T
from shoal.testing import TREE, histograms
from tests.models import twins
from tests.models.histograms import Values, groups_of_values

others = st.lists(st.none() | st.integers(0, 6), max_size=12)
shares = st.sampled_from(["0", "0.1", "0.2", "0.25", "0.3", "0.375", "0.5", "0.6", "0.75", "1"])


def together(groups: list[Values], rest: Values) -> Values:
    return [value for group in (*groups, rest) for value in group]


@given(groups_of_values, st.sampled_from([1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0]))
def test_entropy(groups: list[Values], least: float) -> None:
    import math

    counts, found = histograms(groups), [twins.entropy(group) for group in groups]
    expected = [h >= math.log(least) - 1e-12 for h in found]
    assert EntropyL(least, "ill").holds(counts).tolist() == expected
    assert EntropyL(1, "ill").reached(counts) == pytest.approx(math.exp(min(found)), abs=1.1e-4)


@given(st.integers(1, 7), st.integers(1, 9))
def test_equally_common_values_hold_their_number(values: int, times: int) -> None:
    counts = histograms([list(range(values)) * times])
    assert EntropyL(values, "ill").holds(counts).all()
    assert not EntropyL(values + 0.001, "ill").holds(counts).any()
    assert EntropyL(1, "ill").reached(counts) == values


@given(groups_of_values, st.integers(1, 5), st.sampled_from(["0.1", "0.5", "1", "1.5", "2", "3"]))
def test_recursive(groups: list[Values], least: int, c: str) -> None:
    model = RecursiveL(least, "ill", float(c))
    counts = histograms(groups)
    held = [twins.recursive(group, least, Fraction(c)) for group in groups]
    assert model.holds(counts).tolist() == held
    per_group = [
        max((n for n in range(1, 8) if twins.recursive(group, n, Fraction(c))), default=0)
        for group in groups
    ]
    assert model.reached(counts) == min(per_group)
    assert all(len(group) >= model.min_rows for group, h in zip(groups, held, strict=True) if h)


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@given(groups=groups_of_values, rest=others, t=shares)
def test_t(distance: Any, groups: list[Values], rest: Values, t: str) -> None:
    twin = twins.distance(distance, TREE)
    everybody = together(groups, rest)
    found = [twin(group, everybody) for group in groups]
    counts = histograms(groups, rest)
    known = [bool(twins.present(group)) for group in groups]
    held = T(float(t), "ill", distance).holds(counts).tolist()
    assert held == [some and d <= Fraction(t) for some, d in zip(known, found, strict=True)]
    reached = T(1, "ill", distance).reached(counts)
    if not all(known):
        assert reached == float("inf")
        return
    assert Fraction(str(reached)) >= max(found) > Fraction(str(reached)) - Fraction(1, 10**4) or (
        reached == max(found) == 0
    )


@given(
    groups_of_values, others, st.sampled_from(["0", "0.25", "0.5", "1", "2", "3"]), st.booleans()
)
def test_beta(groups: list[Values], rest: Values, most: str, enhanced: bool) -> None:
    everybody = together(groups, rest)
    counts = histograms(groups, rest)
    expected = [twins.beta(group, everybody, Fraction(most), enhanced) for group in groups]
    assert Beta(float(most), "ill", enhanced).holds(counts).tolist() == expected
    if not enhanced and all(map(twins.present, groups)):
        grown = max(g for group in groups for g in twins.growths(group, everybody).values())
        assert Beta(0, "ill").reached(counts) == pytest.approx(float(max(grown, 0)), abs=1.1e-4)


@given(groups_of_values, others, st.sampled_from([0.01, 0.3, 0.7, 1.0, 2.0]))
def test_delta(groups: list[Values], rest: Values, below: float) -> None:
    everybody = together(groups, rest)
    expected = [twins.delta(group, everybody, below) for group in groups]
    assert Delta(below, "ill").holds(histograms(groups, rest)).tolist() == expected


@given(groups_of_values, shares.filter(lambda share: share != "0"))
def test_average_risk(groups: list[Values], most: str) -> None:
    counts, model = histograms(groups), AverageRisk(float(most))
    risk = Fraction(len(groups), sum(map(len, groups)))
    assert model.holds_over(counts) == (risk <= Fraction(most))
    assert model.holds(counts).tolist() == [1 / Fraction(len(g)) <= Fraction(most) for g in groups]
    if model.holds(counts).all():
        assert model.holds_over(counts), "the rule for single groups is enough"


@given(
    st.lists(st.none() | st.integers(0, 3), min_size=1, max_size=12),
    st.sampled_from(["0.1", "0.25", "0.3", "0.34", "0.5", "0.6", "0.75", "1"]),
)
def test_the_fewest_rows_without_which_alpha_holds(values: Values, most: str) -> None:
    counted = Counter(value for value in values if value is not None)
    alpha, total = Fraction(most), counted.total()
    kept = [
        sum(left)
        for left in product(*(range(count + 1) for count in counted.values()))
        if sum(left) and max(left) <= alpha * sum(left)
    ]
    found = Alpha(float(most), "ill").least_suppressed(histograms([values]))
    assert found == total - max(kept, default=0)
    people = replace(histograms([values]), rows=np.array([len(values)], np.int64))
    assert Alpha(float(most), "ill").least_suppressed(people) is None


def test_values_that_are_published_wider_are_known() -> None:
    counts = histograms([[0, 0, 1], [None, 1]])
    none = np.zeros(2, np.int64)
    wider = RaisedCounts(none, np.zeros((2, 1), np.int64), np.array([2, 0], np.int64))
    assert known(counts).tolist() == [3, 1]
    assert known(replace(counts, raised=wider)).tolist() == [5, 1]
    assert known(replace(counts, known=np.array([2, 1]), raised=wider)).tolist() == [4, 1]


def test_the_level_that_is_too_common_is_named() -> None:
    """Codes 0 and 1 are of level 1, code 2 is of level 2 and code 3 of level 3."""
    counts = histograms([[0, 2, 2, 2, 3]])
    levels = np.array([1, 1, 2, 3, 1, 1, 1], np.int32)
    assert counts.domain is not None
    leveled = replace(counts, domain=replace(counts.domain, levels=levels))
    assert "Sid 2 makes up 60.0% of the rows" in Alpha(0.5, "ill").advice(leveled)
