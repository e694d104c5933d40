"""Classfly: settle the rows that are common enough, generalise the others."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping
from shoal.errors import PolicyError
from shoal.methods.base import Progress, QuasiColumns
from shoal.models.requirement import Requirement


@dataclass(frozen=True)
class Classfly:
    """Classfly: rows whose combination is common enough stay; only the others climb.

    For one constraint, or several over separate columns. Where constraints overlap use
    `classfly-plus`.

    Source: Classfly as described in the paper of Classfly+ (see `classfly-plus`).
    """

    from_cells: ClassVar[bool] = True
    """Rows that are equal are treated alike, so that counts of them are all it needs."""

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:
        """Raise what this method cannot honour, before any work."""
        from shoal.methods.constraints import (
            check_climbable,
            components,
            constraints_of,
            without_implied,
            words,
        )

        check_climbable("classfly", requirement, columns)
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
        self,
        cells: Cells,
        requirement: Requirement,
        seed: int,
        progress: Progress,
    ) -> tuple[Grouping, ...]:
        """One grouping for each constraint."""
        from shoal.methods.classfly_plus import ClassflyPlus

        return ClassflyPlus(variant="complete").group(cells, requirement, seed, progress)
