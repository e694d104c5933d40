"""Population uniques: by hand, against plain twins, and in populations that are made up."""

from collections import Counter
from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.risk.population import (
    fit,
    pitman,
    population_uniques,
    shlosser,
    slide_negative_binomial,
    zayatz,
)
from tests.examples import examples

samples = st.lists(st.integers(1, 6), min_size=2, max_size=12).map(np.array)


def test_zayatz_by_hand():
    # 3 rows of 6 people: classes of 1 and of 2 rows, one each.
    # h(1) = C(5,2)/C(6,3) = 10/20, h(2) = 2 C(4,2)/C(6,3) = 12/20
    # p = 10 / (10 + 12); uniques = 1 * 10/22 * 6/3 = 10/11
    assert zayatz(np.array([1, 2]), 6) == pytest.approx(10 / 11)
    assert zayatz(np.array([2, 2]), 8) == 0.0


@examples(30)
@given(samples, st.integers(1, 60))
def test_zayatz_as_written_in_the_source(sizes, more):
    n, people = int(sizes.sum()), int(sizes.sum()) + more
    counted = Counter(sizes.tolist())

    def chance(j):
        return Fraction(j * comb(people - j, n - 1), comb(people, n))

    below = sum(s * chance(j) for j, s in counted.items())
    plain = counted[1] * counted[1] * chance(1) / below * people / n if counted[1] else 0
    assert zayatz(sizes, people) == pytest.approx(float(plain))


def likelihood(sizes, alpha, theta):
    """The logarithm of Pitman's formula, without what does not depend on the parameters."""
    n, u = sum(sizes), len(sizes)
    total = sum(log(theta + i * alpha) for i in range(1, u))
    total -= sum(log(theta + i) for i in range(1, n))
    return total + sum(log(i - alpha) for size in sizes for i in range(1, size))


@examples(15)
@given(samples)
def test_pitman_has_the_greatest_likelihood(sizes):
    if len(sizes) == sizes.sum():
        assert pitman(sizes, 100) is None
        return
    alpha, theta = fit(sizes)
    assert 0 <= alpha < 1
    assert theta > -alpha
    best = likelihood(sizes.tolist(), alpha, theta)
    for a in np.linspace(0, 0.99, 23):
        for t in (-a + 10.0**x for x in np.linspace(-3, 5, 33)):
            assert likelihood(sizes.tolist(), a, t) <= best + 1e-6


def test_pitman_by_hand_without_alpha():
    # Two classes of 2 rows: best is alpha = 0, and 1 / theta = 1/(theta+1) + 1/(theta+2) + 1/(theta+3),
    # so (theta+1)(theta+2)(theta+3) = theta (3 theta^2 + 12 theta + 11), that is
    # 2 theta^3 + 6 theta^2 - 6 = 0. Of 40 people 40 theta / (theta + 39) are unique.
    alpha, theta = fit(np.array([2, 2]))
    assert alpha == 0
    assert 2 * theta**3 + 6 * theta**2 == pytest.approx(6)
    assert pitman(np.array([2, 2]), 40) == pytest.approx(40 * theta / (theta + 39))


@pytest.mark.parametrize("sizes", [[5], [1], [1, 1, 1]])
def test_pitman_says_where_it_cannot_tell(sizes):
    assert pitman(np.array(sizes), 100) is None


def test_shlosser_by_hand():
    # classes of 1, 1 and 2 rows, half of all people: f = 1 (2 classes), f = 2 (1 class), p = 1/2
    # seen   = 2 * 1/4 + 2 * 1/4 * 3/4 = 7/8
    # unseen = 2 * 1/2 * 1/2 + 1/4 * (9/4 - 1) = 13/16
    # ratio  = (2 * 1/2 + 1/4) / (2 * 1/2 + 2 * 1/2 * 1/2) = (5/4) / (3/2) = 5/6
    # classes = 3 + 2 * (7/8) / (13/16) * 25/36
    assert shlosser(np.array([1, 1, 2]), 0.5) == pytest.approx(3 + 2 * (14 / 13) * 25 / 36)


def test_the_slid_negative_binomial_finds_its_own_parameters():
    # a population drawn from the model itself: a class is 1 + NB(a, b)
    rng = np.random.default_rng(1)
    people = 1 + rng.negative_binomial(0.6, 0.4, 20_000)
    sample = rng.binomial(people, 0.5)
    sizes = sample[sample > 0]
    real = int((people == 1).sum())
    found = slide_negative_binomial(sizes, round(sizes.sum() / 0.5))
    assert found == pytest.approx(real, rel=0.15)


def test_the_slid_negative_binomial_says_where_it_cannot_tell():
    assert slide_negative_binomial(np.array([1, 1, 1]), 30) is None
    assert slide_negative_binomial(np.array([3, 3]), 30) == 0.0


def drawn(seed, people, alpha, theta):
    """The class of each of some people, one by one by Pitman's own rule."""
    rng = np.random.default_rng(seed)
    sizes: list[int] = []
    classes = []
    for n in range(people):
        if rng.random() * (n + theta) < theta + len(sizes) * alpha:
            classes.append(len(sizes))
            sizes.append(1)
            continue
        # a member of an old class, taken at random, is joined with chance 1 - alpha / its size
        while True:
            chosen = classes[rng.integers(n)]
            if rng.random() < 1 - alpha / sizes[chosen]:
                break
        classes.append(chosen)
        sizes[chosen] += 1
    return np.array(classes)


@pytest.mark.parametrize(("alpha", "theta"), [(0.5, 50.0), (0.7, 10.0)])
def test_pitman_in_a_population_of_its_own_kind(alpha, theta):
    classes = drawn(5, 30_000, alpha, theta)
    real = int((np.bincount(classes) == 1).sum())
    rng = np.random.default_rng(2)
    sample = rng.choice(classes, 3_000, replace=False)
    found = population_uniques(np.bincount(sample)[np.bincount(sample) > 0], 0.1)
    assert found.chosen == "pitman"
    assert found.dankar == pytest.approx(real, rel=0.25)


def test_the_rule_above_a_tenth_takes_the_smaller_one():
    rng = np.random.default_rng(4)
    people = 1 + rng.negative_binomial(0.8, 0.3, 20_000)
    sample = rng.binomial(people, 0.4)
    found = population_uniques(sample[sample > 0], 0.4)
    assert found.zayatz is not None
    assert found.slide_negative_binomial is not None
    assert found.dankar == min(found.zayatz, found.slide_negative_binomial)
    assert found.dankar == pytest.approx(int((people == 1).sum()), rel=0.35)
    assert found.share == found.dankar / found.population


def test_the_whole_population_is_counted():
    found = population_uniques(np.array([1, 1, 3]), 1.0)
    assert (found.chosen, found.dankar, found.share) == ("counted", 2.0, 2 / 5)


@examples(25)
@given(samples, st.floats(0.001, 1))
def test_estimates_are_numbers_of_people(sizes, fraction):
    found = population_uniques(sizes, fraction)
    for value in (found.pitman, found.zayatz, found.slide_negative_binomial):
        assert value is None or 0 <= value <= found.population * 1.000001
    assert found.dankar is not None


def test_an_empty_table_tells_nothing():
    assert population_uniques(np.zeros(0, np.int64), 0.5).dankar is None
