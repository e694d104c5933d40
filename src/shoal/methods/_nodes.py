"""How good a node of the lattice is, and the release that it gives."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shoal import plugins
from shoal.cells.grouping import SUPPRESSED, Grouping
from shoal.cells.spans import spans_of
from shoal.errors import PolicyError, listed, nearest
from shoal.methods._classes import Classes, Counting, Flags, Ints
from shoal.methods._judging import Judge
from shoal.methods._lattice import Levels
from shoal.metrics.base import Metric, Node, Parts

SAME = 1e-9
"""Figures that differ by less, or by less than this share of the better one, are equally good."""


def margin(cost: float) -> float:
    """How much more is as good."""
    return SAME * max(1.0, abs(cost)) if abs(cost) < math.inf else 0.0


def known_metric(name: str) -> str:
    """The name, if there is such a metric."""
    known = plugins.names("metrics")
    if name not in known:
        raise ValueError(f"found '{name}'; allowed: {listed(known, 30)}.{nearest(name, known)}")
    return name


@dataclass(frozen=True)
class Measuring:
    """Measures valid nodes by one metric, and makes a grouping of one."""

    judge: Judge
    metric: Metric

    @property
    def counting(self) -> Counting:
        """What counts the classes."""
        return self.judge.counting

    def cost(self, classes: Classes, kept: Flags) -> float:
        """The figure of a node, low being good; infinite where there is none."""
        figure = self._figure(classes, kept)
        if figure is None or math.isnan(figure):
            return math.inf
        return -figure if self.metric.high_is_good else figure

    def check(self) -> None:
        """Raise, before any work, where the metric gives no figure even for the raw table."""
        raw = self.counting.raw
        if self._figure(raw, np.ones(len(raw), np.bool_)) is None:
            name = plugins.name_of(type(self.metric))
            why = ", since the policy names no `target` column" if name == "cm" else ""
            raise PolicyError(
                f"metric: {name} gives no figure for this table{why}. Choose another to search by, "
                "such as mean-ncp."
            )

    @property
    def by_class(self) -> bool:
        """Whether the metric needs no look at the rows."""
        return hasattr(self.metric, "of_node")

    def _figure(self, classes: Classes, kept: Flags) -> float | None:
        of_node: Callable[[Node], float | None] | None = getattr(self.metric, "of_node", None)
        if of_node is not None:
            return of_node(self._node(classes, kept))
        return self.metric.measure(self._parts(classes, kept))

    def grouping(self, levels: Levels) -> Grouping:
        """The release that a valid node gives."""
        numbers, classes = self.counting.numbered(self.counting.raw, levels)
        kept = self.judge.kept(classes)
        assert kept is not None, "only valid nodes are published"
        return self._grouping(numbers, levels, kept)

    def _grouping(self, numbers: npt.NDArray[np.int32], levels: Levels, kept: Flags) -> Grouping:
        """numbers: (cells,) the class of each."""
        places = np.where(kept, np.cumsum(kept) - 1, SUPPRESSED).astype(np.int32)
        cells = self.counting.cells
        n_groups = int(kept.sum())
        return Grouping(
            np.repeat(places[numbers], cells.counts),
            n_groups,
            tuple(range(len(levels))),
            np.tile(np.array(levels, np.int32), (n_groups, 1)),
        )

    def best(self, nodes: Sequence[Levels], costs: Sequence[float]) -> Levels:
        """The node that costs least; of equals the least sum of levels, then the first by levels."""
        least = min(costs)
        close = least + margin(least)
        equal = [node for node, cost in zip(nodes, costs, strict=True) if cost <= close]
        return min(equal, key=lambda node: (sum(node), node))

    def _node(self, classes: Classes, kept: Flags) -> Node:
        everything = kept.all()

        def rows_at(column: int) -> Ints:
            rows = self._rows[column][classes.levels[column]]
            if everything:
                return rows
            return rows - self.counting.rows_by_node(classes, column, ~kept)

        sizes = classes.sizes if everything else classes.sizes[kept]
        return Node(self.counting.cells, classes.levels, sizes, rows_at)

    @cached_property
    def _rows(self) -> list[list[Ints]]:
        """Per column and level, the rows of the table under each node."""
        cells, found = self.counting.cells, []
        for j, tree in enumerate(self.counting.lattice.trees):
            leaves = np.bincount(cells.codes[:, j], cells.counts, tree.n_leaves)
            found.append([np.bincount(row, leaves).astype(np.int64) for row in tree.nodes])
        return found

    def _parts(self, classes: Classes, kept: Flags) -> Parts:
        """The release of a node taken apart row by row."""
        counting, cells = self.counting, self.counting.cells
        numbers, again = counting.numbered(counting.raw, classes.levels)
        # the same classes, but numbered as they were met: match them by their words
        there, here = np.lexsort(classes.words), np.lexsort(again.words)
        kept_again = np.empty_like(kept)
        kept_again[here] = kept[there]
        grouping = self._grouping(numbers, classes.levels, kept_again)
        spans = spans_of(cells, grouping)
        gone = grouping.group == SUPPRESSED
        return Parts(cells, (grouping,), (spans,), grouping.n_groups, gone, cells.target)
