"""Optimal: the best of all full-domain generalisations, by any metric."""

import math

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.arrays import Floats
from shoal.methods.base import Progress
from shoal.methods.incognito import valid_nodes
from shoal.methods.lattice import (
    Choice,
    Classes,
    LatticeMethod,
    NodeCosts,
    Traversal,
    margin,
)

FINDING = 0.3
"""Share of the work that finding the valid nodes is reported to be."""


@dataclass(frozen=True)
class Optimal(LatticeMethod):
    """Optimal: every row climbs alike; of all combinations of levels that hold, the best by a metric.

    Passes over a node only where it is certain that it does not hold or is not the best, so it finds
    the true optimum for any metric and any models.
    Classes that do not hold are suppressed whole; a node counts when their rows are within the
    policy's `suppression` (none without it). Of equally good nodes the one with the least sum of
    levels is published, then the first by levels in the policy's order.

    Source: the problem is that of Samarati, "Protecting respondents' identities in microdata
    release", 2001; the counts are rolled up as in LeFevre, DeWitt and Ramakrishnan, "Incognito", 2005.
    """

    def search(self, nodes: NodeCosts, progress: Progress) -> Choice | None:
        """The best of all valid nodes."""
        costs = costs_of_best(nodes, progress)
        known = np.argwhere(~np.isnan(costs))
        if not len(known):
            return None
        every = [tuple(map(int, node)) for node in known]
        chosen = nodes.best(every, costs[~np.isnan(costs)].tolist())
        n = nodes.counting.lattice.n_nodes
        reason = f"Of all {n:,} combinations of levels this is the best"
        return Choice(chosen, float(costs[chosen]), reason)


def costs_of_best(nodes: NodeCosts, progress: Progress, roll_up: bool = True) -> Floats:
    """(the lattice's shape) the cost of each node; nan where it is not valid, or surely not among the
    best.

    Two facts save work, each only where it is certain. Where validity is monotone, the valid nodes are
    found first and the others are not visited. Where the metric only worsens (`metrics/base.py`),
    nothing above a node is better than the node itself with all its rows: if that is worse than the
    best node known so far, what lies above is left out.
    """
    judge, lattice = nodes.judge, nodes.counting.lattice
    costs = np.full(lattice.shape, np.nan)
    valid = None
    if judge.monotone:
        valid = valid_nodes(judge, lambda share: progress(FINDING * share))
    bounded = nodes.metric.only_worsens
    least = _descend(nodes) if bounded else math.inf

    def look(classes: Classes) -> bool:
        nonlocal least
        if bounded:
            bound = nodes.cost(classes, np.ones(len(classes), np.bool_))
            if bound > least + 2 * margin(least):
                return False
        # judged even where it is sure: a figure that just holds may be rounded to one that does not
        possible = valid is None or valid[classes.levels]
        kept = judge.kept(classes) if possible else None
        if kept is not None:
            cost = bound if bounded and kept.all() else nodes.cost(classes, kept)
            costs[classes.levels] = cost
            least = min(least, cost)
        return True

    worth = None if valid is None else lambda highest: bool(valid[highest])
    traversal = Traversal(nodes.counting, look, worth, roll_up, threads=nodes.by_class)
    traversal.run(lambda share: progress(FINDING + (1 - FINDING) * share))
    return costs


def _descend(nodes: NodeCosts) -> float:
    """The cost of a good node: from the top, always to the best one right below, while there is any;
    infinite where the top is not valid."""
    lattice = nodes.counting.lattice
    here, least = lattice.top, nodes.cost_of(lattice.top)
    while True:
        lower = [
            (*here[:j], level, *here[j + 1 :])
            for j in range(len(here))
            for level in lattice.below[j][here[j]]
        ]
        costs = [nodes.cost_of(node) for node in lower]
        if not costs or min(costs) >= least:
            return least
        least = min(costs)
        here = lower[costs.index(least)]
