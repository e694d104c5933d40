"""The table as a method sees it: distinct coded rows with their counts, in a canonical order."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.cells.domain import Domain
from shoal.threads import each


@dataclass(frozen=True)
class Cells:
    """Rows that are equal in every quasi-identifier form one cell.

    Cells are sorted by their codes and rows inside a cell by a seeded hash of what will be published
    of them, so nothing depends on the order of the input, and a cell that is split between groups
    hands out its rows without regard to their sensitive values.
    """

    domains: tuple[Domain, ...]
    """One per quasi-identifier, in the policy's order."""
    codes: npt.NDArray[np.int32]
    """(n_cells, d) the code of each cell in each column, sorted, no two rows equal."""
    starts: npt.NDArray[np.int64]
    """(n_cells + 1,) cell i holds the canonical rows starts[i]..starts[i+1]."""
    rows: npt.NDArray[np.int64]
    """(n_rows,) the input row behind each canonical row."""
    hashes: npt.NDArray[np.uint64]
    """(n_rows,) the hash that orders canonical rows inside their cell."""
    sensitive: dict[str, npt.NDArray[np.int32]]
    """Per sensitive column, (n_rows,) the code of each canonical row."""
    sensitive_domains: dict[str, Domain]
    """What those codes mean."""
    target: npt.NDArray[np.int32] | None = None
    """(n_rows,) the class of each canonical row, where the policy names a target column."""

    population: npt.NDArray[np.int64] | None = None
    """(n_rows,) population rows that equal each canonical row, shared out among equal ones; where
    the policy names a population."""

    whole: dict[str, npt.NDArray[np.int64]] | None = None
    """Where these are some of a table's cells: the `totals` of the whole table."""

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.rows)

    @property
    def n_cells(self) -> int:
        """Distinct rows of the table."""
        return len(self.codes)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """(n_cells,) rows in each cell."""
        return np.diff(self.starts)

    @cached_property
    def rows_of_values(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Per quasi-identifier, (size,) rows of the table that hold each value."""
        counts = self.counts.astype(np.float64)

        def rows_of(j: int) -> npt.NDArray[np.int64]:
            return np.bincount(self.codes[:, j], counts, self.domains[j].size).astype(np.int64)

        return tuple(each(rows_of, range(len(self.domains))))

    @cached_property
    def totals(self) -> dict[str, npt.NDArray[np.int64]]:
        """Per sensitive column, (its domain's size,) rows of the table with each value; none are
        missing."""
        if self.whole is not None:
            return self.whole
        return {
            name: totals_of(self.sensitive[name], domain)
            for name, domain in self.sensitive_domains.items()
        }


def part_of(cells: Cells, rows: npt.NDArray[np.integer]) -> Cells:
    """Some canonical rows, ascending, as cells of their own that know of the whole table's totals."""
    cell = np.repeat(np.arange(cells.n_cells), cells.counts)[rows]
    first = np.flatnonzero(np.diff(cell, prepend=-1))

    def some(values: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
        return None if values is None else values[rows]

    return Cells(
        domains=cells.domains,
        codes=cells.codes[cell[first]],
        starts=np.append(first, len(rows)).astype(np.int64),
        rows=cells.rows[rows],
        hashes=cells.hashes[rows],
        sensitive={name: codes[rows] for name, codes in cells.sensitive.items()},
        sensitive_domains=cells.sensitive_domains,
        target=some(cells.target),
        population=some(cells.population),
        whole=cells.totals,
    )


def totals_of(codes: npt.NDArray[np.int32], domain: Domain) -> npt.NDArray[np.int64]:
    """(domain.size,) how many rows hold each value; the missing value counts 0."""
    totals = np.bincount(codes, minlength=domain.size).astype(np.int64)
    if domain.missing >= 0:
        totals[domain.missing] = 0
    return totals
