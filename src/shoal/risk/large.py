"""Inspect a table that no memory holds: its columns and classes are counted where they are.

Only counts come here, and of each column up to a million values, to tell what they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.cells.plain import plain
from shoal.cells.tally import known
from shoal.engines.large.profiling import (
    class_sizes,
    how_many_missing,
    how_many_rows,
    rows_of,
    tally,
)
from shoal.engines.large.session import Session
from shoal.errors import InputError
from shoal.io.arrow import one_chunk
from shoal.large.coding import MOST_VALUES
from shoal.large.kinds import as_read, check_kinds, stored_kind
from shoal.risk.assessment import Assessment
from shoal.risk.contents import Contents, contents_of
from shoal.risk.inspection import Inspection, inspection_of, require_single_names
from shoal.risk.population import population_uniques
from shoal.risk.reidentification import reidentification

Ints = npt.NDArray[np.int64]


def inspect_session(
    session: Session,
    raw: str,
    names: Sequence[str],
    schema: pa.Schema,
    fraction: float | None = None,
    most_values: int = MOST_VALUES,
) -> Inspection:
    """Inspect a table of a session, whose columns p0, p1, ... have these names.

    As `inspect_table`, without minimal sample uniques. Of a column with more than `most_values`
    different values only so many are looked at to tell its type.
    """
    require_single_names(names)
    check_kinds(names, schema)
    rows = int(session.ask(how_many_rows(raw)).column("n")[0].as_py())
    if not rows:
        raise InputError("The table has column names but no rows: there is nothing to look at.")
    places = [f"p{i}" for i in range(len(names))]
    tidied = f"{raw}_tidied"
    tidy = Tidy(tuple(zip(places, schema.types, strict=True)))
    session.map(tidied, rows_of(raw, places), tidy, tidy.schema)
    place = dict(zip(names, places, strict=True))

    def sizes(columns: Sequence[Contents]) -> tuple[Ints, Ints]:
        found = session.ask(class_sizes(tidied, [place[column.name] for column in columns]))
        size, times = (found.column(c).cast(pa.int64()).to_numpy() for c in ("size", "times"))
        return size, times

    def unique(rows: int, columns: Sequence[Contents]) -> int:  # noqa: ARG001 - all are asked
        size, times = sizes(columns)
        return int(times[size == 1].sum())

    def without_each(rows: int, columns: Sequence[Contents]) -> list[int]:
        return [unique(rows, [c for c in columns if c is not left]) for left in columns]

    def told(columns: Sequence[Contents]) -> Assessment:
        size, times = sizes(columns)
        people = None
        if fraction is not None:
            people = population_uniques(np.repeat(size, times), fraction)
        risk = reidentification(size, times=times)
        return Assessment(tuple(column.name for column in columns), risk, people)

    contents = [_contents(session, tidied, name, place[name], most_values) for name in names]
    found = inspection_of(contents, rows, told, unique, without_each)
    session.drop(tidied)
    return found


@dataclass(frozen=True)
class Tidy:
    """Columns in which equal values are equal to a database too."""

    columns: tuple[tuple[str, pa.DataType], ...]

    @property
    def schema(self) -> pa.Schema:
        """What comes out."""
        return pa.schema([(place, stored_kind(kind)) for place, kind in self.columns])

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Tidy a batch."""
        made = [
            known(plain(place, as_read(batch.column(place), kind))).cast(stored_kind(kind))
            for place, kind in self.columns
        ]
        return pa.RecordBatch.from_arrays(made, schema=self.schema)


def contents_in(
    session: Session,
    table: str,
    name: str,
    place: str,
    kind: pa.DataType,
    most_values: int = MOST_VALUES,
) -> Contents:
    """What one column of a table holds; `place` and `kind` are where it stands and its type."""
    tidied, tidy = f"{table}_tidied", Tidy(((place, kind),))
    session.map(tidied, rows_of(table, [place]), tidy, tidy.schema)
    found = _contents(session, tidied, name, place, most_values)
    session.drop(tidied)
    return found


def _contents(session: Session, table: str, name: str, place: str, most: int) -> Contents:
    """A column by its counts; its values are looked at and forgotten."""
    found = session.ask(tally(table, place, most + 1))
    values = one_chunk(found.column("v")).drop_null()
    seen = contents_of(name, values)
    sized = session.ask(class_sizes(table, [place]))
    size, times = (sized.column(c).cast(pa.int64()).to_numpy() for c in ("size", "times"))
    return replace(
        seen,
        codes=np.zeros(0, np.int64),
        counts=size,
        times=times,
        missing=int(session.ask(how_many_missing(table, place)).column("n")[0].as_py()),
    )
