"""A release is read by what its policy says of a column; values that it does not know are told."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import HierarchyError, VerificationFailed
from shoal.hierarchy.tree import from_paths
from shoal.policy.policy import Policy
from shoal.verification.anatomy import require_order
from shoal.verification.preferences import leaf_text, node_text, texts_of_tree, tree_of

TREE = {"any": {"lung": ["flu", "asthma"], "other": ["gout", "cancer"]}}
LEVELS = {"flu": 1, "asthma": 2, "gout": 1, "cancer": 3}


def personal(**settings: Any) -> dict[str, Any]:
    """A policy in which people chose how their illness is published."""
    ill = {"role": "sensitive", "hierarchy": {"tree": TREE}, "levels": LEVELS, "preference": "wish"}
    return {
        "columns": {"age": "quasi", "ill": {**ill, **settings}, "wish": "preference"},
        "constraints": [{"k": 2}, {"alpha": 1, "of": "ill"}],
        "seed": 1,
    }


def release(*ills: str | None) -> pa.Table:
    return pa.table({"age": ["30"] * len(ills), "ill": pa.array(ills, pa.string())})


@pytest.mark.parametrize("ills", [("flu", "gout"), ("lung", "any"), ("flu", None)])
def test_values_and_wider_ones_are_known(ills: tuple[str | None, ...]) -> None:
    assert shoal.verify(release(*ills), personal()).findings


@pytest.mark.parametrize(
    ("ills", "strange"), [(("flu", "Flu"), 1), (("node", "flu"), 1), (("a", "b"), 2)]
)
def test_other_values_are_told(ills: tuple[str, ...], strange: int) -> None:
    with pytest.raises(VerificationFailed, match=f"holds {strange} different values of ill"):
        shoal.verify(release(*ills), personal()).check()


def test_levels_that_list_a_value_twice() -> None:
    twice = {"any": {"lung": ["flu", "Flu", "asthma"], "other": ["gout", "cancer"]}}
    settings = {"levels": {**LEVELS, "Flu": 1}, "hierarchy": {"tree": twice}}
    how = Policy.model_validate(personal(**settings)).column_spec("ill")
    with pytest.raises(HierarchyError, match="list several spellings of one value"):
        tree_of(how, "ill", Path())
    exact = Policy.model_validate(personal(**settings, spelling="exact")).column_spec("ill")
    assert tree_of(exact, "ill", Path()).size == 5


def test_a_value_without_a_place_in_the_hierarchy() -> None:
    policy = {
        "columns": {"age": "quasi", "ill": {"role": "sensitive", "hierarchy": {"tree": TREE}}},
        "constraints": [{"t": 1, "of": "ill", "distance": "hierarchical"}],
    }
    assert shoal.verify(release("flu", "gout"), policy).holds
    with pytest.raises(HierarchyError, match="values that have no place in the order, hierarchy"):
        shoal.verify(release("flu", "planted"), policy)


def test_how_values_of_a_tree_are_published() -> None:
    """What has a meaning in labels is escaped, and a leaf that reads like a node above several."""
    paths = {
        "a*b": ("a*b", "one", "all"),
        "[x": ("[x", "one", "all"),
        "one": ("one", "one", "all"),
        "c": ("c", "two", "all"),
        "b[x": ("b[x", "two", "all"),
        "solo": ("solo", "solo", "all"),
    }
    made = from_paths(list(paths.values()), "the tree")
    published = {made.labels[0][i]: leaf_text(made, i) for i in range(made.n_leaves)}
    assert published == {
        "a*b": r"a\*b",
        "[x": r"\[x",
        "one": r"\one",
        "c": "c",
        "b[x": "b[x",
        "solo": "solo",
    }
    nodes = {node_text(made, (1, i)): i for i in range(len(made.labels[1]))}
    assert set(nodes) == {"one", "two", "solo"}
    known = texts_of_tree(made)
    assert known["one"][0] == known["two"][0] == 1
    assert known["all"] == (2, 0)
    assert known["solo"][0] == 0
    assert known[r"\one"] == (0, made.labels[0].index("one"))


@pytest.mark.parametrize(
    ("groups", "texts", "sorted_"),
    [
        ([0, 0, 1], ["a", "b", "a"], True),
        ([0, 1, 0], ["a", "a", "a"], False),
        ([0, 0], ["b", "a"], False),
        ([0, 0], ["a", "a"], True),
        ([0, 0], ["10", "9"], True),  # by their text, as numbers too
        ([0, 0], ["9", "10"], False),
        ([0, 0], ["b", None], True),  # an empty text may read as missing
        ([0, 0], [None, "b"], True),
        ([0, 1], ["b", "a"], True),
    ],
)
def test_rows_of_anatomy_are_sorted(groups: list[int], texts: list[str], sorted_: bool) -> None:
    columns = [pa.chunked_array([pa.array(texts, pa.string())])]
    if sorted_:
        require_order(np.array(groups), columns)
    else:
        with pytest.raises(VerificationFailed):
            require_order(np.array(groups), columns)


def test_a_second_column_is_sorted_where_the_first_is_equal() -> None:
    def column(*texts: str) -> pa.ChunkedArray:
        return pa.chunked_array([pa.array(texts)])

    require_order(np.zeros(3, np.int64), [column("a", "a", "b"), column("x", "y", "x")])
    with pytest.raises(VerificationFailed):
        require_order(np.zeros(3, np.int64), [column("a", "a", "b"), column("y", "x", "z")])
