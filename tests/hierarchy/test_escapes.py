"""Labels of leaves and nodes never have one text for two meanings."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding.domain import Domain, Kind
from shoal.errors import HierarchyError
from shoal.hierarchy.tree import from_paths
from shoal.publish.labels import leaf_texts
from tests.examples import examples

ASIA = [["Asia", "Asia"], ["Japan", "Asia"], ["x", "\\Asia"], ["y", "\\Asia"]]


def test_a_node_named_like_an_escaped_leaf_is_refused() -> None:
    with pytest.raises(
        HierarchyError,
        match=r"places line 4: the node '\\Asia' .* reads like the leaf 'Asia' \(line 2",
    ):
        from_paths([["a", "b"], *ASIA], "places", [1, 2, 3, 4, 5])


def test_a_backslash_alone_is_no_reason_to_refuse() -> None:
    paths = [["Asia", "Asia"], ["Japan", "Asia"], ["x", "C:\\Temp"], ["y", "C:\\Temp"]]
    assert from_paths(paths, "t").n_leaves == 4
    assert from_paths([["\\x", "\\x"], ["x", "top"], ["y", "top"]], "t").n_leaves == 3


NAMES = st.text("\\A*[b", min_size=1, max_size=3)


@examples(200)
@given(st.lists(st.tuples(NAMES, NAMES, NAMES), min_size=1, max_size=6))
def test_no_leaf_is_published_with_the_text_of_a_node(paths: list[tuple[str, ...]]) -> None:
    try:
        tree = from_paths(paths, "t")
    except HierarchyError:
        return
    leaves = tree.labels[0]
    domain = Domain("c", Kind.TREE, pa.array(leaves), -1, hierarchy=tree)
    published = leaf_texts(domain, tree, tree.nodes[0].astype("int64")).to_pylist()
    assert len(set(published)) == len(leaves)
    for level in range(1, tree.height + 1):
        first, last = tree.spans(level)
        for text, low, high in zip(tree.labels[level], first, last, strict=True):
            alone = low == high and leaves[low] == text
            assert alone or text not in published
