"""Losses, entropy and sizes, against their twins and by hand."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from shoal.encoding.domain import UNIT, Domain, Kind
from shoal.metrics.base import Node
from shoal.metrics.entropy import NonUniformEntropy, RelativeNonUniformEntropy
from shoal.metrics.general_loss import GeneralLoss, _covered, _losses
from shoal.metrics.group_sizes import AverageClassSize, DmKept
from shoal.metrics.loss import Loss, RelativeLoss
from tests import naive
from tests import naive_metrics as plain
from tests.coded import Coded, coded
from tests.examples import examples
from tests.metrics.columns import tree_of_four
from tests.metrics.random_releases import Both, both, releases


@examples(40)
@given(releases())
def test_loss_equals_the_twins(one: Both) -> None:
    loss = plain.loss(one.columns, one.release, one.weights)
    assert Loss().measure(one.parts) == pytest.approx(loss)
    n, cells = len(one.release), one.parts.cells
    rows = [[raw for raw, _ in row] for row in one.release]
    of = [tuple(range(len(one.columns)))]
    table = Coded(cells, [], [tuple(row) for row in rows], [])
    together = both(table, [[0] * n], of, [None])
    most = plain.loss(one.columns, together.release, one.weights)
    found = RelativeLoss().measure(one.parts)
    if most:
        assert found == pytest.approx(loss / most)
    else:
        assert found == (0 if loss == 0 else None)


@examples(40)
@given(releases())
def test_general_loss_and_entropy_equal_the_twins(one: Both) -> None:
    losses = plain.general_losses(one.columns, one.release)
    assert list(_losses(_covered(one.parts), one.parts.totals).values()) == pytest.approx(
        losses, abs=1e-12
    )
    assert GeneralLoss().measure(one.parts) == pytest.approx(plain.geometric(losses), abs=1e-12)
    mean = sum(losses) / len(losses)
    assert GeneralLoss("mean").measure(one.parts) == pytest.approx(mean, abs=1e-12)
    lost, most = plain.entropy(one.release)
    assert NonUniformEntropy().measure(one.parts) == pytest.approx(lost, abs=1e-9)
    share = RelativeNonUniformEntropy().measure(one.parts)
    assert share == pytest.approx(lost / most if most else 0, abs=1e-9)
    assert 0 <= share <= 1 + 1e-9


@examples(30)
@given(releases())
def test_sizes_equal_the_twins(one: Both) -> None:
    sizes = [int(n) for span in one.parts.spans for n in span.sizes]
    assert DmKept().measure(one.parts) == sum(size * size for size in sizes)
    gone = one.parts.suppressed.tolist()
    kept = {
        tuple(plain.covered(cell) for cell in row)
        for row, lost in zip(one.release, gone, strict=True)
        if not lost
    }
    expected = len(gone) / (len(kept) + (1 if any(gone) else 0))
    assert AverageClassSize().measure(one.parts) == pytest.approx(expected)


def by_hand(weights: dict[str, float] | None = None) -> Both:
    """Ages 10, 20, 20, 40, 50; towns of four; diseases under a tree of four leaves.

    Two groups of two rows; the last row is suppressed.
    """
    ages = (10, 20, 40, 50)
    places = [(age - 10) * UNIT // 40 for age in ages]
    age = Domain(
        "age",
        Kind.RANGE,
        pa.array([str(a) for a in ages]),
        -1,
        np.array(places),
        units=np.array([0.0, 10.0, 30.0, 40.0]),
    )
    town = Domain("town", Kind.SET, pa.array(list("abcd")), -1)
    pairs: list[Any] = [(age, naive.range_column(places)), (town, naive.set_column(4))]
    rows = [(0, 0, 0), (1, 1, 1), (1, 2, 3), (2, 2, 3), (3, 3, 3)]
    table = coded(rows, [*pairs, tree_of_four()])
    return both(table, [[0, 0, 1, 1, -1]], [(0, 1, 2)], [None], weights)


def test_loss_by_hand() -> None:
    # rows 0, 1: age [10~20] is 11 years, 2 towns, a node over 2 leaves: 15 each
    # rows 2, 3: age [20~40] is 21 years; town c and leaf z are as they were: 21 each
    # row 4 is suppressed: 41 years, 4 towns, 4 leaves
    expected = 2 * 15 + 2 * 21 + (41 + 4 + 4)
    assert Loss().measure(by_hand().parts) == expected
    # one group of all rows: 41 years, 4 towns, the root's 4 leaves, for 5 rows
    assert RelativeLoss().measure(by_hand().parts) == expected / (5 * 49)
    # age half, town twice
    weighed = 2 * (5.5 + 4 + 2) + 2 * 10.5 + (20.5 + 8 + 4)
    parts = by_hand({"age": 0.5, "town": 2.0}).parts
    assert Loss().measure(parts) == weighed
    assert RelativeLoss().measure(parts) == weighed / (5 * (20.5 + 8 + 4))


def test_general_loss_by_hand() -> None:
    parts = by_hand().parts
    # N/H = 5/4 in each column. age: two rows cover 2 of 4 ages, two rows 2 of 4, one all
    age = (4 * 2 / 4 + 1 - 5 / 4) / (5 - 5 / 4)
    # town and disease: two rows 2/4, two raw rows 1/4, one all
    other = (2 * 2 / 4 + 2 * 1 / 4 + 1 - 5 / 4) / (5 - 5 / 4)
    expected = {"age": age, "town": other, "disease": other}
    assert _losses(_covered(parts), parts.totals) == pytest.approx(expected)
    assert (age, other) == pytest.approx((7 / 15, 1 / 3))
    geometric = ((22 / 15) * (4 / 3) * (4 / 3)) ** (1 / 3) - 1
    assert GeneralLoss().measure(parts) == pytest.approx(geometric)
    assert GeneralLoss("mean").measure(parts) == pytest.approx((7 / 15 + 2 / 3) / 3)
    # the digits 467, 333, 333, 0, 0 to the base 1001
    digits = 467 * 1001**4 + 333 * 1001**3 + 333 * 1001**2
    assert GeneralLoss("rank").measure(parts) == pytest.approx(digits / (1001**5 - 1), rel=1e-12)


def test_ranks_let_the_worst_column_decide_then_the_next() -> None:
    ranked = [
        GeneralLoss("rank")._together(losses)
        for losses in ([0, 0], [0.2, 0.2], [0.2, 0.3], [0.301, 0], [0, 1], [1, 1], [1] * 9)
    ]
    assert ranked == sorted(ranked)
    assert ranked[0] == 0
    assert ranked[-1] == 1
    assert len(set(ranked)) == 7


def test_entropy_by_hand() -> None:
    parts = by_hand().parts
    # ages: 10, 20, 20, 40, 50. [10~20] holds 3 rows: log2(3/1) and log2(3/2); [20~40] 3 rows: log2(3/2)
    # and log2(3/1); suppressed: log2(5/1)
    age = 2 * math.log2(3) + 2 * math.log2(3 / 2) + math.log2(5)
    # towns: a, b, c, c, d. {a, b} holds 2 rows: 1 bit for each; c as it was; suppressed: log2(5/1)
    town = 1 + 1 + 0 + 0 + math.log2(5)
    # leaves: w, x, z, z, z. wx holds 2 rows: 1 bit each; z as it was; suppressed: log2(5/3)
    disease = 1 + 1 + math.log2(5 / 3)
    lost = age + town + disease
    assert NonUniformEntropy().measure(parts) == pytest.approx(lost)
    # all suppressed: 5 log2 5 less the bits that common values never held
    most = (5 * math.log2(5) - 2) * 2 + 5 * math.log2(5) - 3 * math.log2(3)
    assert RelativeNonUniformEntropy().measure(parts) == pytest.approx(lost / most)


def test_sizes_by_hand() -> None:
    # two groups of two, told apart, and the suppressed row: 5 rows in 3 classes
    assert AverageClassSize().measure(by_hand().parts) == 5 / 3
    assert DmKept().measure(by_hand().parts) == 2**2 + 2**2


def test_a_range_of_missing_and_other_values_costs_the_whole_column() -> None:
    places = [0, UNIT, 2 * UNIT]
    units = np.array([0.0, 9.0, 9.0])
    texts = pa.array(["1", "10", None])
    age = Domain("age", Kind.RANGE, texts, 2, np.array(places), units=units)
    table = coded([(0,), (1,), (1,), (2,), (2,)], [(age, naive.range_column(places))])
    one = both(table, [[0, 1, 1, 1, 2]], [(0,)], [None])
    # 1 and the missing value are as they were; three rows cover 1 to 10: 10 years
    assert Loss().measure(one.parts) == 30
    assert RelativeLoss().measure(one.parts) == 30 / 50
    # three values there are, and `*` covers all of them; 2 rows cover one
    assert GeneralLoss().measure(one.parts) == pytest.approx((3 + 2 / 3 - 5 / 3) / (5 - 5 / 3))
    # of 5 rows one holds 1, two 10 and two nothing
    assert NonUniformEntropy().measure(one.parts) == pytest.approx(3 * math.log2(5 / 2))


def test_a_column_with_one_value_loses_nothing_unless_suppressed() -> None:
    town = Domain("town", Kind.SET, pa.array(["a"]), -1)
    table = coded([(0,), (0,), (0,)], [(town, naive.set_column(1))])
    kept, gone = [both(table, [g], [(0,)], [None]).parts for g in ([0, 0, 0], [0, 0, -1])]
    for metric in (Loss(), RelativeLoss(), GeneralLoss(), NonUniformEntropy()):
        assert metric.measure(kept) == 0
    assert Loss().measure(gone) == 1
    assert RelativeLoss().measure(gone) is None
    assert GeneralLoss().measure(gone) == NonUniformEntropy().measure(gone) == 0
    assert RelativeNonUniformEntropy().measure(gone) == 0


METRICS = [
    Loss(),
    RelativeLoss(),
    GeneralLoss(),
    GeneralLoss("rank"),
    NonUniformEntropy(),
    RelativeNonUniformEntropy(),
    AverageClassSize(),
    DmKept(),
]


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_node_is_measured_as_the_release_it_gives(metric: Any, level: int) -> None:
    leaves = [0, 0, 0, 1, 2, 2, 3]
    table = coded([(leaf,) for leaf in leaves], [tree_of_four()])
    above = {0: [0, 1, 2, 3], 1: [0, 0, 1, 1], 2: [0, 0, 0, 0]}[level]
    nodes = [above[leaf] for leaf in leaves]
    # the class of the last row is suppressed, unless it is the only one
    gone = {nodes[-1]} if level < 2 else set()
    group = [-1 if node in gone else node for node in nodes]
    kept = sorted(set(group) - {-1})
    parts = both(table, [group], [(0,)], [[[level]] * len(kept)]).parts
    sizes = np.array([nodes.count(node) for node in kept])
    rows = np.array([0 if node in gone else nodes.count(node) for node in range(max(above) + 1)])
    node = Node(table.cells, (level,), sizes, lambda _: rows)
    assert metric.of_node(node) == pytest.approx(metric.measure(parts))
