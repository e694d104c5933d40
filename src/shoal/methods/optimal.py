"""The best valid node of the lattice, by any metric."""

import math
from typing import Annotated, ClassVar

import numpy as np
from pydantic import AfterValidator
from pydantic.dataclasses import dataclass

from shoal.arrays import Floats
from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping
from shoal.methods.base import Progress, QuasiColumns
from shoal.methods.incognito import valid_nodes
from shoal.methods.lattice import Classes, Levels, Measuring, Visit, known_metric, margin
from shoal.models.requirement import Requirement

FINDING = 0.3
"""Share of the work that finding the valid nodes is reported to be."""


def costs_of_best(measured: Measuring, progress: Progress, roll_up: bool = True) -> Floats:
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
    bounded = measured.metric.only_worsens
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


# The best of all full-domain generalisations.


@dataclass(frozen=True)
class Optimal:
    """Optimal: every row climbs alike; of all combinations of levels that hold, the best by a metric.

    Passes over a node only where it is certain that it does not hold or is not the best, so it finds
    the true optimum for any metric and any models.
    Classes that do not hold are suppressed whole; a node counts when their rows are within the
    policy's `suppression` (none without it). Of equally good nodes the one with the least sum of
    levels is published, then the first by levels in the policy's order.

    Source: the problem is that of Samarati, "Protecting respondents' identities in microdata
    release", 2001; the counts are rolled up as in LeFevre, DeWitt and Ramakrishnan, "Incognito", 2005.
    """

    metric: Annotated[str, AfterValidator(known_metric)] = "mean-ncp"
    """The metric by which nodes are compared."""

    from_cells: ClassVar[bool] = True
    """Rows that are equal are treated alike, so that counts of them are all it needs."""

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:
        """Raise what this method cannot honour, before any work."""
        from shoal.methods.lattice import check_full_domain

        check_full_domain("optimal", requirement, columns)

    def group(
        self,
        cells: Cells,
        requirement: Requirement,
        seed: int,  # noqa: ARG002 - nothing here is random
        progress: Progress,
    ) -> tuple[Grouping, ...]:
        """One grouping, every row at the same levels."""
        from shoal.methods.lattice import infeasible, measuring, told

        measured = measuring("optimal", self.metric, cells, requirement)
        costs = costs_of_best(measured, progress)
        known = np.argwhere(~np.isnan(costs))
        if not len(known):
            raise infeasible(cells, requirement)
        nodes = [tuple(map(int, node)) for node in known]
        chosen = measured.best(nodes, costs[~np.isnan(costs)].tolist())
        words = (
            f"Of all {measured.counting.lattice.n_nodes:,} combinations of levels this is the best"
        )
        return (told(measured, chosen, float(costs[chosen]), words),)
