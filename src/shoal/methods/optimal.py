"""The best of all full-domain generalisations."""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import AfterValidator
from pydantic.dataclasses import dataclass

from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.methods._nodes import known_metric
from shoal.methods.base import Progress, QuasiColumns
from shoal.models.requirement import Requirement


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
        from shoal.methods._full_domain import check_full_domain

        check_full_domain("optimal", requirement, columns)

    def group(
        self,
        cells: Cells,
        requirement: Requirement,
        seed: int,  # noqa: ARG002 - nothing here is random
        progress: Progress,
    ) -> tuple[Grouping, ...]:
        """One grouping, every row at the same levels."""
        from shoal.methods._best import costs_of_best
        from shoal.methods._full_domain import infeasible, measuring, told

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
