"""Datafly: climb the whole table until few enough rows fail, and suppress those."""

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.encoding.cells import Cells
from shoal.encoding.grouping import SUPPRESSED, Grouping
from shoal.methods.base import Progress, check_feasible
from shoal.methods.climbing import ClimbingMethod, explained, open_rows, same_levels
from shoal.methods.constraints import constraints_of, union, without_implied
from shoal.models.requirement import Requirement


@dataclass(frozen=True)
class Datafly(ClimbingMethod):
    """Datafly: every row climbs alike, always the column with most values, until few rows fail.

    The classic full-domain baseline, here for any number of `k` constraints: it ends when fewer than
    K rows (the largest K) lie outside the largest subset that meets them all; those are suppressed.

    Source: Sweeney, "Datafly: a system for providing anonymity in medical data", 1998.
    """

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """One grouping, every row at the same levels."""
        check_feasible(cells, requirement)
        constraints = constraints_of(requirement, [domain.name for domain in cells.domains])
        kept, _ = without_implied(constraints)
        whole = union(kept)
        limit = whole.k - 1 if requirement.may_suppress is None else requirement.may_suppress
        rows, cell_of_row = open_rows(cells, whole.columns, kept)
        top = sum(tree.height for tree in rows.trees)
        progress(0.0)
        while True:
            # most passes are decided by the first constraint; the subset is not worth finding then
            if not rows.fail_alone(limit):
                settled = rows.settled(one_by_one=False)
                if rows.weights[~settled].sum() <= limit:
                    break
            rows.climb()
            progress(float(rows.levels.sum()) / top)
        group = np.full(len(rows.number), SUPPRESSED, np.int32)
        n_groups = 0
        if settled.any():
            group[settled] = rows.combinations(settled)
            n_groups = int(group.max()) + 1
        levels = same_levels(rows.levels, n_groups)
        grouping = Grouping(group[cell_of_row], n_groups, whole.columns, levels)
        return explained([grouping], constraints, cells, together=True)
