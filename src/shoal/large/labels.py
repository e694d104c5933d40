"""What labels cost, for many groups at once: the kernels' `label_cost`, in numpy."""

import numpy as np
import numpy.typing as npt

from shoal.kernels.costs import RANGE, SET, UNIT, Costs

Ints = npt.NDArray[np.int64]


def label_costs(costs: Costs, column: int, low: Ints, high: Ints, members: Ints) -> Ints:
    """Loss of the labels over codes low..high of a column, of which `members` are present."""
    base = costs.base[column]
    if costs.kind[column] == SET:
        return costs.cost[base + members]
    if costs.kind[column] == RANGE:
        return np.minimum(UNIT, costs.cost[base + high] - costs.cost[base + low])
    size = int(costs.size[column])
    found = np.where(low == high, 0, UNIT)
    open_ones = np.flatnonzero(low != high)
    for level in range(int(costs.levels[column])):
        at = base + level * size
        one, other = at + low[open_ones], at + high[open_ones]
        same = costs.node[one] == costs.node[other]
        found[open_ones[same]] = costs.cost[one[same]]
        open_ones = open_ones[~same]
    return found
