"""What methods and messages are told of a model: its bounds and its advice, against plain searches."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding.domain import Kind
from shoal.models.alpha import Alpha
from shoal.models.average_risk import AverageRisk
from shoal.models.beta import Beta
from shoal.models.delta import Delta
from shoal.models.estimated_k_map import EstimatedKMap
from shoal.models.k import K
from shoal.models.l import EntropyL, L, RecursiveL
from shoal.models.population import DeltaPresence, KMap
from shoal.models.requirement import Requirement, reads_spellings
from shoal.models.t import T
from shoal.testing import histograms
from tests.examples import examples

SHARES = ["0.1", "0.2", "0.25", "0.3", "0.34", "0.4", "0.5", "0.6", "0.7", "0.75", "0.9", "1"]
VALUES = st.lists(st.integers(0, 4), min_size=1, max_size=9)


@pytest.mark.parametrize("alpha", SHARES)
def test_the_fewest_rows_of_alpha(alpha: str) -> None:
    """So many different values are needed that each has a small enough share."""
    fewest = next(n for n in range(1, 99) if Fraction(1, n) <= Fraction(alpha))
    model = Alpha(float(alpha), "ill")
    assert model.min_rows == model.min_values == fewest
    assert model.max_share == float(alpha)
    assert model.promises_nothing is (alpha == "1")


def kept(counts: Counter[int]) -> Iterator[Counter[int]]:
    """Every choice of rows, by how many of each value are left."""
    for left in product(*(range(n + 1) for n in counts.values())):
        yield Counter(dict(zip(counts, left, strict=True)))


@examples(60)
@given(VALUES, st.sampled_from(SHARES))
def test_the_fewest_rows_to_suppress_for_alpha(values: list[int], alpha: str) -> None:
    most = max(
        sum(left.values())
        for left in kept(Counter(values))
        if all(n <= Fraction(alpha) * sum(left.values()) for n in left.values())
    )
    everyone = histograms([[*values, None]])
    model = Alpha(float(alpha), "ill")
    assert model.least_suppressed(everyone) == len(values) - most
    assert model.least_suppressed(replace(everyone, rows=everyone.sizes)) is None


def test_the_advice_of_alpha() -> None:
    everyone = histograms([[0] * 2 + [1] + [None]])
    model = Alpha(0.5, "ill")
    assert "One value makes up 66.7% of the rows" in model.advice(everyone)
    assert "the least alpha it allows is 0.667" in model.advice(everyone)
    assert "with 0.5 at least 1 of 3 rows would have to be suppressed" in model.advice(everyone)
    none = Alpha(0.2, "ill").advice(everyone)
    assert "with 0.2 not one row could be published: raise alpha." in none
    of_people = model.advice(replace(everyone, rows=everyone.sizes))
    assert "66.7% of the people" in of_people
    assert of_people.endswith("0.667: raise alpha.")
    common = histograms([[3] * 10 + [1]])
    assert "'3' makes up 90.9%" in model.advice(common)
    assert "the least alpha it allows is 0.91;" in model.advice(common)
    assert "One value" in model.advice(histograms([[3] * 9 + [1]]))
    assert common.domain is not None
    levels = replace(common.domain, levels=np.array([1, 2, 1, 3, 1, 1, 1], np.int32))
    assert "Sid 3 makes up" in model.advice(replace(common, domain=levels))


@pytest.mark.parametrize("figure", [1, 1.5, 2, 2.5, 3, 4])
def test_the_fewest_rows_of_entropy(figure: float) -> None:
    """Rows whose values all differ have the entropy of their number."""
    model = EntropyL(figure, "ill")
    assert model.min_rows == model.min_values == math.ceil(figure)
    assert model.holds(histograms([list(range(model.min_rows))])).all()
    assert model.promises_nothing is (figure == 1)


@pytest.mark.parametrize("c", ["0.3", "0.5", "1", "1.5", "2", "4"])
@pytest.mark.parametrize("figure", [1, 2, 3])
def test_the_fewest_rows_of_recursive_diversity(figure: int, c: str) -> None:
    """The fewest rows, all with different values, of which one is less than c times the rest."""
    fewest = next(m for m in range(figure, 99) if Fraction(c) * (m - figure + 1) > 1)
    model = RecursiveL(figure, "ill", float(c))
    assert model.min_rows == fewest
    assert model.min_values == figure
    assert model.promises_nothing is (figure == 1 and float(c) > 1)
    assert [(m.recursive_l, m.c) for m in RecursiveL.examples("ill")] == list(
        product((1, 2, 3), (0.5, 1, 2))
    )


def test_the_advice_of_diversity() -> None:
    model = L(3, "ill")
    assert "Every value of ill is missing" in model.advice(histograms([[None]]))
    words = model.advice(histograms([[0, 1]]))
    assert words.startswith("The table has 2 distinct values of ill, but l = 3 was required.")
    assert "The largest l it allows is 2" in words
    people = replace(histograms([[0, 0, 0, 1, 2]]), known=np.array([3]))
    words = model.advice(people)
    assert "the largest l that the table's people allow is 1: all but 0 of them" in words
    assert model.promises_nothing is False
    assert L(1, "ill").promises_nothing is True


def test_people_who_have_several_values() -> None:
    """At most one value more than the people who do not have the commonest one."""
    for known, expected in ((5, 3), (4, 2), (3, 1)):
        people = replace(histograms([[0, 0, 0, 1, 2]]), known=np.array([known]))
        assert L(1, "ill").strengths(people).tolist() == [expected]
    nobody = replace(histograms([[None]]), known=np.array([0]))
    assert L(1, "ill").strengths(nobody).tolist() == [0]


def test_presence_at_its_ends() -> None:
    """As many rows as people, and exactly the least share, are allowed."""
    counts = replace(histograms([[1, 1]]), sizes=np.array([2]))
    assert counts.population is not None
    people = int(counts.population.sum())
    assert DeltaPresence(1).strengths(counts).tolist() == [2 / people]
    assert DeltaPresence(1, least=2 / people).holds(counts).all()
    assert (
        not DeltaPresence(1, least=min(1, 2 / people + 0.01))
        .holds(replace(counts, population=counts.population * 2))
        .any()
    )
    none = KMap(2).advice(replace(counts, population=np.zeros_like(counts.population)))
    assert "no row of the population table equals any row" in none
    assert "The largest it allows is 1" in KMap(2).advice(
        replace(histograms([[1]]), population=np.array([1]))
    )
    few = DeltaPresence(0.5)
    assert "The smallest it allows is 1." in few.advice(replace(counts, population=np.array([2])))
    assert "That allows none." in few.advice(replace(counts, population=np.array([1])))


def test_what_a_requirement_knows_of_its_models() -> None:
    both = Requirement((K(3), L(2, "a"), L(4, "a"), Alpha(0.5, "b"), Alpha(0.25, "b")))
    assert both.min_rows == 4
    assert both.columns == ("a", "b")
    assert both.min_values == {"a": 4, "b": 4}
    assert both.max_shares == {"a": 1.0, "b": 0.25}
    assert both.only_values is False
    assert Requirement((K(3), L(2, "a"))).only_values is True
    assert Requirement((K(3), L(2, "a")), counts_people=True).only_values is False
    assert Requirement((K(3),)).only_size is True
    assert Requirement((K(3),), counts_people=True).only_size is False
    assert Requirement((K(3), L(2, "a"))).only_size is False
    assert Requirement((K(3), KMap(2))).only_size is False
    assert Requirement((K(3), EstimatedKMap(2))).only_size is False
    assert Requirement((K(3), KMap(2))).needs_population is True
    assert Requirement((K(3),)).needs_population is False
    assert Requirement((K(3), EstimatedKMap(2))).needs_weights is True
    assert Requirement((K(3),)).needs_weights is False
    assert Requirement((K(3), L(2, "a"))).holds_when_joined is True
    assert Requirement((K(3), T(0.2, "a"))).holds_when_joined is False


def test_which_models_read_spellings() -> None:
    """Those that merged spellings could weaken, where the spellings have what the model needs."""
    domain = histograms([[0]], tree=None).domain
    assert domain is not None
    assert domain.kind is Kind.RANGE
    assert reads_spellings(T(0.2, "a", "ordered"), domain)
    assert not reads_spellings(T(0.2, "a", "hierarchical"), domain)
    assert reads_spellings(T(0.2, "a", "equal"), domain)
    assert reads_spellings(Beta(1, "a"), domain)
    assert reads_spellings(Delta(1, "a"), domain)
    assert not reads_spellings(L(2, "a"), domain)
    assert not reads_spellings(Alpha(0.5, "a"), domain)


def test_the_average_risk_of_few_rows() -> None:
    """The share of classes in rows: 1 of a single row."""
    assert AverageRisk(0.5).over(1, 1) == (False, 1.0)
    assert AverageRisk(0.5).over(1, 2) == (True, 0.5)
    assert AverageRisk(0.5).over(2, 5) == (True, 0.4)
    assert AverageRisk(0.5).strengths(histograms([[0], [0, 1], [0, 1, 2, 3]])).tolist() == [
        1,
        0.5,
        0.25,
    ]
