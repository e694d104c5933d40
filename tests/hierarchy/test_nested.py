import datetime
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml

from shoal.errors import HierarchyError
from shoal.hierarchy.nested import NestedTree
from shoal.hierarchy.tree import HierarchyTree

from .checks import assert_sound, path

HERE = Path()


def built(tree: Any) -> HierarchyTree:
    hierarchy, _ = NestedTree(tree).build(pa.array([], pa.string()), "x", HERE)
    assert_sound(hierarchy)
    return hierarchy


def test_a_tree() -> None:
    hierarchy = built({"any": {"a": ["x", "y"], "b": {"c": ["z"]}}})
    found = [path(hierarchy, leaf) for leaf in range(3)]
    assert found == [("x", "x", "a", "any"), ("y", "y", "a", "any"), ("z", "c", "b", "any")]


def test_yaml_of_every_shape() -> None:
    text = """
    any:
      - alone
      - fruit: [apple, pear]
        nut: almond
      - bare:
    """
    hierarchy = built(yaml.safe_load(text))
    assert [path(hierarchy, leaf) for leaf in range(5)] == [
        ("alone", "alone", "any"),
        ("apple", "fruit", "any"),
        ("pear", "fruit", "any"),
        ("almond", "nut", "any"),
        ("bare", "bare", "any"),
    ]


def test_several_tops() -> None:
    assert built({"a": ["x"], "b": ["y"]}).labels == (("x", "y"), ("a", "b"), ("*",))
    assert built(["x", "y"]).labels == (("x", "y"), ("*",))


def test_a_node_may_be_named_as_its_leaf() -> None:
    labels = built({"any": {"Other": ["Other", "Misc"]}}).labels
    assert labels == (("Other", "Misc"), ("Other",), ("any",))


def test_names_are_texts_of_values() -> None:
    day = datetime.date(1964, 3, 7)
    tree = {1: [39, 2.5, True, day, 4.0]}
    hierarchy, codes = NestedTree(tree).build(pa.array([39, 4, 5]), "x", HERE)
    assert hierarchy.labels == (("39", "2.5", "true", "1964-03-07", "4"), ("1",))
    assert codes.tolist() == [0, 4, -1]


def circular() -> Any:
    return yaml.safe_load("a: &again {b: *again}")


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"any": {"a": ["x"], "b": ["x"]}}, "tree: 'x' has two parents, 'a' and 'b'."),
        ({"any": {"a": {"c": ["x"]}, "b": ["x"]}}, "tree: 'x' has two parents, 'c' and 'b'."),
        (
            {"any": {"a": {"c": ["x"]}, "b": {"c": ["y"]}}},
            "tree: 'c' has two parents, 'a' and 'b'.",
        ),
        ({"any": {"a": {"c": ["x"]}, "c": ["y"]}}, "'c' on level 1 is not part of 'c' on level 2."),
        ({"a": {"b": ["a"]}}, "tree: the hierarchy has a cycle: 'a' under 'b' under 'a'."),
        ({"a": ["b"], "b": ["a"]}, "the hierarchy has a cycle: "),
        (circular(), "tree: the hierarchy has a cycle: 'b' under 'a'."),
        ({}, "tree: found {}; write names over their parts"),
        (None, "tree: found nothing; write names"),
        ("x", "tree: found 'x'; write names"),
        ({"any": {"a": []}}, "tree: 'a' has an empty list of parts"),
        ({"any": [["x"]]}, "tree: found a list inside a list"),
        ({"any": ["x", ""]}, "tree: found '' as a name"),
        ({"any": [None]}, "tree: found nothing as a name"),
    ],
)
def test_what_is_wrong_is_said_before_any_work(tree: Any, message: str) -> None:
    with pytest.raises(HierarchyError, match=re.escape(message)):
        NestedTree(tree)
