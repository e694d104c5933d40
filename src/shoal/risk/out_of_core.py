"""Inspect a table that no memory holds: its columns and classes are counted where they are.

Only counts come here, and of each column up to a million values, to tell what they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import Ints
from shoal.encoding.values import known, plain
from shoal.engines.base import Session, Step, part_of, passing, source_at, unreported
from shoal.engines.capabilities import refuse_task
from shoal.engines.encode import MOST_VALUES, as_read, check_kinds, stored_kind
from shoal.engines.queries import class_sizes, how_many_missing, how_many_rows, rows_of, tally
from shoal.engines.relational import read_source
from shoal.engines.selection import (
    FOR_FILES,
    check_engine,
    check_source,
    frame_in_session,
    is_spark,
    open_session,
)
from shoal.errors import InputError
from shoal.io.arrow import one_chunk
from shoal.io.csv_dialect import CsvOptions
from shoal.progress import Clock, Progress, no_progress
from shoal.risk.assessment import THRESHOLD, Assessment, reidentification, require_columns
from shoal.risk.columns import Contents, contents_of, suggest
from shoal.risk.inspection import Inspection, inspection_of, require_single_names
from shoal.risk.population import population_uniques
from shoal.risk.uniqueness import LARGEST_SET, most_sets

TIDIED = 0.4
"""The share of counting that is done when the rows can be counted."""


def inspect_session(
    session: Session,
    raw: str,
    names: Sequence[str],
    schema: pa.Schema,
    fraction: float | None = None,
    most_values: int = MOST_VALUES,
    step: Step = unreported,
) -> Inspection:
    """Inspect a table of a session, whose columns p0, p1, ... have these names.

    As `inspect_table`, without minimal sample uniques. Of a column with more than `most_values`
    different values only so many are looked at to tell its type.
    """
    require_single_names(names)
    with step("count") as progress:
        classes = _tidied(session, raw, names, schema, part_of(progress, 0, TIDIED))
        contents = []
        for i, name in enumerate(names):
            begin, end = (TIDIED + (1 - TIDIED) * (i + n) / len(names) for n in (0, 1))
            with passing(session, progress, begin, end, None):
                contents.append(_contents(classes, name, most_values))
    with step("search") as progress, passing(session, progress, 0, 1, None):
        asked = 0
        d = sum(suggest(column).role == "quasi" for column in contents)

        def unique(rows: int, columns: Sequence[Contents]) -> int:
            nonlocal asked
            size, times = classes.sizes([column.name for column in columns])
            asked += 1
            progress(_searched(asked, rows, d))
            return int(times[size == 1].sum())

        def without_each(rows: int, columns: Sequence[Contents]) -> list[int]:
            return [unique(rows, [c for c in columns if c is not left]) for left in columns]

        def told(columns: Sequence[Contents]) -> Assessment:
            return classes.assessed([column.name for column in columns], fraction)

        found = inspection_of(contents, classes.rows, told, unique, without_each)
        classes.drop()
    return found


def _searched(asked: int, rows: int, d: int) -> float:
    """How far an inspection is that has counted rows so often, with so many columns to suspect.

    They are counted once with all columns and once without each, which is half of the work; then for
    sets of them, perhaps so many as there are.
    """
    first = 1 + d
    if asked <= first:
        return asked / first / 2
    sets = sum(min(comb(d, n), most_sets(rows)) for n in range(1, LARGEST_SET + 1))
    return 0.5 + 0.5 * min(1.0, (asked - first) / (sets + 1))


def assess_session(
    session: Session,
    raw: str,
    quasi: Sequence[str],
    schema: pa.Schema,
    fraction: float | None = None,
    threshold: float = THRESHOLD,
) -> Assessment:
    """The risk of a table of a session in which an attacker knows all columns p0, p1, ...."""
    classes = _tidied(session, raw, quasi, schema, no_progress)
    found = classes.assessed(quasi, fraction, threshold)
    classes.drop()
    return found


@dataclass(frozen=True)
class Classes:
    """A table in which rows that are alike can be counted."""

    session: Session
    table: str
    place: Mapping[str, str]
    """Where each column stands."""
    rows: int

    def sizes(self, columns: Sequence[str]) -> tuple[Ints, Ints]:
        """The sizes that classes have, and how many classes have each."""
        found = self.session.ask(class_sizes(self.table, [self.place[name] for name in columns]))
        size, times = (found.column(c).cast(pa.int64()).to_numpy() for c in ("size", "times"))
        return size, times

    def assessed(
        self, columns: Sequence[str], fraction: float | None, threshold: float = THRESHOLD
    ) -> Assessment:
        """The risk of rows whose columns are known."""
        size, times = self.sizes(columns)
        people = None
        if fraction is not None:
            people = population_uniques(np.repeat(size, times), fraction)
        risk = reidentification(size, threshold=threshold, times=times)
        return Assessment(tuple(columns), risk, people)

    def drop(self) -> None:
        """Forget the table."""
        self.session.drop(self.table)


def _tidied(
    session: Session, raw: str, names: Sequence[str], schema: pa.Schema, progress: Progress
) -> Classes:
    check_kinds(names, schema)
    rows = int(session.ask(how_many_rows(raw)).column("n")[0].as_py())
    if not rows:
        raise InputError("The table has column names but no rows: there is nothing to look at.")
    places = [f"p{i}" for i in range(len(names))]
    tidied = f"{raw}_tidied"
    tidy = Tidy(tuple(zip(places, schema.types, strict=True)))
    with passing(session, progress, 0, 1, rows):
        session.map(tidied, rows_of(raw, places), tidy, tidy.schema)
    session.drop(raw)
    return Classes(session, tidied, dict(zip(names, places, strict=True)), rows)


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
    found = _contents(Classes(session, tidied, {name: place}, 0), name, most_values)
    session.drop(tidied)
    return found


def _contents(classes: Classes, name: str, most: int) -> Contents:
    """A column by its counts; its values are looked at and forgotten."""
    session, table, place = classes.session, classes.table, classes.place[name]
    found = session.ask(tally(table, place, most + 1))
    values = one_chunk(found.column("v")).drop_null()
    size, times = classes.sizes([name])
    return replace(
        contents_of(name, values),
        codes=np.zeros(0, np.int64),
        counts=size,
        times=times,
        missing=int(session.ask(how_many_missing(table, place)).column("n")[0].as_py()),
    )


# Inspect and assess tables that no memory holds: files on disk or in Spark, or a Spark frame.


RAW = "raw"


def inspect_elsewhere(
    engine: str,
    memory: str | None,
    path: Path,
    options: CsvOptions,
    clock: Clock,
    fraction: float | None,
    msu: int | None,
) -> Inspection:
    """Inspect the table in a file or a folder of part files, with an engine that is named."""
    check_engine(engine, memory)
    refuse_msu(msu)
    source = source_at(path, options)
    require_single_names(source.names)
    check_source(engine, source, source.names)
    with open_session(engine, memory, clock) as session:
        with clock.step("read") as progress:
            schema = read_source(session, RAW, source, source.names, clock, progress)
        found = inspect_session(session, RAW, source.names, schema, fraction, step=clock.step)
    return replace(found, warnings=source.warnings)


def assess_elsewhere(
    data: Any,
    quasi: Sequence[str],
    population: Any,
    msu: int | None,
    fraction: float | None,
    threshold: float,
    engine: str,
    memory: str | None,
) -> Assessment:
    """The risk figures of a Spark frame, or of the table in files with an engine that is named."""
    refuse_msu(msu)
    if population is not None:
        refuse_task("large", "assess with a population")
    if is_spark(data):
        require_columns(list(data.columns), quasi, "The table")
        with frame_in_session(data, RAW, quasi) as (session, schema):
            return assess_session(session, RAW, quasi, schema, fraction, threshold)
    if not isinstance(data, str | Path):
        raise InputError(FOR_FILES)
    check_engine(engine, memory)
    source = source_at(Path(data))
    require_columns(source.names, quasi, "The table")
    check_source(engine, source, quasi)
    with open_session(engine, memory) as session:
        schema = session.read(RAW, source.files, quasi, source.options)
        return assess_session(session, RAW, quasi, schema, fraction, threshold)


def refuse_msu(msu: int | None) -> None:
    """Minimal sample uniques need every row beside every other."""
    if msu is not None:
        refuse_task("large", "minimal sample uniques")
