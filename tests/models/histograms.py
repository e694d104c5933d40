"""Random groups, as lists for the twins and as histograms for the models."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from shoal.encoding.counts import Counts
from shoal.encoding.domain import Domain, Kind
from shoal.hierarchy.tree import HierarchyTree

TREE = ((0, 1, 2, 3, 4, 5, 6), (0, 0, 1, 1, 2, 3, 3), (0, 0, 0, 0, 1, 1, 1), (0,) * 7)
"""Seven leaves under four nodes under two under the root."""

Values = list[int | None]
groups_of_values = st.lists(
    st.lists(st.none() | st.integers(0, 6), min_size=1, max_size=12), min_size=1, max_size=8
)


def counted(groups: Sequence[Values], others: Values | None = None) -> Counts:
    """The groups' histograms, in a table of these groups and `others`; None is a missing value."""
    return labelled(groups, len(TREE[0]), TREE, others)


def labelled(
    groups: Sequence[Values],
    size: int,
    tree: Sequence[Sequence[int]] | None = None,
    others: Values | None = None,
) -> Counts:
    """The same for a column of so many values under a tree, or in an order.

    The population has as many people like a row as its value leaves over from 3.
    """
    tables = [sorted(Counter(v for v in group if v is not None).items()) for group in groups]
    flat = [entry for table in tables for entry in table]
    everybody = [v for group in (*groups, others or []) for v in group if v is not None]
    texts = pa.array([str(i) for i in range(size)], pa.string())
    domain = Domain("ill", Kind.RANGE, texts, -1)
    if tree is not None:
        labels = (tuple(f"{i}.{n}" for n in sorted(set(row))) for i, row in enumerate(tree))
        hierarchy = HierarchyTree(tuple(labels), np.array(tree, np.int32))
        domain = Domain("ill", Kind.TREE, texts, -1, hierarchy=hierarchy)
    return Counts(
        np.array([len(group) for group in groups], np.int64),
        np.concatenate([[0], np.cumsum([len(table) for table in tables])]).astype(np.int64),
        np.array([value for value, _ in flat], np.int32),
        np.array([count for _, count in flat], np.int64),
        domain,
        np.bincount(np.array(everybody, np.int64), minlength=size),
        population=np.array([sum((v or 0) % 3 for v in group) for group in groups], np.int64),
    )
