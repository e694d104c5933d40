"""What the published values of a sensitive column mean: their order, hierarchy and levels."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from shoal.cells.counts import Counts
from shoal.cells.table import How, number_as_sensitive
from shoal.errors import HierarchyError


def with_meaning(counts: Counts, how: How, folder: Path) -> Counts:
    """The same histograms with the codes, meaning and totals that the policy gives the column.

    Everything is made from the published texts: the totals are those of the published rows.
    """
    assert counts.domain is not None
    name = counts.domain.name
    try:
        domain, place = number_as_sensitive(name, counts.domain.texts, how, folder)
    except HierarchyError:  # it speaks of rows of the different values, which are no rows of a file
        raise HierarchyError(
            f"The release's column '{name}' holds values that have no place in the order, hierarchy or "
            "levels that the policy gives it. Is this the policy it was made by?"
        ) from None
    owner = np.repeat(np.arange(counts.n_groups), np.diff(counts.starts))
    values = place[counts.values]
    order = np.lexsort((values, owner))
    totals = np.bincount(values, counts.counts, minlength=domain.size).astype(np.int64)
    return replace(
        counts,
        values=values[order].astype(np.int32),
        counts=counts.counts[order],
        domain=domain,
        totals=totals,
    )
