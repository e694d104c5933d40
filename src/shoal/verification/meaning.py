"""What the published values of a sensitive column mean: their order, hierarchy and levels."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.arrays import Codes, Ints
from shoal.encoding.columns import ColumnSpec, encode_sensitive, undeclared_error
from shoal.encoding.counts import Counts, group_histograms
from shoal.encoding.domain import Domain
from shoal.encoding.missing import is_missing, likely_codes
from shoal.encoding.reading import declared_texts
from shoal.errors import HierarchyError, InputError


@dataclass(frozen=True)
class Meaning:
    """What texts numbered by their order mean to the policy."""

    domain: Domain
    place: Codes
    """(texts,) the code of each text."""
    spelled: "Meaning | None" = None
    """The same with every spelling as a value of its own, where that makes a difference."""
    whole: Ints | None = None
    """(domain.size,) rows of all classes with each code, where only some classes are counted at a
    time."""

    def with_totals(self, texts: Ints) -> "Meaning":
        """The same for some of the classes; `texts`: rows of all classes with each text."""
        spelled = None if self.spelled is None else self.spelled.with_totals(texts)
        whole = self._totals(np.arange(len(texts)), texts)
        return replace(self, spelled=spelled, whole=whole)

    def of(self, counts: Counts) -> Counts:
        """The same histograms in codes."""
        owner = np.repeat(np.arange(counts.n_groups), np.diff(counts.starts))
        values = self.place[counts.values].astype(np.int64)
        # a text that is missing to the policy is none of the values
        values[values == self.domain.missing] = -1
        totals = self._totals(counts.values, counts.counts) if self.whole is None else self.whole
        # spellings of one value become one entry
        found = group_histograms(counts.sizes, owner, values, self.domain, counts.counts)
        spelled = None if self.spelled is None else self.spelled.of(counts)
        return replace(found, totals=totals, population=counts.population, spelled=spelled)

    def _totals(self, texts: npt.NDArray[np.integer], counts: Ints) -> Ints:
        """(domain.size,) rows with each code, from rows of texts; a text may come many times."""
        codes = self.place[texts]
        found = np.bincount(codes, counts, minlength=self.domain.size).astype(np.int64)
        if self.domain.missing >= 0:
            found[self.domain.missing] = 0
        return found


def meaning_of(name: str, texts: pa.Array, how: ColumnSpec, folder: Path) -> Meaning:
    """What the published texts of a column mean."""
    try:
        domain, place = encode_sensitive(name, texts, how, folder)
        if domain.spellings is None:
            return Meaning(domain, place)
        spelled = Meaning(*encode_sensitive(name, texts, how.as_spelled(), folder))
        return Meaning(domain, place, spelled)
    except HierarchyError:  # it speaks of rows of the different values, which are no rows of a file
        raise HierarchyError(
            f"The release's column '{name}' holds values that have no place in the order, hierarchy or "
            "levels that the policy gives it. Is this the policy it was made by?"
        ) from None


def require_declared(counts: Counts, how: ColumnSpec) -> None:
    """Raise `InputError` for likely codes for missing values among the published ones of a column,
    unless the policy lists those of the column."""
    assert counts.domain is not None
    assert counts.totals is not None
    texts = counts.domain.texts.filter(pa.array(counts.totals > 0))
    require_codes_declared(counts.domain.name, texts, how)


def require_codes_declared(name: str, texts: pa.Array, how: ColumnSpec) -> None:
    """The same for its different texts."""
    if how.states_missing:
        return
    known = texts.filter(pa.array(~is_missing(texts, how.missing, how.exact_codes, how.reading)))
    if found := likely_codes(declared_texts(known, how.reading)):
        raise InputError(undeclared_error(name, found, how, None))


def with_meaning(counts: Counts, how: ColumnSpec, folder: Path) -> Counts:
    """The same histograms with the codes, meaning and totals that the policy gives the column.

    Everything is made from the published texts: the totals are those of the published rows.
    """
    assert counts.domain is not None
    return meaning_of(counts.domain.name, counts.domain.texts, how, folder).of(counts)
