"""Classfly+: several k-anonymity constraints over different columns at once."""

from typing import ClassVar, Literal

from pydantic.dataclasses import dataclass

from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping
from shoal.methods.base import Progress, QuasiColumns, check_feasible
from shoal.models.requirement import Requirement


@dataclass(frozen=True)
class ClassflyPlus:
    """Classfly+: meets several `k` on different column sets at once, by hierarchies.

    Constraints that share no column are treated apart, each on its own columns. In each part the rows
    that already meet all constraints are settled; the column with most different values climbs one
    level in the others, and so on. Fewer than K rows are left in the end: they are suppressed in the
    columns of that part.

    Source: Yang et al., k-anonymisation that supports multiple constraints (Classfly+), accepted
    2005. Settled rows never climb again, as its algorithm says; its figure shows some that did.
    """

    variant: Literal["complete", "partial", "naive"] = "complete"
    """How rows are settled: `complete` by all constraints at once, `partial` by adding one after
    another (the same result), `naive` by the one constraint that covers them all."""

    from_cells: ClassVar[bool] = True
    """Rows that are equal are treated alike, so that counts of them are all it needs."""

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:
        """Raise what this method cannot honour, before any work."""
        from shoal.methods.constraints import check_climbable

        check_climbable("classfly-plus", requirement, columns)

    def group(
        self,
        cells: Cells,
        requirement: Requirement,
        seed: int,  # noqa: ARG002 - nothing here is random
        progress: Progress,
    ) -> tuple[Grouping, ...]:
        """One grouping for each independent set of constraints."""
        from shoal.methods.climbing import settle_and_climb
        from shoal.methods.constraints import (
            components,
            constraints_of,
            explained,
            union,
            without_implied,
        )

        check_feasible(cells, requirement)
        constraints = constraints_of(requirement, [domain.name for domain in cells.domains])
        parts = components(without_implied(constraints)[0])
        groupings = [
            settle_and_climb(
                cells,
                union(part).columns,
                (union(part),) if self.variant == "naive" else part,
                self.variant == "partial",
                lambda share, i=i: progress((i + share) / len(parts)),  # type: ignore[misc]
            )
            for i, part in enumerate(parts)
        ]
        return explained(groupings, constraints, cells, together=False)
