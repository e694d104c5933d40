"""The smallest sets that single people out, against trying all of them."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.risk import uniqueness as module
from shoal.risk.columns import contents_of
from shoal.risk.uniqueness import LARGEST_SET, THRESHOLD, search
from tests.risk import naive


def searched(table):
    n = len(next(iter(table.values()), []))
    return search([contents_of(name, pa.array(values)) for name, values in table.items()], n)


@st.composite
def tables(draw):
    n = draw(st.integers(1, 40))
    value = st.one_of(st.none(), st.integers(0, draw(st.sampled_from([1, 3, 12]))))
    names = [f"c{i}" for i in range(draw(st.integers(1, 5)))]
    return {name: draw(st.lists(value, min_size=n, max_size=n)) for name in names}


@given(tables())
def test_the_smallest_sets_as_found_plainly(table):
    size, reaching = naive.smallest_sets(table, list(table), THRESHOLD, LARGEST_SET)
    found = searched(table)
    assert not found.bounded
    assert found.sets_found == len(reaching)
    assert len(found.found) == min(module.REPORTED_SETS, len(reaching))
    for each in found.found:
        assert len(each.columns) == size
        assert reaching[each.columns] == each.unique_rows
    worst = sorted(reaching.values(), reverse=True)[: module.REPORTED_SETS]
    assert [each.unique_rows for each in found.found] == worst


def test_pairs_are_found_where_no_column_does():
    n = 100
    table = {"a": [i // 10 for i in range(n)], "b": [i % 10 for i in range(n)], "c": [0] * n}
    found = searched(table)
    assert [each.columns for each in found.found] == [("a", "b")]
    assert found.found[0].share == 1.0


def test_a_bounded_search_says_so(monkeypatch):
    monkeypatch.setattr(module, "FEWEST_SETS", 2)
    monkeypatch.setattr(module, "MOST_SETS", 2)
    table = {f"c{i}": [(j >> i) & 1 for j in range(64)] for i in range(6)}
    found = searched(table)
    assert found.bounded
    assert found.tried < found.possible == 6 + 15 + 20


def test_with_many_columns_the_most_telling_are_tried(monkeypatch):
    monkeypatch.setattr(module, "MOST_COLUMNS", 3)
    table = {f"c{i}": [0] * 20 for i in range(5)} | {"key": list(range(20))}
    found = searched(table)
    assert found.bounded
    assert found.found[0].columns == ("key",)


@pytest.mark.parametrize("table", [{}, {"a": []}, {"a": [None]}, {"a": [1, 1]}])
def test_tiny_tables(table):
    found = searched(table)
    assert found.found == () or found.found[0].unique_rows == 1
