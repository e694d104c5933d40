"""Ask the requirement about sets of rows."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.counts import Counts
from shoal.encoding.grouping import Grouping
from shoal.errors import Infeasible
from shoal.kernels.counting import count_runs
from shoal.models.base import POPULATION, SIZES_ONLY
from shoal.models.requirement import Requirement


def counts_of_runs(
    cells: Cells,
    requirement: Requirement,
    rows: Codes,
    starts: Ints,
    totals: Mapping[str, Ints] | None = None,
) -> Mapping[str, Counts]:
    """Counts of the groups rows[starts[i]:starts[i+1]] of canonical rows, per column asked about.

    totals: what groups are compared with; the whole table's where it is not given.
    """
    reference = cells.totals if totals is None else totals
    sizes = np.diff(starts)
    none = np.zeros(0, np.int64)
    counts = {
        SIZES_ONLY: Counts(sizes, np.zeros(len(starts), np.int64), none.astype(np.int32), none)
    }
    if requirement.needs_population:
        assert cells.population is not None, "the policy names a population"
        summed = np.append(0, np.cumsum(cells.population[rows]))
        counts[POPULATION] = replace(counts[SIZES_ONLY], population=np.diff(summed[starts]))
    for column in requirement.columns:
        domain = cells.sensitive_domains[column]
        codes = cells.sensitive[column][rows]
        found = count_runs(codes, starts, domain.size, domain.missing)
        counts[column] = Counts(sizes, *found, domain, reference[column])
    return counts


# What a method is, and the two questions every method starts with.


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

    everyone = np.arange(cells.n_rows, dtype=np.int32)
    counts = counts_of_runs(cells, requirement, everyone, np.array([0, cells.n_rows], np.int64))
    check_holds(counts, requirement, can_suppress=can_suppress)


def check_holds(
    counts: Mapping[str, Counts], requirement: Requirement, *, can_suppress: bool = False
) -> None:
    """The same, from the counts of all rows as one group."""
    for model in requirement.models:
        asked = counts[model.counts_key]
        if model.holds(asked).all():
            continue
        may, needed = requirement.may_suppress, model.least_suppressed(asked)
        if can_suppress and needed is not None and may is not None and needed <= may:
            continue
        raise Infeasible(model.advice(asked))
