"""What holds for every hierarchy, however it was made."""

import itertools

import numpy as np

from shoal.hierarchy.tree import HierarchyTree


def path(hierarchy: HierarchyTree, leaf: int) -> tuple[str, ...]:
    """The texts over one leaf, leaf first."""
    return tuple(
        labels[node]
        for labels, node in zip(hierarchy.labels, hierarchy.nodes[:, leaf], strict=True)
    )


def assert_sound(hierarchy: HierarchyTree) -> None:
    """The contract of `Hierarchy`, asked of the matrix cell by cell."""
    n, nodes = hierarchy.n_leaves, hierarchy.nodes
    assert nodes.dtype == np.int32
    assert nodes.shape == (hierarchy.height + 1, n)
    assert hierarchy.height >= 1
    assert nodes[0].tolist() == list(range(n))
    assert nodes[-1].tolist() == [0] * n
    assert len(hierarchy.labels[-1]) == 1
    for level, row in enumerate(nodes.tolist()):
        steps = {after - before for before, after in itertools.pairwise(row)}
        assert steps <= {0, 1}, "a row rises without gaps"
        assert not n or row[0] == 0
        assert not n or row[-1] == len(hierarchy.labels[level]) - 1
        first, last = hierarchy.spans(level)
        for node in range(len(hierarchy.labels[level])):
            leaves = [leaf for leaf in range(n) if row[leaf] == node]
            assert leaves == list(range(first[node], last[node] + 1)), "a node is a range"
            if level < hierarchy.height:
                assert len({nodes[level + 1, leaf] for leaf in leaves}) == 1, "one parent"
