"""Every metric against its plain twin on random groupings, and by hand where one can count along."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding.domain import UNIT, Domain, Kind
from shoal.encoding.grouping import Grouping, spans_of
from shoal.metrics.base import ReleaseView
from shoal.metrics.cm import Cm
from shoal.metrics.group_sizes import Dm, Groups, LargestGroup, MeanGroup, SuppressedRows
from shoal.metrics.ncp import MeanNcp, Ncp, column_losses
from tests import naive
from tests.coded import Coded, coded, coded_tables
from tests.examples import examples
from tests.metrics.columns import tree_of_four

Answer = tuple[Coded, list[int], list[int]]


@st.composite
def groupings(draw: st.DrawFn) -> Answer:
    """A table, the group of each row (-1: suppressed) and the class of each row."""
    table = draw(coded_tables(max_rows=25))
    domains = tuple(replace(d, name=f"c{j}") for j, d in enumerate(table.cells.domains))
    table = replace(table, cells=replace(table.cells, domains=domains))
    n = len(table.rows)
    drawn = draw(st.lists(st.integers(-1, 5), min_size=n, max_size=n))
    numbers = {group: i for i, group in enumerate(sorted(set(drawn) - {-1}))} | {-1: -1}
    target = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return table, [numbers[group] for group in drawn], target


def parts_of(table: Coded, group: list[int], target: list[int] | None) -> ReleaseView:
    columns = tuple(range(len(table.columns)))
    grouping = Grouping(np.array(group, np.int32), max([*group, -1]) + 1, columns)
    classes = None if target is None else np.array(target, np.int32)
    spans = spans_of(table.cells, grouping)
    return ReleaseView(table.cells, (grouping,), (spans,), 0, grouping.group < 0, classes)


def as_lists(group: list[int]) -> list[list[int]]:
    return [[i for i, g in enumerate(group) if g == number] for number in range(max(group) + 1)]


@examples(75)
@given(groupings())
def test_ncp_equals_the_twins(answer: Answer) -> None:
    table, group, _ = answer
    parts, gone = parts_of(table, group, None), group.count(-1)
    expected = naive.ncp_sum(table.columns, table.rows, as_lists(group)) + gone * len(table.columns)
    assert Ncp().measure(parts) == pytest.approx(expected)
    assert MeanNcp().measure(parts) == pytest.approx(expected / (len(group) * len(table.columns)))
    assert 0 <= MeanNcp().measure(parts) <= 1
    for j, (column, found) in enumerate(
        zip(table.columns, column_losses(parts).values(), strict=True)
    ):
        alone = [(row[j],) for row in table.rows]
        assert found == pytest.approx(naive.ncp_sum([column], alone, as_lists(group)) + gone)


@examples(50)
@given(groupings())
def test_sizes_and_classes_equal_the_twins(answer: Answer) -> None:
    table, group, target = answer
    parts, lists, gone = parts_of(table, group, target), as_lists(group), group.count(-1)
    sizes = [len(rows) for rows in lists]
    assert Dm().measure(parts) == naive.dm(lists, gone)
    assert Cm().measure(parts) == naive.cm(lists, target) + gone
    assert Cm().measure(parts_of(table, group, None)) is None
    assert Groups().measure(parts) == len(lists)
    assert LargestGroup().measure(parts) == max(sizes, default=0)
    assert MeanGroup().measure(parts) == (sum(sizes) / len(sizes) if sizes else 0)
    assert SuppressedRows().measure(parts) == gone


@examples(50)
@given(groupings())
def test_metrics_agree_with_what_methods_count_in_whole_numbers(answer: Answer) -> None:
    table, group, _ = answer
    found = Ncp().measure(parts_of(table, group, None)) - group.count(-1) * len(table.columns)
    whole = sum(naive.loss(table.columns, table.rows, rows) for rows in as_lists(group))
    # a set's or a node's share is rounded down to 1/UNIT for each row
    assert found == pytest.approx(whole / UNIT, abs=len(group) * len(table.columns) / UNIT)


def by_hand() -> Coded:
    """Ages 10, 20, 20, 40, 50; towns of four; diseases under a tree of four leaves."""
    ages = (10, 20, 40, 50)
    places = [(age - 10) * UNIT // 40 for age in ages]
    age = Domain("age", Kind.RANGE, pa.array([str(a) for a in ages]), -1, np.array(places))
    town = Domain("town", Kind.SET, pa.array(list("abcd")), -1)
    pairs = [(age, naive.range_column(places)), (town, naive.set_column(4)), tree_of_four()]
    return coded([(0, 0, 0), (1, 1, 1), (1, 2, 3), (2, 0, 2), (3, 3, 3)], pairs)


def test_by_hand() -> None:
    table = by_hand()
    # rows 0, 1: age [10~20] = 10/40, two of 4 towns, the node over 2 of 4 leaves
    # rows 2, 3: age [20~40] = 20/40, two of 4 towns, leaves 2 and 3 are the other node
    # row 4 is suppressed: 1 for each of three columns
    parts = parts_of(table, [0, 0, 1, 1, -1], [0, 1, 1, 1, 0])
    assert Ncp().measure(parts) == pytest.approx(
        2 * (10 / 40 + 2 / 4 + 2 / 4) + 2 * (20 / 40 + 2 / 4 + 2 / 4) + 3
    )
    assert MeanNcp().measure(parts) == pytest.approx((2 * 1.25 + 2 * 1.5 + 3) / 15)
    assert column_losses(parts) == pytest.approx(
        {"age": 2 * 0.25 + 2 * 0.5 + 1, "town": 4 * 0.5 + 1, "disease": 4 * 0.5 + 1}
    )
    # two groups of two, and one suppressed row that costs the size of the table
    assert Dm().measure(parts) == 2**2 + 2**2 + 5
    # group 0 holds classes 0 and 1, so one is out of line; group 1 agrees; the lost row counts
    assert Cm().measure(parts) == 1 + 0 + 1
    assert (Groups().measure(parts), LargestGroup().measure(parts)) == (2, 2)
    assert (MeanGroup().measure(parts), SuppressedRows().measure(parts)) == (2, 1)


def test_groups_over_some_columns_add_up() -> None:
    table = by_hand()
    cells = table.cells
    ages = Grouping(np.array([0, 0, 1, 1, 1], np.int32), 2, (0,))
    others = Grouping(np.array([0, 0, 0, 0, -1], np.int32), 1, (1, 2))
    spans = tuple(spans_of(cells, grouping) for grouping in (ages, others))
    gone = np.zeros(5, np.bool_)
    parts = ReleaseView(cells, (ages, others), spans, 0, gone, np.array([0, 0, 1, 1, 1], np.int32))
    # ages: two rows at 10/40, three at 30/40; the others: four rows at 3/4 and 4/4, one lost
    assert Ncp().measure(parts) == pytest.approx(2 * 10 / 40 + 3 * 30 / 40 + 4 * (3 / 4 + 1) + 2)
    assert Dm().measure(parts) == 2**2 + 3**2 + 4**2 + 5
    assert Groups().measure(parts) == 3
    assert LargestGroup().measure(parts) == 4
    assert SuppressedRows().measure(parts) == 0
    assert Cm().measure(parts) is None, "classes need groups over all columns"
