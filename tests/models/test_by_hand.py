"""Worked examples of the papers, and others with the arithmetic written out."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from shoal.encoding.counts import Counts
from shoal.encoding.domain import Domain, Kind
from shoal.models.alpha import Alpha
from shoal.models.average_risk import AverageRisk
from shoal.models.beta import Beta
from shoal.models.delta import Delta
from shoal.models.l import EntropyL, L, RecursiveL
from shoal.models.population import DeltaPresence, KMap
from shoal.models.t import DISTANCES, T
from shoal.testing import histograms
from tests.models.histograms import Values

# Li et al., Table 3: nine salaries 3k, 4k, … 11k, three classes. Codes 0 to 8.
SALARIES = 9


def test_the_paper_of_t_closeness_on_salaries() -> None:
    """P1 = {3k, 4k, 5k}: the running sums of q - p over the nine places, in ninths, are
    2 4 6 5 4 3 2 1 0, so D = (27/9) / 8 = 0.375. P2 = {6k, 8k, 11k}: q has 3/9 at the places 3, 5
    and 8, so they are -1 -2 -3 -1 -2 0 -1 -2 0, and D = (12/9) / 8 = 0.1667."""
    first, second = [0, 1, 2], [3, 5, 8]
    counts = histograms([first, second, [4, 6, 7]], tree=None, size=SALARIES)
    distances = T(1, "salary", "ordered").strengths(counts)
    assert distances[:2] == pytest.approx([27 / 9 / 8, 12 / 9 / 8])
    assert T(0.375, "salary", "ordered").holds(counts)[0]
    assert not T(0.374, "salary", "ordered").holds(counts)[0]
    assert T(0.167, "salary", "ordered").holds(counts)[1]
    assert T(1, "salary", "ordered").reached(counts) == 0.375


def test_hierarchical_distance() -> None:
    """Nine diseases once each, under a tree of height 3: {0, 1, 2} and {3, 4, 5} in one half, {6, 7, 8}
    in the other. A class of {6, 7, 8} has, per level: leaves q = 1/3 against 1/9
    for three values: 3 * 2/9 = 6/9; the next level 1 against 1/3: 6/9; the halves 1 against 1/3: 6/9.
    D = (6/9 + 6/9 + 6/9) / 3 = 2/3. A class {0, 3, 6} has leaves 6/9, next level 0, halves 0: 2/9."""
    tree = (
        tuple(range(9)),
        (0, 0, 0, 1, 1, 1, 2, 2, 2),
        (0, 0, 0, 0, 0, 0, 1, 1, 1),
        (0,) * 9,
    )
    counts = histograms([[6, 7, 8], [0, 1, 2], [3, 4, 5]], tree=tree, size=9)
    mixed = histograms([[0, 3, 6], [1, 4, 7], [2, 5, 8]], tree=tree, size=9)
    model = T(1, "disease", "hierarchical")
    assert model.strengths(counts)[0] == pytest.approx(2 / 3)
    assert model.strengths(mixed) == pytest.approx([2 / 9] * 3)
    assert model.reached(mixed) == 0.2223, "rounded up, so that what is stated holds"


def test_equal_distance() -> None:
    """All: 6 a, 4 b. A group of 4 a, 1 b: half of |4/5 - 3/5| + |1/5 - 2/5| = 0.2."""
    counts = histograms([[0] * 4 + [1]], [0] * 2 + [1] * 3)
    assert T(0.2, "ill").holds(counts).all()
    assert not T(0.1999, "ill").holds(counts).any()
    assert T(1, "ill").reached(counts) == 0.2


def test_the_paper_of_l_diversity() -> None:
    """Its inpatients with heart disease (h), viral infection (v) and cancer (c), as in the 3-diverse
    table: every class of four has counts 2 1 1. The entropy of 1/2 1/4 1/4 is (1/2) ln 2 + (1/2) ln 4
    = 1.5 ln 2, so entropy l = 2^1.5 = 2.828. A class of c c c c has l = 1."""
    h, v, c = 0, 1, 2
    diverse: list[Values] = [[h, v, c, c], [c, h, v, v], [h, v, c, c]]
    counts = histograms(diverse)
    assert EntropyL(2.8, "ill").holds(counts).all()
    assert not EntropyL(3, "ill").holds(counts).any()
    assert EntropyL(1, "ill").reached(counts) == 2.8284
    # r1 = 2 < c (r2 + r3) = 2c from c just above 1; r1 = 2 < c r3 = c from c above 2
    assert RecursiveL(2, "ill", 1.01).holds(counts).all()
    assert not RecursiveL(2, "ill", 1).holds(counts).any()
    assert RecursiveL(3, "ill", 2.5).reached(counts) == 3
    assert RecursiveL(3, "ill", 2).reached(counts) == 2
    assert histograms([[c] * 4]).distinct().tolist() == [1]
    assert EntropyL(1, "ill").reached(histograms([[c] * 4])) == 1


def test_recursive_by_hand() -> None:
    """Counts 5 3 2 1: 5 < 2 (3 + 2 + 1) = 12; 5 < 2 (2 + 1) = 6; 5 < 2 (1) is false."""
    counts = histograms([[0] * 5 + [1] * 3 + [2] * 2 + [3]])
    assert RecursiveL(1, "ill", 2).reached(counts) == 3
    # the least group for l = 3, c = 0.5: m different values with 1 < 0.5 (m - 2), so m = 5
    assert RecursiveL(3, "ill", 0.5).min_rows == 5
    assert RecursiveL(3, "ill", 0.5).holds(histograms([list(range(5))])).all()
    assert not RecursiveL(3, "ill", 0.5).holds(histograms([list(range(4))])).any()


def test_likeness_by_hand() -> None:
    """p = 0.1 and 0.9, as 10 and 90 of 100. In a group of 4 a, 6 b: a grew by (0.4 - 0.1) / 0.1 = 3,
    b shrank. In a group of 10 b: b grew by (1 - 0.9) / 0.9 = 0.111, but -ln 0.9 = 0.105: enhanced
    β-likeness holds for no β. The first is above -ln 0.1 = 2.303 too."""
    counts = histograms([[0] * 4 + [1] * 6, [1] * 10], [0] * 6 + [1] * 74)
    assert Beta(3, "ill").holds(counts).all()
    assert not Beta(2.99, "ill").holds(counts)[0]
    assert Beta(0, "ill").reached(counts) == 3
    assert Beta(0.1112, "ill").holds(counts)[1]
    assert not Beta(100, "ill", enhanced=True).holds(counts).any()
    assert math.isinf(Beta(1, "ill", enhanced=True).reached(counts))


def test_disclosure_by_hand() -> None:
    """p = 1/4 and 3/4, as 5 and 15 of 20. In a group of 2 a, 2 b: q / p = 2 and 2/3, whose logarithms
    are 0.693 and -0.405. A group of b alone lacks a: no δ holds."""
    counts = histograms([[0, 0, 1, 1]], [0] * 3 + [1] * 13)
    assert Delta(0.6932, "ill").holds(counts).all()
    assert not Delta(0.6931, "ill").holds(counts).any()
    assert Delta(1, "ill").reached(counts) == 0.6932
    assert math.isinf(Delta(1, "ill").reached(histograms([[1, 1]], [0])))


def test_average_risk_by_hand() -> None:
    """Classes of 1, 4 and 15 rows: 3 / 20 = 0.15, though one person stands alone."""
    counts = histograms([[0], [0] * 4, [0] * 15])
    assert AverageRisk(0.15).holds_over(counts)
    assert not AverageRisk(0.1499).holds_over(counts)
    assert AverageRisk(0.15).holds(counts).tolist() == [False, False, True]
    assert AverageRisk(0.15).min_rows == 7  # 1 / 0.15 = 6.67
    assert AverageRisk(0.05).min_rows == 20


def test_presence_and_map_by_hand() -> None:
    """Classes of 1 and 3 rows that fit 4 and 5 people: at least 4 people, at most 3 / 5 of them."""
    counts = replace(histograms([[0], [0] * 3]), population=np.array([4, 5]))
    assert KMap(4).holds(counts).all()
    assert KMap(5).holds(counts).tolist() == [False, True]
    assert KMap(1).reached(counts) == 4
    assert DeltaPresence(0.6).holds(counts).all()
    assert not DeltaPresence(0.59).holds(counts)[1]
    assert DeltaPresence(1).reached(counts) == 0.6
    assert DeltaPresence(1, least=0.25).holds(counts).all()
    assert not DeltaPresence(1, least=0.26).holds(counts)[0]
    nobody = replace(counts, population=np.array([0, 5]))
    assert not DeltaPresence(1).holds(nobody)[0]
    assert math.isinf(DeltaPresence(1).reached(nobody))


def test_missing_values_are_rows_and_no_values() -> None:
    """Two a, two b and four missing: shares of those that have a value are 1/2 and 1/2."""
    counts = histograms([[0, 0, 1, 1, None, None, None, None]], [0, 1])
    assert EntropyL(2, "ill").holds(counts).all()
    assert T(0, "ill").holds(counts).all()
    assert Beta(0, "ill").holds(counts).all()


def test_of_no_groups_nothing_falls_short() -> None:
    """An empty release knows no values, and so no hierarchy over them."""
    none = np.zeros(0, np.int64)
    domain = Domain("ill", Kind.SET, pa.array([], pa.string()), -1)
    counts = Counts(none, np.zeros(1, np.int64), none.astype(np.int32), none, domain, none)
    assert not len(T(t=0.3, of="ill", distance="hierarchical").holds(counts))


def test_groups_without_a_known_value_hold_no_distance() -> None:
    none = np.zeros(0, np.int64)
    domain = Domain("ill", Kind.SET, pa.array([], pa.string()), -1)
    sizes = np.array([3, 4])
    counts = Counts(sizes, np.zeros(3, np.int64), none.astype(np.int32), none, domain, none)
    for distance in ("equal", "ordered", "hierarchical"):
        model = T(t=0.3, of="ill", distance=distance)
        assert not model.holds(counts).any()
        assert model.reached(counts) == np.inf


def test_people_with_several_values_by_hand() -> None:
    """Three people of whom one has a second value: who does not have the commonest is nobody, so one
    value is all that is sure. Of four, one has the other value alone: two. Nobody has a value: none."""
    three, four = [0, 0, 0, 1], [0, 0, 0, 1]
    counts = replace(histograms([three, four, [None], [2, 2]]), known=np.array([3, 4, 0, 2]))
    assert L(1, "ill").strengths(counts).tolist() == [1, 2, 0, 1]


@pytest.mark.parametrize(
    ("alpha", "rows"),
    [
        (1, 1),
        (0.99, 2),
        (0.5, 2),
        (0.49, 3),
        (0.34, 3),
        (1 / 3, 3),
        (0.3, 4),
        (0.25, 4),
        (1 / 49, 49),
    ],
)
def test_the_smallest_group_of_alpha(alpha: float, rows: int) -> None:
    """All values of a group differ at best, and each has one of so many rows."""
    model = Alpha(alpha, "ill")
    assert model.min_rows == model.min_values == rows
    best = histograms([list(range(rows))], size=rows, tree=None)
    assert model.holds(best).all()
    if rows > 1:
        assert not model.holds(histograms([list(range(rows - 1))], size=rows, tree=None)).any()


@pytest.mark.parametrize(
    ("alpha", "rows", "least"),
    [
        (1, [1], 0),
        (0.5, [1], 1),
        (0.5, [3, 1], 2),
        # 0.29 * 100 is a little below 29 in binary numbers
        (0.29, [29, 29, 29, 13], 0),
        (0.29, [30, 29, 29, 12], 10),
        # the number right below 5/6, which times 6 is 5 again
        (0.8333333333333333, [5, 1], 1),
        (0.8333333333333334, [5, 1], 0),
    ],
)
def test_the_fewest_suppressed_rows_by_hand(alpha: float, rows: list[int], least: int) -> None:
    values = [value for value, count in enumerate(rows) for _ in range(count)]
    assert Alpha(alpha, "ill").least_suppressed(histograms([values])) == least


def test_entropy_needs_so_many_rows() -> None:
    assert [EntropyL(x, "ill").min_rows for x in (1, 1.5, 2, 2.5, 3)] == [1, 2, 2, 3, 3]


def test_where_all_have_one_value_nothing_grows() -> None:
    """p = 1 and -ln p = 0: the growth of 0 is within it."""
    assert Beta(0, "ill", enhanced=True).holds(histograms([[0, 0]], [0])).all()


def test_disclosure_stays_below_its_figure() -> None:
    counts = histograms([[0, 0, 1, 1]], [0] * 3 + [1] * 13)
    figure = float(Delta(1, "ill").strengths(counts)[0])
    assert figure == pytest.approx(math.log(2))
    assert not Delta(figure, "ill").holds(counts).any()
    # equal shares hold every figure above 0, and 0 is none
    assert Delta(1, "ill").reached(histograms([[0, 1], [0, 1]])) == 0.0001


def test_everybody_of_the_population() -> None:
    """Three of three people are all of them; three of two cannot be."""
    counts = replace(histograms([[0] * 3, [0] * 3, [0] * 3]), population=np.array([3, 2, 0]))
    assert DeltaPresence(1).strengths(counts).tolist() == [1, math.inf, math.inf]


def test_the_average_risk_of_one_row_is_one() -> None:
    assert AverageRisk(1).over(1, 1) == (True, 1)
    assert AverageRisk(0.5).over(1, 1) == (False, 1)
    assert AverageRisk(0.5).over(0, 0) == (True, 0)
    assert AverageRisk(0.5).strengths(histograms([[0], [0] * 4])).tolist() == [1, 0.25]


def test_a_distance_needs_what_it_is_computed_from() -> None:
    distances = (T(0.1, "ill"), T(0.1, "ill", "ordered"), T(0.1, "ill", "hierarchical"))
    assert [t.column_kind for t in distances] == [None, "ordered", "hierarchical"]


def test_under_a_root_alone_all_values_are_equally_far_apart() -> None:
    counts = histograms([[0, 0, 1], [1, 2, 2]], tree=((0, 1, 2), (0, 0, 0)), size=3)
    equal = T(1, "ill").strengths(counts)
    assert equal[0] == pytest.approx(1 / 3)
    assert T(1, "ill", "hierarchical").strengths(counts).tolist() == equal.tolist()


def test_values_that_nobody_has_are_no_places() -> None:
    """0, 1 and 8 once each, a group of 0: the sums of q - p are 2/3 and 1/3 at two places, so D = 1/2.
    A group without any value, wherever it stands, is as far away as can be."""
    counts = histograms([[None], [0], [None]], [1, 8], tree=None, size=9)
    assert DISTANCES["ordered"](counts).tolist() == [1, 0.5, 1]
    assert DISTANCES["equal"](counts) == pytest.approx([1, 2 / 3, 1])
    assert DISTANCES["hierarchical"](histograms([[None], [0]])).tolist() == [1, 0]


def test_distances_in_tables_of_many_rows() -> None:
    """20 million rows, as many of each of 100,000 values; a class has 10 million, all of the lowest.
    The table's running sums are 1/100,000, 2/100,000, …: on average half is missing at each place but
    the last, so D = 0.5. Times rows and places that is beyond what 64 bits hold."""
    places, each = 100_000, 200
    one = histograms([[0], [0, places - 1]], tree=None, size=places)
    rows = np.array([10_000_000, 2, 2])
    counts = replace(
        one,
        sizes=np.array([10_000_000, 4]),
        counts=rows,
        totals=np.full(places, each, np.int64),
    )
    first, second = T(1, "ill", "ordered").strengths(counts)
    assert first == pytest.approx(0.5)
    # half of the class at either end: the distance at place i of n is |1/2 - i/n|, 1/4 on average
    assert second == pytest.approx(0.25, rel=1e-4)
    few = replace(one, counts=np.array([1, 2, 2]), totals=counts.totals)
    assert T(1, "ill", "ordered").strengths(few) == pytest.approx([first, second])


def test_examples_are_weak_and_strong_and_have_every_option() -> None:
    assert [(m.beta, m.enhanced) for m in Beta.examples()] == [
        (figure, enhanced) for figure in (0, 0.5, 1, 3) for enhanced in (False, True)
    ]
    assert [(m.recursive_l, m.c) for m in RecursiveL.examples()] == [
        (figure, c) for figure in (1, 2, 3) for c in (0.5, 1, 2)
    ]
    assert [(m.t, m.distance) for m in T.examples()] == [
        (figure, distance)
        for figure in (0, 0.15, 0.3, 0.5)
        for distance in ("equal", "ordered", "hierarchical")
    ]
