"""The rounded cut and the two ways to choose its column."""

import numpy as np

from shoal.kernels.costs import Costs
from shoal.kernels.cuts import sized_losses
from shoal.kernels.front import Cuts, Front
from shoal.methods._cutting import Ints
from shoal.methods._ranked import Ranked, by_width, cut_at
from shoal.threads import share


def rows_below(rows: Ints, k: int) -> Ints:
    """The paper's rounded partition function: ⌈a/2⌉k + ⌈b/2⌉ of n = ak + b rows."""
    a, b = np.divmod(rows, k)
    return (a + 1) // 2 * k + (b + 1) // 2


class LeastLossRounded(Ranked):
    """Rounded cuts, the column with the least loss first."""

    def __init__(
        self, front: Front, costs: Costs, min_rows: int, wanted: Ints | None = None
    ) -> None:
        """Only the groups `wanted` are prepared for (all when left out)."""
        self._below = rows_below(front.rows, min_rows)
        self._costs = costs
        groups = np.arange(len(front.rows)) if wanted is None else wanted
        self._ranked = np.zeros(len(front.rows), np.bool_)
        losses = self._losses(front, groups, every=False)
        super().__init__(front, losses, cut_at(front, self._below))

    def next(self, groups: Ints) -> Cuts:
        """The next column; the order of all but the first is worked out when it is asked for."""
        again = groups[(self._tried[groups] > 0) & ~self._ranked[groups]]
        if len(again):
            losses = self._losses(self._front, again, every=True)
            self._columns[again] = np.argsort(losses[again], axis=1, kind="stable")
            self._ranked[again] = True
        return super().next(groups)

    def _losses(self, front: Front, groups: Ints, every: bool) -> Ints:
        below = np.zeros_like(self._below)
        below[groups] = self._below[groups]
        loss = np.zeros((len(below), front.codes.shape[1]), np.int64)
        work = np.diff(front.starts) * (below > 0)
        costs = self._costs
        share(work, lambda a, b: sized_losses(front, costs, below, every, a, b, loss))
        return loss


class WidestRounded(Ranked):
    """Rounded cuts, the column with the widest label first."""

    def __init__(self, front: Front, costs: Costs, min_rows: int) -> None:
        super().__init__(
            front, by_width(front, costs), cut_at(front, rows_below(front.rows, min_rows))
        )
