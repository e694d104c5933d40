"""The rounded cut and the two ways to choose its column."""

import numpy as np

from shoal.kernels.costs import Costs
from shoal.kernels.cuts import sized_losses
from shoal.kernels.front import Front
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
        below = rows_below(front.rows, min_rows)
        if wanted is not None:
            chosen = np.zeros_like(below)
            chosen[wanted] = below[wanted]
            below = chosen
        loss = np.zeros((len(below), front.codes.shape[1]), np.int64)
        work = np.diff(front.starts) * (below > 0)
        share(work, lambda a, b: sized_losses(front, costs, below, a, b, loss))
        super().__init__(front, loss, cut_at(front, below))


class WidestRounded(Ranked):
    """Rounded cuts, the column with the widest label first."""

    def __init__(self, front: Front, costs: Costs, min_rows: int) -> None:
        super().__init__(
            front, by_width(front, costs), cut_at(front, rows_below(front.rows, min_rows))
        )
