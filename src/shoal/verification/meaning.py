"""What the published values of a sensitive column mean: their order, hierarchy and levels."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.arrays import Codes, Ints
from shoal.encoding.columns import ColumnSpec, encode_sensitive
from shoal.encoding.counts import Counts, group_histograms
from shoal.encoding.domain import Domain
from shoal.errors import HierarchyError


@dataclass(frozen=True)
class Meaning:
    """What texts numbered by their order mean to the policy."""

    domain: Domain
    place: Codes
    """(texts,) the code of each text."""

    def of(self, counts: Counts, totals: Ints | None = None) -> Counts:
        """The same histograms in codes; `totals`: of all classes, if these are only some."""
        owner = np.repeat(np.arange(counts.n_groups), np.diff(counts.starts))
        values = self.place[counts.values].astype(np.int64)
        # a text that is missing to the policy is none of the values
        values[values == self.domain.missing] = -1
        if totals is None:
            totals = self.totals(counts.values, counts.counts)
        # spellings of one value become one entry
        found = group_histograms(counts.sizes, owner, values, self.domain, counts.counts)
        return replace(found, totals=totals, population=counts.population)

    def totals(self, texts: npt.NDArray[np.integer], counts: Ints) -> Ints:
        """(domain.size,) rows with each code, from rows of texts; a text may come many times."""
        codes = self.place[texts]
        found = np.bincount(codes, counts, minlength=self.domain.size).astype(np.int64)
        if self.domain.missing >= 0:
            found[self.domain.missing] = 0
        return found


def meaning_of(name: str, texts: pa.Array, how: ColumnSpec, folder: Path) -> Meaning:
    """What the published texts of a column mean."""
    try:
        return Meaning(*encode_sensitive(name, texts, how, folder))
    except HierarchyError:  # it speaks of rows of the different values, which are no rows of a file
        raise HierarchyError(
            f"The release's column '{name}' holds values that have no place in the order, hierarchy or "
            "levels that the policy gives it. Is this the policy it was made by?"
        ) from None


def with_meaning(counts: Counts, how: ColumnSpec, folder: Path) -> Counts:
    """The same histograms with the codes, meaning and totals that the policy gives the column.

    Everything is made from the published texts: the totals are those of the published rows.
    """
    assert counts.domain is not None
    return meaning_of(counts.domain.name, counts.domain.texts, how, folder).of(counts)
