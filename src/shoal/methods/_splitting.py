"""Top-down clustering of some rows: split in two until no side can be split again."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from shoal.cells.cells import Cells
from shoal.cells.costs import costs_of
from shoal.kernels.costs import Costs
from shoal.kernels.hashing import stir
from shoal.kernels.splitting import split_groups
from shoal.methods._runs import Runs, chosen, joined
from shoal.threads import share

Rows = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]


class Splitter:
    """Splits rows of one table; the same rows and seed give the same groups on any machine."""

    def __init__(self, cells: Cells, progress: Callable[[float], None]) -> None:
        self.codes = np.repeat(cells.codes, cells.counts, axis=0)
        self.costs: Costs = costs_of(cells.domains)
        self.progress = progress

    def __call__(self, rows: Rows, k: int, seed: int) -> Runs:
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
