"""Classfly: settle the rows that are common enough, generalise the others."""

from pydantic.dataclasses import dataclass

from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping
from shoal.errors import PolicyError
from shoal.methods.base import Progress, QuasiColumns
from shoal.methods.climbing import ClimbingMethod, settle_and_climb
from shoal.methods.constraints import components, constraints_of, without_implied, words
from shoal.models.requirement import Requirement


@dataclass(frozen=True)
class Classfly(ClimbingMethod):
    """Classfly: rows whose combination is common enough stay; only the others climb.

    For one constraint, or several over separate columns. Where constraints overlap use
    `classfly-plus`.

    Source: Classfly as described in the paper of Classfly+ (see `classfly-plus`).
    """

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:
        """Raise also where two constraints share a column and neither implies the other."""
        super().check(requirement, columns)
        names = list(columns)
        kept, _ = without_implied(constraints_of(requirement, names))
        for part in components(kept):
            if len(part) > 1:
                both = " and ".join(words(one, names) for one in part)
                raise PolicyError(
                    f"method: classfly takes one constraint for a set of columns, but {both} "
                    "overlap. Use classfly-plus."
                )

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """One grouping for each constraint."""
        return settle_and_climb(cells, requirement, progress)
