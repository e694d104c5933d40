"""Rows walked down a tree of cuts, against plain Python."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.engines import tree_walk
from shoal.engines.duckdb.session import DuckSession
from shoal.engines.queries import ENCODED, WORD, Cut, Tree
from shoal.engines.tree_walk import CountCodes, WalkedTies, walk_down
from shoal.engines.words import WordLayout, word_layout
from shoal.methods.partition_histograms import Tie
from tests.examples import examples

Row = tuple[int, ...]
"""c0, c1, c2, key, h"""
SIZES = (3, 1, 6)
MOST = (1 << 63) - 1


@pytest.fixture(scope="module")
def session() -> Iterator[DuckSession]:
    made = DuckSession()
    yield made
    made.close()


WIDE = st.sampled_from([-MOST - 1, -MOST, -2, -1, 0, 1, 2, MOST - 1, MOST])
ROWS = st.lists(
    st.tuples(*(st.integers(0, size - 1) for size in SIZES), WIDE, WIDE), min_size=1, max_size=60
)


@st.composite
def walked(draw: st.DrawFn) -> tuple[list[Row], Tree]:
    """Rows, and a tree whose cuts go between values or through them."""
    rows = draw(ROWS)
    tree = Tree(len(SIZES))
    for _ in range(draw(st.integers(0, 5))):
        node = draw(st.sampled_from(tree.leaves()))
        last = draw(st.none() | st.sampled_from(rows))
        column = draw(st.integers(0, len(SIZES) - 1))
        code = draw(st.integers(0, SIZES[column] - 1)) if last is None else last[column]
        tree.cut(node, Cut(column, code, last))
    return rows, tree


def plain_leaf(tree: Tree, row: Row) -> int:
    node = 0
    while node in tree.cuts:
        cut, below, above = tree.cuts[node]
        value = row[cut.column]
        tied = value == cut.code and cut.last is not None and row <= cut.last
        node = below if value < cut.code or tied else above
    return node


def layout() -> WordLayout:
    found = word_layout(SIZES)
    assert found is not None
    return found


def batch_of(rows: list[Row]) -> pa.RecordBatch:
    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)]
    words = layout().pack(columns[: len(SIZES)])
    return pa.record_batch({WORD: words, "key": columns[-2], "h": columns[-1]})


@examples(60)
@given(table=walked(), data=st.data())
def test_rows_end_where_the_cuts_lead(table: tuple[list[Row], Tree], data: st.DataObject) -> None:
    rows, tree = table
    walk = walk_down(tree, layout())
    expected = [plain_leaf(tree, row) for row in rows]
    assert walk.nodes(batch_of(rows)).tolist() == expected
    nodes = sorted(data.draw(st.sets(st.sampled_from(tree.leaves()), min_size=1)))
    first = np.append(0, np.cumsum(SIZES)).astype(np.int64)
    place = np.full(len(walk.tree.below), -1, np.int64)
    place[nodes] = np.arange(len(nodes)) * first[-1]
    totals = np.zeros(len(nodes) * first[-1], np.int64)
    for part in (rows[:7], rows[7:]):
        if part:
            CountCodes(walk, layout(), place, first)(batch_of(part), totals)
    counted: Counter[tuple[int, int, int]] = Counter(
        (node, j, row[j])
        for row, node in zip(rows, expected, strict=True)
        for j in range(len(SIZES))
    )
    for n, node in enumerate(nodes):
        for j, size in enumerate(SIZES):
            mine = totals.reshape(len(nodes), -1)[n, first[j] : first[j + 1]]
            assert mine.tolist() == [counted[node, j, code] for code in range(size)]


@given(table=walked(), data=st.data())
@settings(examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_last_row_below_is_found(
    session: DuckSession, table: tuple[list[Row], Tree], data: st.DataObject
) -> None:
    rows, tree = table
    of: dict[int, list[Row]] = {}
    for row in rows:
        of.setdefault(plain_leaf(tree, row), []).append(row)
    ties, expected = [], []
    for node in sorted(of):
        column = data.draw(st.integers(0, len(SIZES) - 1))
        code = data.draw(st.sampled_from(sorted({row[column] for row in of[node]})))
        tied = sorted(row for row in of[node] if row[column] == code)
        below = data.draw(st.integers(1, len(tied)))
        ties.append(Tie(node, column, code, len(tied), below))
        expected.append(tied[below - 1])
    store(session, rows)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tree_walk, "FEW", data.draw(st.sampled_from([0, 5, 1000])))
        patched.setattr(tree_walk, "COUNT_BITS", data.draw(st.sampled_from([6, 9, 20])))
        found = WalkedTies(session, walk_down(tree, layout()), layout()).last(ties)
    assert found == expected


def store(session: DuckSession, rows: list[Row]) -> None:
    batch = batch_of(rows)

    def all_rows(_: pa.RecordBatch) -> pa.RecordBatch:
        return batch

    session.map(ENCODED, "SELECT 1 AS one", all_rows, batch.schema)


def test_no_ties_take_no_pass() -> None:
    nothing: Any = None
    assert WalkedTies(nothing, walk_down(Tree(3), layout()), layout()).last([]) == []


@examples(40)
@given(sizes=st.lists(st.integers(1, 1 << 20), min_size=1, max_size=8), data=st.data())
def test_words_are_ordered_as_rows_are(sizes: list[int], data: st.DataObject) -> None:
    found = word_layout(sizes)
    bits = sum(max(1, len(f"{size - 1:b}")) for size in sizes)
    assert (found is None) == (bits > 63)
    if found is None:
        return
    rows = data.draw(
        st.lists(st.tuples(*(st.integers(0, size - 1) for size in sizes)), min_size=1, max_size=9)
    )
    words = found.pack([np.array(column) for column in zip(*rows, strict=True)]).tolist()
    assert [found.unpack(word) for word in words] == rows
    assert sorted(words) == [word for _, word in sorted(zip(rows, words, strict=True))]
    assert min(words) >= 0


def test_a_table_without_columns_has_no_words() -> None:
    assert word_layout([]) is None
