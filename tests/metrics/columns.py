"""Columns for metrics worked out by hand."""

import numpy as np
import pyarrow as pa

from shoal.encoding.domain import Domain, Kind
from shoal.hierarchy.tree import HierarchyTree
from tests import naive


def tree_of_four() -> tuple[Domain, naive.Column]:
    """Four leaves under two nodes under a root."""
    levels = [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
    labels = (("w", "x", "y", "z"), ("wx", "yz"), ("*",))
    tree = HierarchyTree(labels, np.array(levels, np.int32))
    texts = pa.array(list("wxyz"), pa.string())
    domain = Domain("disease", Kind.TREE, texts, -1, hierarchy=tree)
    return domain, naive.tree_column(levels)
