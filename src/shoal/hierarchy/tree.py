"""A generalisation hierarchy as an integer matrix.

Leaves are numbered depth first, so every node covers one unbroken range of leaves. Then the lowest
node over a group is the first level where the group's smallest and largest leaf meet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from shoal.errors import HierarchyError

if TYPE_CHECKING:
    import pyarrow as pa

TOP = "*"
MISSING = ""
"""The label of the missing value's leaf and of the nodes right above it."""
MOST_CELLS = 1 << 26
"""Leaves times levels: what a hierarchy beyond this holds would take several gigabytes."""


@dataclass(frozen=True)
class Hierarchy:
    """A tree over `n` leaves with `height` levels above them and one root."""

    labels: tuple[tuple[str, ...], ...]
    """labels[level][node]: the text of each node. labels[0] are the leaves, depth first, as they
    stand in the table; the last level is the root alone."""

    nodes: npt.NDArray[np.int32]
    """(height + 1, n): the node that holds leaf c at each level. Row 0 counts 0..n-1, every row
    rises without gaps, the last row is 0."""

    @property
    def height(self) -> int:
        """Levels above the leaves."""
        return len(self.labels) - 1

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.labels[0])

    def spans(self, level: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """(nodes of the level,) twice: the first and the last leaf of each node."""
        row, every = self.nodes[level], np.arange(len(self.labels[level]))
        return np.searchsorted(row, every), np.searchsorted(row, every, side="right") - 1

    def shares(self, level: int) -> npt.NDArray[np.float64]:
        """(nodes of the level,) the share of all leaves that each node covers."""
        first, last = self.spans(level)
        return (last - first + 1) / max(self.n_leaves, 1)

    def lowest(
        self, first: npt.NDArray[np.integer], last: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.int32]:
        """(g,) the lowest level with one node over both the leaves first[i] and last[i].

        The node itself is `nodes[level, first]`.
        """
        level = np.zeros(len(first), dtype=np.int32)
        for row in self.nodes[:-1]:
            level += row[first] != row[last]
        return level

    def texts(
        self, levels: npt.NDArray[np.integer], nodes: npt.NDArray[np.integer]
    ) -> "pa.StringArray":
        """(g,) the label of node nodes[i] on level levels[i]."""
        import pyarrow as pa

        offsets = np.cumsum([0, *(len(level) for level in self.labels)])
        flat = pa.array([label for level in self.labels for label in level], pa.string())
        return flat.take(pa.array(offsets[levels] + nodes))


def check_size(n_leaves: int, height: int, column: str) -> None:
    """Refuse, before any work, a hierarchy that memory could not hold."""
    if n_leaves * height > MOST_CELLS:
        raise HierarchyError(
            f"Column '{column}': {n_leaves:,} different values with {height:,} levels above them "
            f"are {n_leaves * height:,} places in its hierarchy; at most {MOST_CELLS:,} are "
            "allowed. Give it another hierarchy with fewer levels."
        )


def from_starts(
    leaves: Sequence[str],
    starts: Sequence[npt.NDArray[np.bool_]],
    label: Callable[[int, npt.NDArray[np.intp]], Sequence[str]],
    root: str = TOP,
) -> Hierarchy:
    """A hierarchy over leaves that already stand depth first.

    starts: per level between leaves and root, lowest first, (n,) whether a leaf begins a new node.
    label: given a level (1 is right above the leaves) and the first leaf of each of its nodes, the
    texts of those nodes.
    """
    firsts = [np.flatnonzero(start) for start in starts]
    nodes = np.zeros((len(starts) + 2, len(leaves)), dtype=np.int32)
    nodes[0] = np.arange(len(leaves))
    labels = [tuple(leaves)]
    for level, (start, first) in enumerate(zip(starts, firsts, strict=True), 1):
        nodes[level] = np.cumsum(start) - 1
        labels.append(tuple(label(level, first)))
    return Hierarchy((*labels, (root,)), nodes)


def with_missing(hierarchy: Hierarchy) -> Hierarchy:
    """The same hierarchy with one more leaf, the last, for the missing value.

    It lies right under the root, alone on every level in between: nothing but "anything" covers a
    missing value and another one.
    """
    *below, root = hierarchy.labels
    labels = (*((*level, MISSING) for level in below), root)
    alone = np.array([*(len(level) for level in below), 0], dtype=np.int32)
    return Hierarchy(labels, np.column_stack([hierarchy.nodes, alone]))


def changes(keys: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """(n,) whether each key differs from the one before; the first one does."""
    start = np.ones(len(keys), dtype=np.bool_)
    start[1:] = keys[1:] != keys[:-1]
    return start
