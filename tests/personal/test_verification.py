"""What verifies raised values: texts of values and nodes, the worst case, and the personal rule."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from shoal.encoding.columns import ColumnSpec
from shoal.encoding.counts import Counts
from shoal.encoding.domain import Domain, Kind
from shoal.errors import HierarchyError, VerificationFailed
from shoal.hierarchy.parsing import parse_hierarchy
from shoal.hierarchy.tree import HierarchyTree
from shoal.verification.preferences import (
    at_worst,
    effective,
    leaf_text,
    node_text,
    require_rule,
    texts_of_tree,
    tree_of,
    under,
)

NAMESAKES = HierarchyTree(
    (("chest", "flu", "gout", "all", "b*d", "[x"), ("chest", "gout", "rest"), ("all",)),
    np.array([[0, 1, 2, 3, 4, 5], [0, 0, 1, 2, 2, 2], [0] * 6], np.int32),
)
"""Values that read as a node of several values, as the root, and as a node of themselves alone."""
HOW = ColumnSpec(
    hierarchy=parse_hierarchy(
        {"tree": {"any": {"chest": ["asthma", "flu"], "blood": ["hiv", "lupus"]}}}
    ),
    levels={"asthma": 1, "flu": 1, "hiv": 3, "lupus": 2},
)
DOMAIN = tree_of(HOW, "ill", Path())


def leaves_of(*names: str) -> list[int]:
    return sorted(DOMAIN.texts.to_pylist().index(name) for name in names)


def node_of(level: int, name: str) -> tuple[int, int]:
    assert DOMAIN.hierarchy is not None
    return level, DOMAIN.hierarchy.labels[level].index(name)


def test_the_domain_is_that_of_the_policy() -> None:
    found = tree_of(HOW, "ill", Path())
    assert (found.name, found.kind, found.missing) == ("ill", Kind.TREE, -1)
    assert found.levels is not None
    levels = dict(zip(found.texts.to_pylist(), found.levels.tolist(), strict=True))
    assert levels == {"asthma": 1, "flu": 1, "hiv": 3, "lupus": 2}
    fewer = tree_of(ColumnSpec(hierarchy=HOW.hierarchy, levels={"flu": 2}), "ill", Path())
    assert fewer.levels is not None
    assert sorted(fewer.levels.tolist()) == [0, 0, 0, 2], "values that the policy gives no level"


def test_a_value_has_one_spelling_unless_spellings_are_exact() -> None:
    tree = parse_hierarchy({"tree": {"any": ["Flu", "flu", "hiv"]}})
    levels = {"Flu": 1, "flu": 1, "hiv": 2}
    with pytest.raises(HierarchyError, match="several spellings of one value"):
        tree_of(ColumnSpec(hierarchy=tree, levels=levels), "ill", Path())
    exact = tree_of(ColumnSpec(hierarchy=tree, levels=levels, exact_spelling=True), "ill", Path())
    assert sorted(exact.texts.to_pylist()) == ["Flu", "flu", "hiv"]


def test_texts_of_values() -> None:
    """A backslash tells a value from a wider one of the same name; not from a node of it alone."""
    texts = [leaf_text(NAMESAKES, leaf) for leaf in range(6)]
    assert texts == ["\\chest", "flu", "gout", "\\all", r"b\*d", r"\[x"]


def test_texts_of_nodes() -> None:
    assert node_text(NAMESAKES, (1, 0)) == "chest"
    assert node_text(NAMESAKES, (1, 1)) == "gout"
    assert node_text(NAMESAKES, (1, 2)) == "rest"
    assert node_text(NAMESAKES, (2, 0)) == "all"
    assert node_text(NAMESAKES, (0, 0)) == "\\chest"
    assert node_text(NAMESAKES, (0, 4)) == r"b\*d"
    lone = HierarchyTree((("a*", "b"), ("a*", "c"), ("any",)), np.array([[0, 1], [0, 1], [0, 0]]))
    assert node_text(lone, (1, 0)) == r"a\*", "the value itself, however high"
    assert node_text(lone, (1, 1)) == "c", "a node of one value that is called otherwise"
    assert under(NAMESAKES, (1, 2)).tolist() == [3, 4, 5]


def test_what_each_text_stands_for() -> None:
    assert texts_of_tree(NAMESAKES) == {
        "\\chest": (0, 0),
        "flu": (0, 1),
        "gout": (0, 2),
        "\\all": (0, 3),
        r"b\*d": (0, 4),
        r"\[x": (0, 5),
        "chest": (1, 0),
        "rest": (1, 2),
        "all": (2, 0),
    }


def test_a_raised_value_is_none_that_is_too_sensitive_for_its_node() -> None:
    assert effective(DOMAIN, node_of(1, "chest")).tolist() == leaves_of("asthma", "flu")
    # nobody was raised to `blood` at level 1; if there is one, it may be either
    assert effective(DOMAIN, node_of(1, "blood")).tolist() == leaves_of("hiv", "lupus")
    assert effective(DOMAIN, node_of(2, "any")).tolist() == leaves_of("asthma", "flu", "lupus")
    # the value of level 0 is the missing one, which is never raised
    assert DOMAIN.hierarchy is not None
    levels = np.array([0, 1, 1, 1], np.int32)
    unknown = Domain("ill", Kind.TREE, DOMAIN.texts, -1, hierarchy=DOMAIN.hierarchy, levels=levels)
    assert effective(unknown, (1, 0)).tolist() == [1]


def published(classes: list[dict[str, int]]) -> Counts:
    """Classes of published texts, as they are counted."""
    texts = sorted({text for one in classes for text in one})
    entries = [(texts.index(t), n) for one in classes for t, n in sorted(one.items())]
    return Counts(
        np.array([sum(one.values()) for one in classes], np.int64),
        np.cumsum([0, *(len(one) for one in classes)]).astype(np.int64),
        np.array([code for code, _ in entries], np.int32),
        np.array([n for _, n in entries], np.int64),
        Domain("ill", Kind.SET, pa.array(texts, pa.string()), -1),
    )


def distinct(*classes: dict[str, int]) -> list[int]:
    return at_worst(published(list(classes)), HOW, Path()).distinct().tolist()


def test_raised_values_at_their_worst() -> None:
    """lupus twice, blood (1) and any (2) in one class; flu and chest in the other."""
    found = at_worst(
        published([{"lupus": 2, "blood": 3, "any": 1}, {"flu": 1, "chest": 4, "hiv": 1}]),
        HOW,
        Path(),
    )
    names = DOMAIN.texts.to_pylist()
    shown = [(names[v], n) for v, n in zip(found.values, found.counts, strict=True)]
    assert dict(shown[: found.starts[1]]) == {"lupus": 2}
    assert dict(shown[found.starts[1] :]) == {"flu": 1, "hiv": 1}
    assert found.starts.tolist() == [0, 1, 3]
    assert found.totals is not None
    totals = dict(zip(names, found.totals.tolist(), strict=True))
    assert totals == {"asthma": 0, "flu": 1, "hiv": 1, "lupus": 2}
    assert found.raised is not None
    assert found.raised.rows.tolist() == [4, 4]
    assert found.raised.distinct.tolist() == [0, 0], "each may be a value in sight"
    # rows that may have the levels 0, 1, 2, 3: blood is lupus or hiv, any is all but hiv
    assert found.raised.by_level.tolist() == [[0, 1, 4, 3], [0, 4, 0, 0]]


def test_how_many_values_there_are_for_certain() -> None:
    assert distinct({"hiv": 1, "chest": 1}) == [2]
    assert distinct({"flu": 1, "chest": 1}) == [1]
    assert distinct({"chest": 1, "blood": 1}) == [2]
    assert distinct({"chest": 1, "any": 1}) == [1], "any may be what chest is"
    assert distinct({"chest": 1, "hiv": 1, "any": 1}) == [2]
    assert distinct({"hiv": 1, "any": 1}) == [2], "hiv is never raised to the second level"
    assert distinct({"chest": 1}, {"any": 1}) == [1, 1]
    assert distinct({"flu": 1}, {"chest": 1}) == [1, 1]
    assert distinct({"asthma": 2}, {"blood": 2, "any": 1}) == [1, 2]


def test_nodes_of_the_same_possible_values_are_one_value() -> None:
    """`upper` adds nothing but a value that is too sensitive to be raised to it."""
    tree = parse_hierarchy(
        {"tree": {"all": {"upper": {"lower": ["a", "b"], "own": ["c"]}, "rest": {"r": ["d"]}}}}
    )
    how = ColumnSpec(hierarchy=tree, levels={"a": 1, "b": 1, "c": 4, "d": 1})
    found = at_worst(published([{"lower": 1, "upper": 1}]), how, Path())
    assert found.distinct().tolist() == [1]


def test_texts_that_the_policy_does_not_know() -> None:
    strange = published([{"flu": 1, "measles": 2, "mumps": 1}])
    with pytest.raises(VerificationFailed, match="holds 2 different values of ill"):
        at_worst(strange, HOW, Path())
    missing = ColumnSpec(hierarchy=HOW.hierarchy, levels=HOW.levels, missing=("?",))
    found = at_worst(published([{"flu": 1, "?": 2, "chest": 1}]), missing, Path())
    assert found.sizes.tolist() == [4]
    assert found.counts.tolist() == [1]
    none = at_worst(published([{"?": 2}]), missing, Path())
    assert none.distinct().tolist() == [0]
    empty = at_worst(published([]), HOW, Path())
    assert (empty.n_groups, empty.starts.tolist()) == (0, [0])


RULE = [
    ("flu", None, "flu"), ("flu", " ", "flu"), ("flu", "0", "flu"), ("flu", "1", "flu"),
    ("flu", "2", "chest"), ("flu", "2.0", "chest"), ("flu", "3", "any"), ("hiv", "2", "hiv"),
    ("hiv", "3", "hiv"), ("lupus", "2", "lupus"), ("lupus", "3", "any"), (None, None, None),
    (None, "3", None), ("", "2", None), ("*", "2", None), ("flu", "3", "*"),
]  # fmt: skip


def ruled(*rows: tuple[str | None, str | None, str | None]) -> None:
    require_rule(DOMAIN, *(pa.array(column, pa.string()) for column in zip(*rows, strict=True)))


@pytest.mark.parametrize("row", RULE, ids=str)
def test_the_rule_holds(row: tuple[str | None, str | None, str | None]) -> None:
    ruled(row)


@pytest.mark.parametrize(
    "row",
    [
        ("flu", "2", "flu"), ("flu", "3", "chest"), ("flu", "1", "chest"), ("flu", None, "asthma"),
        ("hiv", "2", "blood"), ("lupus", "3", "blood"), ("flu", "2", None), (None, "2", "flu"),
        ("flu", None, None),
    ],
    ids=str,
)  # fmt: skip
def test_the_rule_is_broken(row: tuple[str | None, str | None, str | None]) -> None:
    with pytest.raises(VerificationFailed, match="1 combinations of a value of ill"):
        ruled(*RULE, row, row)


def test_no_row_is_left_out() -> None:
    long, short = pa.array(["flu", "flu"]), pa.array(["flu"])
    for columns in ((long, long, short), (long, short, long), (short, long, long)):
        with pytest.raises(ValueError, match="argument"):
            require_rule(DOMAIN, *columns)
