"""What a method is, and the two questions every method starts with."""

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from shoal.cells.cells import Cells
from shoal.cells.counts import Counts
from shoal.cells.grouping import Grouping
from shoal.errors import Infeasible
from shoal.models.requirement import Requirement, asked_under

Progress = Callable[[float], None]
"""Called now and then with the share of the work that is done, 0 to 1."""


QuasiColumns = Mapping[str, bool]
"""The quasi-identifiers, in the policy's order, and whether each has a hierarchy."""


class Method(Protocol):
    """What one file in `methods/` offers: a frozen pydantic dataclass whose fields are its options."""

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """Put the rows into groups that hold the requirement, or raise `Infeasible`.

        Most methods answer with one grouping over all columns. A method that treats sets of columns
        apart answers with one for each set, no column in two of them.

        A method that cannot honour every policy also has `check(requirement, columns)`, which raises
        `PolicyError` before any work, naming the methods that can.
        """


def check_feasible(cells: Cells, requirement: Requirement, *, can_suppress: bool = False) -> None:
    """Raise `Infeasible`, with the nearest feasible figure, if not even one group of all rows holds.

    Models hold for a merger of groups that hold, so then no grouping of all rows can hold. (Where a
    model says otherwise of itself, a search that starts from all rows finds none.)
    can_suppress: for methods that may leave rows out; they go on where the policy allows as many as
    the model says are needed.
    """
    from shoal.methods._asking import counts_of_runs

    everyone = np.arange(cells.n_rows, dtype=np.int32)
    counts = counts_of_runs(cells, requirement, everyone, np.array([0, cells.n_rows], np.int64))
    check_holds(counts, requirement, can_suppress=can_suppress)


def check_holds(
    counts: Mapping[str, Counts], requirement: Requirement, *, can_suppress: bool = False
) -> None:
    """The same, from the counts of all rows as one group."""
    for model in requirement.models:
        asked = counts[asked_under(model)]
        if model.holds(asked).all():
            continue
        needed = getattr(model, "least_suppressed", None)
        may = requirement.may_suppress
        if can_suppress and needed is not None and may is not None and needed(asked) <= may:
            continue
        raise Infeasible(model.advice(asked))
