"""Hierarchies created in Python: the constructors, and where a policy takes them."""

import doctest
import pickle
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.errors import HierarchyError, PolicyError
from shoal.hierarchy import Hierarchy, base
from shoal.policy import Policy, policy_from_keywords

ROWS = {"leaf": ["a", "b", "c"], "group": ["x", "x", "y"], "top": ["all", "all", "all"]}


def first_letter(value: str, level: int) -> str:
    return value[: 3 - level]


def test_the_examples_in_the_docstrings() -> None:
    assert doctest.testmod(base).failed == 0
    assert doctest.testmod(base).attempted > 10


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_and_dictionaries_describe_one_tree(library: Any) -> None:
    nested = Hierarchy.from_dict({"all": {"x": ["a", "b"], "y": ["c"]}})
    assert Hierarchy.from_frame(library(ROWS)) == nested
    by_leaf = {"a": ["x", "all"], "b": ["x", "all"], "c": ["y", "all"]}
    assert Hierarchy.from_dict(by_leaf, orient="leaf") == nested
    assert nested.paths(["c", "d"]) == [("c", "y", "all"), None]


def test_numbers_are_matched_by_their_text() -> None:
    frame = pd.DataFrame({"age": [1, 2], "class": ["low", "high"]})
    assert Hierarchy.from_frame(frame).paths([1.0, 3.0]) == [("1", "low", "*"), None]


@pytest.mark.parametrize(
    ("create", "words"),
    [
        (lambda: Hierarchy.from_frame(pd.DataFrame({"a": ["x"]})), "found leaves alone"),
        (
            lambda: Hierarchy.from_frame(pd.DataFrame({"a": ["x"], "b": [None]})),
            "row 1 has an empty",
        ),
        (lambda: Hierarchy.from_frame(pd.DataFrame({"a": [], "b": []})), "there is no leaf"),
        (
            lambda: Hierarchy.from_dict({"a": ["x", "y"], "b": "z"}, orient="leaf"),
            "row 2 has 2 labels",
        ),
        (
            lambda: Hierarchy.from_dict({"a": ["x", "t"], "b": ["x", "u"]}, orient="leaf"),
            "'x' has two parents, 't' and 'u'",
        ),
        (lambda: Hierarchy.from_function("f"), "give a function"),  # type: ignore[arg-type]
        (lambda: Hierarchy.from_function(first_letter, levels=0), "found levels=0"),
        (lambda: Hierarchy.intervals([5, 12]), "is not a multiple"),
        (lambda: Hierarchy.dates(["year", "month"]), "in this order"),
    ],
)
def test_mistakes_are_refused_at_once(create: Any, words: str) -> None:
    with pytest.raises(HierarchyError, match=words):
        create()


def test_representations_are_short() -> None:
    assert repr(Hierarchy.mask("left")) == "Hierarchy.mask('left')"
    assert repr(Hierarchy.intervals([5, 10], start=2)) == "Hierarchy.intervals([5, 10], start=2)"
    assert repr(Hierarchy.dates(["year"])) == "Hierarchy.dates(['year'])"
    assert repr(Hierarchy.from_csv("a.csv", ";")) == "Hierarchy.from_csv('a.csv', separator=';')"
    tree = Hierarchy.from_dict({"all": {"x": ["a", "b"], "y": ["c"]}})
    assert repr(tree) == "Hierarchy.from_dict(<3 leaves, 2 levels above them>)"
    function = Hierarchy.from_function(first_letter, levels=2)
    assert repr(function) == f"Hierarchy.from_function({__name__}.first_letter, levels=2)"


@pytest.mark.parametrize(
    "hierarchy",
    [
        Hierarchy.mask(),
        Hierarchy.intervals([5]),
        Hierarchy.dates(["year"]),
        Hierarchy.from_csv("a.csv"),
        Hierarchy.from_dict({"all": ["a"]}),
        Hierarchy.from_function(first_letter, levels=2),
    ],
)
def test_hierarchies_survive_pickling_and_fit_a_policy(hierarchy: Hierarchy) -> None:
    assert pickle.loads(pickle.dumps(hierarchy)) == hierarchy
    policy = policy_from_keywords(["zip"], quasi="zip", k=2, hierarchies={"zip": hierarchy})
    assert policy.columns["zip"].hierarchy == hierarchy
    other = Policy.load(
        {"columns": {"zip": {"role": "quasi", "hierarchy": hierarchy}}, "constraints": [{"k": 2}]}
    )
    assert other.fingerprint() == policy.fingerprint()


def test_a_policy_file_can_hold_all_but_functions() -> None:
    for hierarchy in (Hierarchy.mask(), Hierarchy.from_frame(pd.DataFrame(ROWS))):
        policy = policy_from_keywords(["zip"], quasi="zip", k=2, hierarchies={"zip": hierarchy})
        assert Policy.load(policy.to_yaml()) == policy
    function = Hierarchy.from_function(first_letter, levels=2)
    policy = policy_from_keywords(["zip"], quasi="zip", k=2, hierarchies={"zip": function})
    assert f"function: {__name__}.first_letter" in policy.to_yaml()
    with pytest.raises(PolicyError, match="found 'function', 'levels'; one of csv"):
        Policy.load(policy.to_yaml())


def test_a_release_with_a_function() -> None:
    table = pa.table({"code": ["E11", "E12", "J45", "J46"] * 2})
    hierarchy = Hierarchy.from_function(first_letter, levels=2)
    release = shoal.anonymize(table, quasi="code", k=4, hierarchies={"code": hierarchy})
    assert sorted(set(release.table["code"].to_pylist())) == ["E1", "J4"]
    assert release.verified


def test_a_function_that_gives_no_tree_is_refused_without_values() -> None:
    def odd(value: str, level: int) -> str:
        return "same" if level == 1 else value

    table = pa.table({"code": ["secret1", "secret2"] * 3})
    for function, words in [
        (odd, "does not give a tree"),
        (lambda value, level: value[9], "raised IndexError"),  # noqa: ARG005
        (lambda value, level: 3, "returned a int"),  # noqa: ARG005
        (lambda value, level: "", "returned an empty text"),  # noqa: ARG005
    ]:
        hierarchy = Hierarchy.from_function(function, levels=2)  # type: ignore[arg-type]
        with pytest.raises(HierarchyError, match=words) as caught:
            shoal.anonymize(table, quasi="code", k=2, hierarchies={"code": hierarchy})
        assert "secret" not in str(caught.value)
