"""Datafly: climb the whole table until few enough rows fail, and suppress those."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping
from shoal.methods.base import Progress, QuasiColumns, check_feasible
from shoal.models.requirement import Requirement


@dataclass(frozen=True)
class Datafly:
    """Datafly: every row climbs alike, always the column with most values, until few rows fail.

    The classic full-domain baseline, here for any number of `k` constraints: it ends when fewer than
    K rows (the largest K) lie outside the largest subset that meets them all; those are suppressed.

    Source: Sweeney, "Datafly: a system for providing anonymity in medical data", 1998.
    """

    from_cells: ClassVar[bool] = True
    """Rows that are equal are treated alike, so that counts of them are all it needs."""

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:
        """Raise what this method cannot honour, before any work."""
        from shoal.methods.constraints import check_climbable

        check_climbable("datafly", requirement, columns)

    def group(
        self,
        cells: Cells,
        requirement: Requirement,
        seed: int,  # noqa: ARG002 - nothing here is random
        progress: Progress,
    ) -> tuple[Grouping, ...]:
        """One grouping, every row at the same levels."""
        from shoal.methods.climbing import climb_together
        from shoal.methods.constraints import constraints_of, explained, union, without_implied

        check_feasible(cells, requirement)
        constraints = constraints_of(requirement, [domain.name for domain in cells.domains])
        kept, _ = without_implied(constraints)
        whole = union(kept)
        may_suppress = requirement.may_suppress
        if may_suppress is None:
            may_suppress = whole.k - 1
        grouping = climb_together(cells, whole.columns, kept, may_suppress, progress)
        return explained([grouping], constraints, cells, together=True)
