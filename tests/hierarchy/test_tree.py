from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import HierarchyError
from shoal.hierarchy import tree
from shoal.hierarchy.mask import Mask
from shoal.hierarchy.tree import HierarchyTree, changes, from_paths, from_starts, with_missing

from .checks import assert_sound, path

FOOD = from_paths(
    [("apple", "fruit", "any"), ("pear", "fruit", "any"), ("oat", "grain", "any")], "x"
)


def test_spans_and_shares() -> None:
    first, last = FOOD.spans(1)
    assert (first.tolist(), last.tolist()) == ([0, 2], [1, 2])
    assert FOOD.shares(0).tolist() == pytest.approx([1 / 3] * 3)
    assert FOOD.shares(1).tolist() == pytest.approx([2 / 3, 1 / 3])
    assert FOOD.shares(2).tolist() == [1]


def test_lowest_and_texts() -> None:
    first, last = np.array([0, 0, 1, 2]), np.array([0, 1, 2, 2])
    levels = FOOD.lowest(first, last)
    assert levels.tolist() == [0, 1, 2, 0]
    labels = FOOD.texts(levels, FOOD.nodes[levels, first]).to_pylist()
    assert labels == ["apple", "fruit", "any", "oat"]


@given(st.data())
def test_lowest_is_the_first_level_that_meets(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=8))
    paths = [
        (f"{g}.{i}", f"g{g}", f"h{g // 2}", "*") for g, s in enumerate(sizes) for i in range(s)
    ]
    hierarchy = from_paths(paths, "x")
    first = data.draw(st.integers(0, len(paths) - 1))
    last = data.draw(st.integers(first, len(paths) - 1))
    level = int(hierarchy.lowest(np.array([first]), np.array([last]))[0])
    expected = next(i for i in range(4) if paths[first][i] == paths[last][i])
    assert level == expected


def test_missing_lies_right_under_the_root() -> None:
    more = with_missing(FOOD)
    assert_sound(more)
    assert more.n_leaves == 4
    assert [path(more, leaf) for leaf in range(3)] == [path(FOOD, leaf) for leaf in range(3)]
    assert path(more, 3) == ("", "", "any")
    assert more.lowest(np.array([2]), np.array([3])).tolist() == [2]


def test_missing_alone() -> None:
    empty = from_starts([], [np.zeros(0, dtype=np.bool_)], lambda _, firsts: [""] * len(firsts))
    assert empty.height == 2
    assert [span.tolist() for span in empty.spans(2)] == [[0], [-1]]
    assert empty.shares(2).tolist() == [0]
    assert_sound(empty)
    assert_sound(with_missing(empty))
    assert path(with_missing(empty), 0) == ("", "", "*")


def test_changes() -> None:
    assert changes(np.array([1, 1, 2, 1])).tolist() == [True, False, True, True]
    assert changes(np.array([], dtype=np.int64)).tolist() == []


def test_a_size_that_memory_could_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MOST_CELLS", 5)
    text = r"Column 'zip': 2 different values with 3 levels above them make 6 cells .* at most 5"
    with pytest.raises(HierarchyError, match=text):
        Mask("right").build(pa.array(["123", "456"]), "zip", Path())


def test_is_frozen() -> None:
    assert isinstance(FOOD, HierarchyTree)
    with pytest.raises(AttributeError):
        FOOD.labels = ()  # type: ignore[misc]
