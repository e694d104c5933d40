"""How many rows of a population table equal each row of the table."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.columns import ColumnSpec, encode_quasi, without_codes
from shoal.encoding.domain import Domain
from shoal.encoding.people import People
from shoal.errors import Infeasible, ShoalError, listed


def with_population(
    cells: Cells,
    column: Callable[[str], pa.Array],
    specs: Mapping[str, ColumnSpec],
    people: People | None = None,
) -> Cells:
    """The cells, with the equal rows of the population divided among their rows.

    A population row that is written differently than in the table equals none, so the counts can only
    be too small. So can those of people: a person with several rows counts for one of them.
    """
    codes = np.column_stack(
        [_codes(domain, column(domain.name), specs[domain.name]) for domain in cells.domains]
    )
    unrelated = [
        domain.name
        for domain, column in zip(cells.domains, codes.T, strict=True)
        if not (column >= 0).any()
    ]
    if unrelated:
        raise Infeasible(
            f"The population table shares no value with the table in the quasi columns "
            f"{listed(unrelated)}, so no row of it equals any row of the table. Are the values written "
            "the same way in both? (02138 and 2138 are not.)"
        )
    known = (codes >= 0).all(axis=1)
    codes = codes[known]
    if people is not None:
        order = np.lexsort(codes.T[::-1])
        _, first = np.unique(people.number[known][order], return_index=True)
        codes = codes[order[first]]
    equal: Ints = _equal_rows(cells.codes, codes)
    rows = cells.counts
    cell = np.repeat(np.arange(cells.n_cells), rows)
    nth = np.arange(cells.n_rows) - cells.starts[cell]
    # the share of a cell's first n rows is rounded down; that of all its rows is exact
    so_far = np.floor_divide(np.outer([0, 1], equal[cell]) + equal[cell] * nth, rows[cell])
    return replace(cells, population=np.diff(so_far, axis=0)[0].astype(np.int64))


def _codes(domain: Domain, column: pa.Array, spec: ColumnSpec) -> Codes:
    """(n,) the table's code of each value; -1 where the table does not have it."""
    column = without_codes(domain.name, column, spec)
    if column.null_count == len(column):
        return np.full(len(column), domain.missing, np.int32)
    other, codes = _encode(domain.name, column, spec)
    texts = other.texts if other.missing < 0 else other.texts.slice(0, other.missing)
    known = domain.texts if domain.missing < 0 else domain.texts.slice(0, domain.missing)
    place = pc.fill_null(pc.index_in(texts, known), -1).to_numpy(zero_copy_only=False)
    if other.missing >= 0:
        place = np.append(place, domain.missing)
    return place.astype(np.int32)[codes]


def _encode(name: str, column: pa.Array, spec: ColumnSpec) -> tuple[Domain, Codes]:
    if spec.hierarchy is None:
        try:
            return encode_quasi(name, column, replace(spec, levels=None))
        except ShoalError:  # it has values that the table cannot have; compare by text
            pass
    return encode_quasi(name, column, ColumnSpec("unordered", missing=spec.missing))


def _equal_rows(cells: Codes, population: Codes) -> Ints:
    """(n_cells,) how many rows of the population equal each cell."""
    both = np.concatenate([cells, population])
    _, number = np.unique(both, axis=0, return_inverse=True)
    number = number.reshape(-1)
    counts = np.bincount(number[len(cells) :], minlength=int(number.max(initial=0)) + 1)
    return counts[number[: len(cells)]].astype(np.int64)
