"""Classfly+: several k-anonymity constraints over different columns at once."""

from typing import Literal

from pydantic.dataclasses import dataclass

from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping
from shoal.methods.base import Progress
from shoal.methods.climbing import ClimbingMethod, settle_and_climb
from shoal.models.requirement import Requirement


@dataclass(frozen=True)
class ClassflyPlus(ClimbingMethod):
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

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """One grouping for each independent set of constraints."""
        return settle_and_climb(
            cells,
            requirement,
            progress,
            one_by_one=self.variant == "partial",
            by_union=self.variant == "naive",
        )
