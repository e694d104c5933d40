"""The best valid node of the lattice, by any metric."""

import math

import numpy as np
import numpy.typing as npt

from shoal.methods._classes import Classes
from shoal.methods._lattice import Levels
from shoal.methods._nodes import Measuring, margin
from shoal.methods._search import Visit
from shoal.methods._subsets import valid_nodes
from shoal.methods.base import Progress

FINDING = 0.3
"""Share of the work that finding the valid nodes is reported to be."""


def costs_of_best(
    measured: Measuring, progress: Progress, roll_up: bool = True
) -> npt.NDArray[np.float64]:
    """(the lattice's shape) the cost of each node; nan where it is not valid, or surely not among the
    best.

    Two facts save work, each only where it is certain. Where validity is monotone, the valid nodes are
    found first and the others are not visited. Where the metric only worsens (`metrics/base.py`),
    nothing above a node is better than the node itself with all its rows: if that is worse than the
    best node known so far, what lies above is left out.
    """
    judge, lattice = measured.judge, measured.counting.lattice
    costs = np.full(lattice.shape, np.nan)
    valid = None
    if judge.monotone:
        valid = valid_nodes(judge, lambda share: progress(FINDING * share))
    bounded = getattr(measured.metric, "only_worsens", False)
    least = _descend(measured) if bounded else math.inf

    def look(classes: Classes) -> bool:
        nonlocal least
        if bounded:
            bound = measured.cost(classes, np.ones(len(classes), np.bool_))
            if bound > least + 2 * margin(least):
                return False
        # judged even where it is sure: a figure that just holds may be rounded to one that does not
        asked = valid is None or valid[classes.levels]
        kept = judge.kept(classes) if asked else None
        if kept is not None:
            cost = bound if bounded and kept.all() else measured.cost(classes, kept)
            costs[classes.levels] = cost
            least = min(least, cost)
        return True

    worth = None if valid is None else lambda highest: bool(valid[highest])
    visit = Visit(measured.counting, look, worth, roll_up, threads=measured.by_class)
    visit.everywhere(lambda share: progress(FINDING + (1 - FINDING) * share))
    return costs


def _descend(measured: Measuring) -> float:
    """The cost of a good node: from the top, always to the best one right below, while there is any;
    infinite where the top is not valid."""
    lattice = measured.counting.lattice
    here, least = lattice.top, _cost(measured, lattice.top)
    while True:
        lower = [
            (*here[:j], level, *here[j + 1 :])
            for j in range(len(here))
            for level in lattice.below[j][here[j]]
        ]
        costs = [_cost(measured, node) for node in lower]
        if not costs or min(costs) >= least:
            return least
        least = min(costs)
        here = lower[costs.index(least)]


def _cost(measured: Measuring, levels: Levels) -> float:
    classes = measured.counting.roll(measured.counting.raw, levels)
    kept = measured.judge.kept(classes)
    return math.inf if kept is None else measured.cost(classes, kept)
