"""Groups that are edited: always a tree over the same values, and CSV there and back."""

import random
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import api
from shoal.errors import InputError
from shoal.policy import Policy
from shoal.policy.yaml_source import parse
from shoal.studio.columns_text import settings_in
from shoal.studio.hierarchy_editor import with_tree
from shoal.studio.hierarchy_tree import Node, Tree
from shoal.studio.policy_text import changed
from shoal.studio.prices import offers
from shoal.studio.screens.coarsen import is_proposed

WRITTEN = ["a", {"g": ["b", {"h": ["c", "d"]}]}, {"i": ["e"]}]


def node(tree: Tree, name: str) -> Node:
    return next(one for one, _ in tree.top.walk() if one.name == name)


def test_what_a_policy_lists_comes_back() -> None:
    assert Tree(WRITTEN).written() == WRITTEN
    assert Tree({"*": WRITTEN}).written() == WRITTEN


@pytest.mark.parametrize("null", ["", " ~", " null"])
def test_a_value_without_a_group_in_a_draft_stays_a_value(null: str) -> None:
    text = f"""\
columns:
  school:
    role: quasi
    kind: unordered
    hierarchy:
      tree:
        "second (all)": [lower, upper]
        other: [college, "null"]
        none:{null}
        primary:{null}
constraints: [{{k: 2}}]
"""
    tree = Tree(settings_in(text, "school")["hierarchy"]["tree"])
    values = ["lower", "upper", "college", "null", "none", "primary"]
    assert list(tree.top.values()) == values
    assert tree.cover(dict.fromkeys(values, 20)) == 0
    tree.move([node(tree, "none")], node(tree, "other"))
    after = changed(text, with_tree("school", tree))
    written = Policy.load(parse(after, "p", Path()).data).columns["school"].hierarchy
    assert written is not None
    again = Tree(settings_in(after, "school")["hierarchy"]["tree"])
    assert again.written() == tree.written()
    assert sorted(again.top.values()) == sorted(values)


def test_what_a_draft_proposes_is_recognised() -> None:
    schools = ["lower school", "upper school", "college", "none"] * 30
    table = pa.table({"age": [20 + i % 50 for i in range(120)], "education": schools})
    found = api.inspect(table)
    policy = api.draft_policy(table).text
    for column in found.columns:
        proposal = found.generalisation(column)
        now = settings_in(policy, column.name)
        assert is_proposed(now, proposal)
        assert not is_proposed({**now, "kind": "nominal"}, proposal)
        assert not is_proposed({"role": "quasi"}, proposal)


def test_moving_grouping_renaming() -> None:
    tree = Tree(WRITTEN)
    tree.move([node(tree, "e")], node(tree, "c"))  # into the group of c; i is empty and goes
    assert tree.written() == ["a", {"g": ["b", {"h": ["c", "d", "e"]}]}]
    tree.group([node(tree, "c"), node(tree, "a")], "new")
    assert tree.written() == [{"g": ["b", {"h": ["d", "e", {"new": ["c", "a"]}]}]}]
    tree.raise_up([node(tree, "h")])
    tree.dissolve(node(tree, "g"))
    tree.rename(node(tree, "h"), "rest")
    assert tree.written() == [{"rest": ["d", "e", {"new": ["c", "a"]}]}, "b"]


@pytest.mark.parametrize("name", ["", "g", "a", "*"])
def test_a_name_that_is_taken_or_empty(name: str) -> None:
    tree = Tree(WRITTEN)
    with pytest.raises(InputError, match="name"):
        tree.group([node(tree, "b")], name)
    assert tree.written() == WRITTEN


def test_no_group_goes_into_itself() -> None:
    tree = Tree(WRITTEN)
    with pytest.raises(InputError, match="itself"):
        tree.move([node(tree, "g")], node(tree, "h"))
    assert tree.written() == WRITTEN


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_any_steps_leave_a_tree_over_the_same_values(seed: int) -> None:
    chance = random.Random(seed)
    tree = Tree(WRITTEN)
    for number in range(8):
        nodes = [one for one, _ in tree.top.walk()]
        some = chance.sample(nodes, chance.randint(1, 2))
        try:
            match chance.randrange(3):
                case 0:
                    tree.move(some, chance.choice([*nodes, tree.top]))
                case 1:
                    tree.group(some, f"n{number}")
                case _:
                    tree.raise_up(some)
        except InputError:
            continue
        assert sorted(tree.top.values()) == list("abcde")
        assert all(one.parts for one in tree.groups())
        assert Tree(tree.written()).written() == tree.written()
        assert sorted(Tree.of_lines(tree.lines()).top.values()) == list("abcde")


@pytest.mark.parametrize("text", ["", "a\n", "a;;*\n", "a;g;x;*\nb;g;y;*\n", "a;g\na;g\n"])
def test_a_file_that_is_no_tree(text: str) -> None:
    with pytest.raises(InputError):
        Tree.of_lines(text)


def test_a_tree_in_a_policy_is_valid() -> None:
    text = "columns:\n  x: {role: quasi, kind: unordered}  # why\nconstraints: [{k: 2}]\n"
    tree = Tree(["no", {"some: group": ["02138", "- x"]}])
    after = changed(text, with_tree("x", tree))
    policy = api.read_policy(after, columns=["x"])
    assert policy.quasi == ("x",)
    assert "# why" in after
    assert "- some: group" not in after  # a name with a colon is quoted
    names = [one.name for one in offers(after, policy)]
    assert names == ["k 2 → 3"]  # a k of 1 protects nobody; the only column stays
