"""Ask the requirement about sets of rows."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from shoal.cells.cells import Cells
from shoal.cells.counts import Counts
from shoal.kernels.histograms import count_runs
from shoal.models.requirement import POPULATION, SIZES_ONLY, Requirement


def counts_of_runs(
    cells: Cells,
    requirement: Requirement,
    rows: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    totals: Mapping[str, npt.NDArray[np.int64]] | None = None,
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
