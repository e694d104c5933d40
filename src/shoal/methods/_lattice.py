"""The lattice of full-domain generalisations: a node gives every column one level for all rows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shoal.cells.cells import Cells
from shoal.errors import PolicyError, listed
from shoal.hierarchy.tree import Hierarchy

Flags = npt.NDArray[np.bool_]
Levels = tuple[int, ...]

MOST_NODES = 4_000_000
"""Beyond this many nodes a search would take hours, and is refused."""


@dataclass(frozen=True)
class Lattice:
    """All nodes over some columns, and which of them generalise which.

    Level b of a column generalises level a < b when every node of a lies in one of b. In a tree every
    level generalises all below it; where levels do not nest, some do not.
    """

    trees: tuple[Hierarchy, ...]
    """One per column."""

    @property
    def shape(self) -> Levels:
        """(columns,) how many levels each column has."""
        return tuple(tree.height + 1 for tree in self.trees)

    @property
    def top(self) -> Levels:
        """The levels of the one node in which all rows are equal."""
        return tuple(tree.height for tree in self.trees)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(np.prod(self.shape, dtype=object))

    @cached_property
    def nested(self) -> tuple[Flags, ...]:
        """Per column, (levels, levels) whether level b (second) generalises level a < b (first)."""
        return tuple(_nested(tree) for tree in self.trees)

    @cached_property
    def below(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """below[column][level]: the levels right below it; one, unless levels do not nest."""
        return tuple(
            tuple(_right_below(nested, level) for level in range(len(nested)))
            for nested in self.nested
        )

    def lift(self, column: int, low: int, high: int) -> npt.NDArray[np.uint64]:
        """(nodes of level low,) the node of level high that each lies in."""
        key = column, low, high
        if key not in self._lifts:
            tree = self.trees[column]
            first = np.searchsorted(tree.nodes[low], np.arange(len(tree.labels[low])))
            self._lifts[key] = tree.nodes[high][first].astype(np.uint64)
        return self._lifts[key]

    @cached_property
    def _lifts(self) -> dict[tuple[int, int, int], npt.NDArray[np.uint64]]:
        return {}

    def minimal(self, valid: Flags) -> list[Levels]:
        """The valid nodes that generalise no other valid one, by their levels; `valid` has the
        lattice's shape."""
        reached = valid.copy()
        strictly = np.zeros_like(valid)
        for axis, nested in enumerate(self.nested):
            # a node is reached when it or one that it generalises is valid: column by column
            moved = np.moveaxis(reached, axis, 0)
            above = np.moveaxis(strictly, axis, 0)
            # from the top down: what is read has not been overwritten
            for level in range(len(nested) - 1, -1, -1):
                for lower in np.flatnonzero(nested[:, level]):
                    above[level] |= moved[lower]
                    moved[level] |= moved[lower]
        return [tuple(map(int, node)) for node in np.argwhere(valid & ~strictly)]


def lattice_of(cells: Cells, method: str) -> Lattice:
    """The lattice over all columns, or `PolicyError` where it is too large to be searched."""
    trees = []
    for domain in cells.domains:
        assert domain.hierarchy is not None, "checked before any work"
        trees.append(domain.hierarchy)
    lattice = Lattice(tuple(trees))
    if lattice.n_nodes > MOST_NODES:
        tall = sorted(cells.domains, key=lambda d: -d.hierarchy.height if d.hierarchy else 0)
        words = [f"{d.name} ({d.hierarchy.height + 1})" for d in tall if d.hierarchy]
        raise PolicyError(
            f"method: {method} searches every combination of levels, and these hierarchies have "
            f"{lattice.n_nodes:,}; at most {MOST_NODES:,} are allowed. Levels by column: "
            f"{listed(words)}. Use hierarchies with fewer levels or fewer quasi columns, or "
            "least-loss-partition."
        )
    return lattice


def _nested(tree: Hierarchy) -> Flags:
    nested = np.zeros((tree.height + 1, tree.height + 1), np.bool_)
    for low in range(tree.height + 1):
        # where level low stays within a node, level high must not begin one
        stays = tree.nodes[low][1:] == tree.nodes[low][:-1]
        for high in range(low + 1, tree.height + 1):
            begins = tree.nodes[high][1:] != tree.nodes[high][:-1]
            nested[low, high] = not (stays & begins).any()
    return nested


def _right_below(nested: Flags, level: int) -> tuple[int, ...]:
    lower = np.flatnonzero(nested[:, level])
    return tuple(int(a) for a in lower if not any(nested[a, c] for c in lower))
