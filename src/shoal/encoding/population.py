"""A population beside the cells: how many people of it equal each row of the table."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Codes, Ints
from shoal.encoding.cells import Cells, How
from shoal.encoding.domain import Domain
from shoal.encoding.values import number_quasi
from shoal.errors import Infeasible, ShoalError, listed


def with_population(
    cells: Cells, column: Callable[[str], pa.Array], how: Mapping[str, How]
) -> Cells:
    """The cells, with the population's rows that equal them shared out among their rows.

    A population row that is spelled otherwise than in the table equals none, so it is only ever
    counted too little.
    """
    codes = np.column_stack(
        [_codes(domain, column(domain.name), how[domain.name]) for domain in cells.domains]
    )
    strangers = [
        domain.name
        for domain, column in zip(cells.domains, codes.T, strict=True)
        if not (column >= 0).any()
    ]
    if strangers:
        raise Infeasible(
            f"The population table shares no value with the table in the quasi columns "
            f"{listed(strangers)}, so nobody of it equals any row of the table. Are the values written "
            "the same way in both? (02138 and 2138 are not.)"
        )
    people: Ints = _equal_rows(cells.codes, codes[(codes >= 0).all(axis=1)])
    rows = cells.counts
    cell = np.repeat(np.arange(cells.n_cells), rows)
    nth = np.arange(cells.n_rows) - cells.starts[cell]
    # what the first n of a cell's rows have is rounded down: all of them have all
    upto = np.floor_divide(np.outer([0, 1], people[cell]) + people[cell] * nth, rows[cell])
    return replace(cells, population=np.diff(upto, axis=0)[0].astype(np.int64))


def _codes(domain: Domain, column: pa.Array, how: How) -> Codes:
    """(n,) the table's code of each value; -1 where the table does not hold it."""
    if not len(column) or column.null_count == len(column):
        return np.full(len(column), domain.missing, np.int32)
    other, codes = _numbered(domain.name, column, how)
    texts = other.texts if other.missing < 0 else other.texts.slice(0, other.missing)
    known = domain.texts if domain.missing < 0 else domain.texts.slice(0, domain.missing)
    place = pc.fill_null(pc.index_in(texts, known), -1).to_numpy(zero_copy_only=False)
    if other.missing >= 0:
        place = np.append(place, domain.missing)
    return place.astype(np.int32)[codes]


def _numbered(name: str, column: pa.Array, how: How) -> tuple[Domain, Codes]:
    if how.hierarchy is None:
        try:
            return number_quasi(name, column, how.kind, how.order)
        except ShoalError:  # it holds what the table cannot; compare by text
            pass
    return number_quasi(name, column, "unordered")


def _equal_rows(cells: Codes, people: Codes) -> Ints:
    """(n_cells,) how many of the people equal each cell."""
    both = np.concatenate([cells, people])
    _, number = np.unique(both, axis=0, return_inverse=True)
    number = number.reshape(-1)
    counts = np.bincount(number[len(cells) :], minlength=int(number.max(initial=0)) + 1)
    return counts[number[: len(cells)]].astype(np.int64)
