"""Top-down clustering of some rows: split in two until no side can be split again."""

from collections.abc import Callable

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.arrays import Codes, Words
from shoal.encoding.cells import Cells
from shoal.encoding.domain import costs_of
from shoal.encoding.grouping import Grouping
from shoal.kernels.bisection import split_groups
from shoal.kernels.hashing import stir
from shoal.kernels.labels import Costs
from shoal.methods.base import BlockMethod, Progress, check_feasible
from shoal.methods.repair import Runs, chosen, joined, repaired
from shoal.models.requirement import Requirement
from shoal.threads import share


class Splitter:
    """Splits rows of one table; the same rows and seed give the same groups on any machine."""

    def __init__(self, cells: Cells, progress: Callable[[float], None]) -> None:
        self.codes = np.repeat(cells.codes, cells.counts, axis=0)
        self.costs: Costs = costs_of(cells.domains)
        self.progress = progress

    def __call__(self, rows: Codes, k: int, seed: int) -> Runs:
        """Groups of k rows or more, fewer than 2k each, of the rows given (ascending)."""
        done: list[Runs] = []
        front = Runs(rows, np.array([0, len(rows)], np.int64))
        states = np.array([seed % (1 << 64)], np.uint64)
        while len(front.starts) > 1:
            large = np.diff(front.starts) >= 2 * k
            done.append(chosen(front, ~large))
            front, states = chosen(front, large), states[large]
            if len(front.rows):
                front, states = self._halves(front, states, k)
            self.progress(1 - len(front.rows) / len(rows))
        return joined(done)

    def _halves(self, front: Runs, states: Words, k: int) -> tuple[Runs, Words]:
        out, middle = np.empty_like(front.rows), np.empty(len(states), np.int64)
        sizes = np.diff(front.starts)
        share(
            sizes * len(self.costs.kind),
            lambda a, b: split_groups(self.codes, self.costs, *front, states, k, out, middle, a, b),
        )
        starts = np.empty(2 * len(states) + 1, np.int64)
        starts[0::2], starts[1::2] = front.starts, middle
        after = np.repeat(states, 2)
        stir(after, np.tile(np.array([1, 2], np.uint64), len(states)))
        return Runs(out, starts), after


# Top-down clustering: split from the two ends, then mend groups that break a model.


@dataclass(frozen=True)
class TopDown(BlockMethod):
    """Top-down: split from the two farthest rows, each other row joining the side it widens less.

    A group of 2k rows or more is split; a side left with fewer than k takes the nearest rows of the
    other. Groups that break a model are pooled and split afresh; rows still left join the nearest
    group that holds with them, and those that fit nowhere are suppressed.

    Source: Xu et al., "Utility-based anonymization using local recoding", 2006, for the split; Cao et
    al., "Personalized (α,l)-diversity k-anonymity model for privacy preservation", 2018, for the
    rest.
    """

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """Groups by splitting."""
        check_feasible(cells, requirement, can_suppress=True)
        return (repaired(cells, requirement, Splitter(cells, progress), seed),)
