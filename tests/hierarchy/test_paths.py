import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.errors import HierarchyError
from shoal.hierarchy.tree import from_paths

from . import plain
from .checks import assert_sound, path

Paths = list[tuple[str, ...]]


@st.composite
def trees(draw: st.DrawFn) -> Paths:
    """Paths of a random tree, shuffled, some twice; some nodes are named as their only parent."""
    height = draw(st.integers(1, 4))
    level = [f"0.{i}" for i in range(draw(st.integers(1, 3)))]
    paths: Paths = [(top,) for top in level]
    for depth in range(1, height + 1):
        below: Paths = []
        for number, above in enumerate(paths):
            size = draw(st.integers(1, 3))
            same = draw(st.booleans())
            names = [f"{depth}.{number}.{i}" for i in range(size)]
            if same:
                names[0] = above[0]
            below += [(name, *above) for name in names]
        paths = below
    paths += draw(st.lists(st.sampled_from(paths), max_size=3))
    return draw(st.permutations(paths))


@given(trees())
def test_a_tree_comes_back_depth_first(paths: Paths) -> None:
    hierarchy = from_paths(paths, "x")
    assert_sound(hierarchy)
    expected = plain.depth_first(paths)
    if len({p[-1] for p in paths}) > 1 or len(paths[0]) == 1:
        expected = [(*p, "*") for p in expected]
    assert [path(hierarchy, leaf) for leaf in range(hierarchy.n_leaves)] == expected


WORDS = {"circle": "has a cycle", "parents": "has two parents", "names": "is not part of"}


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.tuples(*[st.sampled_from("abcdef*")] * n), min_size=1, max_size=5)
    )
)
@example([("a", "b", "a", "*")])
@example([("a", "b"), ("b", "a")])
def test_whatever_is_no_tree_is_refused(paths: Paths) -> None:
    fault = plain.fault(paths)
    if fault is None:
        assert_sound(from_paths(paths, "x"))
    else:
        with pytest.raises(HierarchyError, match=WORDS[fault]):
            from_paths(paths, "x")


def test_siblings_stay_in_the_order_of_the_file() -> None:
    rows = [("z", "b", "*"), ("y", "a", "*"), ("x", "b", "*")]
    assert from_paths(rows, "x").labels == (("z", "x", "y"), ("b", "a"), ("*",))


def test_several_tops_get_a_root() -> None:
    hierarchy = from_paths([("x", "a"), ("y", "b")], "x")
    assert hierarchy.labels == (("x", "y"), ("a", "b"), ("*",))


def test_one_level_gets_a_root() -> None:
    assert from_paths([("x",)], "x").labels == (("x",), ("*",))
    assert from_paths([("x",), ("y",)], "x").labels == (("x", "y"), ("*",))


def test_a_root_keeps_its_own_name() -> None:
    assert from_paths([("x", "all")], "x").labels == (("x",), ("all",))


def test_a_node_may_be_named_as_its_leaf() -> None:
    rows = [("Other", "Other", "*"), ("Misc", "Other", "*")]
    assert from_paths(rows, "x").labels == (("Other", "Misc"), ("Other",), ("*",))


def test_two_parents_are_named_with_their_lines() -> None:
    rows = [("x", "a", "*"), ("y", "b", "*"), ("x", "b", "*")]
    text = "food.csv line 9: 'x' has two parents, 'a' (line 2) and 'b' (line 9)."
    with pytest.raises(HierarchyError, match=re.escape(text)):
        from_paths(rows, "food.csv", [2, 4, 9])


def test_two_parents_of_an_inner_node() -> None:
    rows = [("x", "a", "p", "*"), ("y", "a", "q", "*")]
    with pytest.raises(HierarchyError, match=r"x: 'a' has two parents, 'p' and 'q'\."):
        from_paths(rows, "x")


def test_two_parents_look_past_repeats() -> None:
    rows = [("x", "c", "a", "*"), ("x", "x", "b", "*")]
    with pytest.raises(HierarchyError, match="'x' has two parents, 'c' and 'b'"):
        from_paths(rows, "x")
    rows = [("x", "x", "a", "*"), ("x", "a", "a", "*")]
    with pytest.raises(HierarchyError, match="'x' has two parents, 'x' and 'a'"):
        from_paths(rows, "x")


def test_a_circle_is_named() -> None:
    rows = [("x", "a", "b", "*"), ("y", "b", "a", "*")]
    text = "f line 1: the hierarchy has a cycle: 'a' under 'b' under 'a'."
    with pytest.raises(HierarchyError, match=re.escape(text)):
        from_paths(rows, "f", [1, 2])


def test_a_circle_of_three() -> None:
    rows = [("a", "b"), ("b", "c"), ("c", "a")]
    with pytest.raises(HierarchyError, match="'a' under 'b' under 'c' under 'a'"):
        from_paths(rows, "f")


def test_a_name_for_two_things_is_refused() -> None:
    rows = [("x", "a", "*"), ("a", "b", "*")]
    text = "f line 2: 'a' as a leaf (line 2) is not part of 'a' on level 1 (line 1)."
    with pytest.raises(HierarchyError, match=re.escape(text)):
        from_paths(rows, "f", [1, 2])


def test_nothing_is_refused() -> None:
    with pytest.raises(HierarchyError, match="f has no leaf"):
        from_paths([], "f")
