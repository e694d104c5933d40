"""A table whose rows can be counted by the values of some columns: in memory, or by an engine.

Inspections and assessments need counts alone. `TableInMemory` takes them from Arrow columns,
`TableInSession` from the engine that holds a table larger than memory: only counts leave the engine,
and of each column up to a million values, to recognise its type.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.encoding.people import number_people
from shoal.encoding.reading import ValueReading, is_text
from shoal.encoding.values import canonical, countable
from shoal.encoding.weights import check_constant, differing_people, read_weights
from shoal.engines.capabilities import REFUSED_TASKS, refuse_task
from shoal.engines.column_types import check_types, restore_type, storage_type
from shoal.engines.duckdb.classes import STAR
from shoal.engines.encode import MAX_VALUES
from shoal.engines.files import LocalFiles, wrap
from shoal.engines.queries import (
    class_sizes,
    count_missing,
    count_rows,
    people_of_values,
    select,
    some_rows,
    value_counts,
)
from shoal.engines.session_identifiers import agreements_in_session
from shoal.engines.session_weights import ReadWeights, read_weights_in, weights_of_classes
from shoal.engines.sessions import (
    LOCAL,
    Session,
    check_engine,
    check_source,
    frame_in_session,
    is_out_of_core,
    is_spark,
    open_session,
    part_of,
    passing,
    query_number,
    read_source,
)
from shoal.engines.sources import refuse_folder, source_at
from shoal.errors import InputError, listed, nearest
from shoal.evidence.estimated_risk import EstimatedRisk, risk_of_classes, risk_of_rows
from shoal.evidence.people import PeopleSizes, people_sizes
from shoal.evidence.repeated_ids import Agreement, agreements, equal_by_chance
from shoal.hierarchy.text import text_of
from shoal.io.address import Place, as_place
from shoal.io.arrow import one_chunk
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.policy.reading import AS_WRITTEN, Reading
from shoal.progress import Clock, Progress, no_progress
from shoal.risk.columns import ColumnCodes, Contents, codes_of, contents_of
from shoal.risk.uniqueness import (
    Coded,
    MinimalUniques,
    RowKeys,
    minimal_uniques,
    unique_without_each,
)

RAW = "raw"
SAMPLED = 20_000
"""Rows of a table larger than memory that are looked at one beside the other."""
NORMALIZED_SHARE = 0.4
"""The share of counting that is done when the columns are normalized."""


class CountedTable(ABC):
    """Rows that can be counted by the values of some columns."""

    names: Sequence[str]
    """The columns, in order."""
    rows: int
    warnings: tuple[str, ...]
    """What was guessed to read the table."""
    read: Reading
    """How the table is written, as far as it was said."""
    options: CsvOptions
    """How its file is written."""

    @abstractmethod
    def count(self, progress: Progress) -> list[Contents]:
        """Prepare the table for counting, and count the values of every column."""

    @abstractmethod
    def prepare(self) -> None:
        """Prepare the table for counting classes alone."""

    @property
    def units(self) -> int:
        """How many there are of what is counted: rows, or people."""
        return self.rows

    def people_sizes(self, names: Sequence[str]) -> PeopleSizes | None:  # noqa: ARG002
        """The classes on some columns in people; None where rows are counted."""
        return None

    @abstractmethod
    def class_sizes(self, names: Sequence[str]) -> tuple[Ints, Ints]:
        """Sizes of the classes on some columns, and how many classes have each size."""

    def classes_on(self, names: Sequence[str]) -> int:
        """How many different combinations of values some columns have."""
        return int(self.class_sizes(names)[1].sum())

    @abstractmethod
    def estimated_risk(
        self, names: Sequence[str], weight: str, threshold: float, household: str | None = None
    ) -> EstimatedRisk:
        """The risk on some columns in the population, estimated from a column of sampling weights."""

    @abstractmethod
    def unique_without_each(self, names: Sequence[str]) -> Iterable[int]:
        """For each column, the rows that stay unique when it alone is left out."""

    def unique_rows(self, names: Sequence[str]) -> int:
        """Rows that no other row equals in all these columns."""
        sizes, times = self.class_sizes(names)
        return int(times[sizes == 1].sum())

    @abstractmethod
    def agreements(self, ids: Contents, columns: Sequence[Contents]) -> list[Agreement]:
        """How the rows with one value of a column agree in each of some others."""

    @abstractmethod
    def people_of_values(self, person: str, column: Contents) -> dict[str, int]:
        """How many people have each value of a column, as text, in at least one row; not the missing."""

    @abstractmethod
    def minimal_uniques(self, names: Sequence[str], largest: int) -> MinimalUniques:
        """The minimal sample uniques of up to `largest` of these columns."""

    def sampled(self) -> "list[Contents] | None":
        """The columns of some rows, for what cannot be counted; None where all rows are in memory."""
        return None

    def close(self) -> None:  # noqa: B027 - in memory there is nothing to drop
        """Drop what was made for counting."""

    def watched(self, progress: Progress) -> AbstractContextManager[None]:  # noqa: ARG002
        """A block in which the engine reports the progress of its queries, if it does."""
        return nullcontext()


class TableInMemory(CountedTable):
    """An Arrow table."""

    def __init__(
        self,
        table: pa.Table,
        warnings: tuple[str, ...] = (),
        read: Reading = AS_WRITTEN,
        options: CsvOptions = DETECT,
    ) -> None:
        self.table, self.warnings, self.read, self.options = table, warnings, read, options
        self.names, self.rows = list(table.column_names), int(table.num_rows)
        self._contents: dict[str, Contents] = {}
        self._codes: dict[str, ColumnCodes] = {}

    def codes(self, name: str) -> Coded:
        """The values of one column by their numbers; what they are is not looked at."""
        if name in self._contents:
            return self._contents[name]
        if name not in self._codes:
            self._codes[name] = codes_of(self.table.column(name))
        return self._codes[name]

    def contents(self, name: str) -> Contents:
        """The counted values of one column."""
        if name not in self._contents:
            column = self.table.column(name)
            self._contents[name] = contents_of(name, column, reading_of_values(self.read))
        return self._contents[name]

    def count(self, progress: Progress) -> list[Contents]:
        """Count the values of every column."""
        found = []
        for i, name in enumerate(self.names):
            progress(i / len(self.names))
            found.append(self.contents(name))
        return found

    def prepare(self) -> None:
        """Nothing to prepare."""

    def classes(self, names: Sequence[str]) -> tuple[npt.NDArray[np.intp], Ints, Ints]:
        """The first row of each class, (rows,) the class of each row, and the classes' sizes."""
        keys = RowKeys.of(self.rows, map(self.codes, names)).numbers
        _, first, of_row, sizes = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        return first, of_row, sizes.astype(np.int64)

    def class_sizes(self, names: Sequence[str]) -> tuple[Ints, Ints]:
        """The size of each class, and one for each of them."""
        keys = RowKeys.of(self.rows, map(self.codes, names)).numbers
        sizes = np.unique(keys, return_counts=True)[1].astype(np.int64)
        return sizes, np.ones(len(sizes), np.int64)

    def weights(self, name: str) -> Ints:
        """(rows,) the sampling weights in millionths; 0 where a row is suppressed and reads `*`."""
        column = one_chunk(self.table.column(name))
        kept = np.ones(len(column), np.bool_)
        if is_text(column.type):
            kept = pc.fill_null(pc.not_equal(column, STAR), True).to_numpy(zero_copy_only=False)
        found = np.zeros(len(column), np.int64)
        reading, missing = reading_of_values(self.read), self.read.missing or ()
        found[kept] = read_weights(name, column.filter(pa.array(kept)), missing, reading)
        return found

    def estimated_risk(
        self, names: Sequence[str], weight: str, threshold: float, household: str | None = None
    ) -> EstimatedRisk:
        """The risk on some columns in the population, estimated from a column of sampling weights."""
        return self._estimated(names, weight, threshold, household, None)

    def _estimated(
        self,
        names: Sequence[str],
        weight: str,
        threshold: float,
        household: str | None,
        people: Ints | None,
    ) -> EstimatedRisk:
        weights = self.weights(weight)
        kept = weights > 0
        home = None if household is None else self.classes([household])[1][kept]
        return risk_of_rows(
            self.classes(names)[1][kept],
            weights[kept],
            None if people is None else people[kept],
            threshold,
            home,
        )

    def unique_rows(self, names: Sequence[str]) -> int:
        """Rows that no other row equals in all these columns."""
        return RowKeys.of(self.rows, map(self.codes, names)).unique_rows()

    def unique_without_each(self, names: Sequence[str]) -> Iterable[int]:
        """For each column, the rows that stay unique when it alone is left out."""
        return unique_without_each(self.rows, [self.codes(name) for name in names])

    def agreements(self, ids: Contents, columns: Sequence[Contents]) -> list[Agreement]:
        """How the rows with one value of a column agree in each of some others."""
        return agreements(ids.codes.astype(np.int64), [column.codes for column in columns])

    def people_of_values(self, person: str, column: Contents) -> dict[str, int]:
        """How many people have each value of a column, as text, in at least one row; not the missing."""
        if column.values is None:
            return {}
        of_row = self.classes([person])[1]
        pairs = np.unique(of_row * np.int64(column.size) + column.codes)
        people = np.bincount(pairs % column.size, minlength=column.size)
        return dict(zip(text_of(column.values).to_pylist(), people.tolist(), strict=False))

    def minimal_uniques(self, names: Sequence[str], largest: int) -> MinimalUniques:
        """The minimal sample uniques of up to `largest` of these columns."""
        return minimal_uniques([self.contents(name) for name in names], self.rows, largest)


class PeopleInMemory(TableInMemory):
    """An Arrow table of which people are counted: a person may have several rows.

    A person is unique on some columns if she is alone in one of her classes there.
    """

    def __init__(self, table: TableInMemory, people: Ints) -> None:
        """people: (rows,) the number of each row's person, 0, 1, 2, …"""
        super().__init__(table.table, table.warnings, table.read, table.options)
        self.people = people
        self._contents = table._contents  # counted once

    @property
    def units(self) -> int:
        """How many people there are."""
        return int(self.people.max(initial=-1)) + 1

    def people_sizes(self, names: Sequence[str]) -> PeopleSizes:
        """The classes on some columns in people."""
        return people_sizes(self.classes(names)[1], self.people)

    def class_sizes(self, names: Sequence[str]) -> tuple[Ints, Ints]:
        """The numbers of people that a class has, and how many classes have each."""
        sizes, times = np.array(self.people_sizes(names).classes, np.int64).reshape(-1, 2).T
        return sizes, times

    def estimated_risk(
        self, names: Sequence[str], weight: str, threshold: float, household: str | None = None
    ) -> EstimatedRisk:
        """The same in people, who must have one weight each."""
        found = self.weights(weight)
        differing = differing_people(self.people[found > 0], found[found > 0])
        check_constant(weight, None, differing, self.units)
        return self._estimated(names, weight, threshold, household, self.people)

    def unique_rows(self, names: Sequence[str]) -> int:
        """People who are alone in a class on all these columns."""
        return sum(times for size, times in self.people_sizes(names).smallest if size == 1)

    def unique_without_each(self, names: Sequence[str]) -> Iterable[int]:
        """For each column, the people who stay unique when it alone is left out."""
        return (self.unique_rows([n for n in names if n != left_out]) for left_out in names)

    def minimal_uniques(self, names: Sequence[str], largest: int) -> MinimalUniques:  # noqa: ARG002
        """Refused: they are defined for rows."""
        raise InputError(
            "msu: minimal sample uniques are sets of columns on which a row is unique; they are not "
            "counted in people. Leave `msu` out, or count rows without a person column."
        )


def count_people_of(table: TableInMemory, person: str) -> PeopleInMemory:
    """The table counted in people, by a column of ids; raises where a row has none."""
    people = number_people(person, one_chunk(table.table.column(person)))
    return PeopleInMemory(table, people.number.astype(np.int64))


@dataclass
class TableInSession(CountedTable):
    """A table of an engine's session, whose columns p0, p1, ... have these names.

    The table is replaced by one in which equal values are equal to a database too. Of a column with
    more than `max_values` distinct values only so many are read to recognise its type.
    """

    session: Session
    table: str
    names: Sequence[str]
    schema: pa.Schema
    warnings: tuple[str, ...] = ()
    max_values: int = MAX_VALUES
    rows: int = 0
    read: Reading = AS_WRITTEN
    options: CsvOptions = DETECT

    def prepare(self, progress: Progress = no_progress) -> None:
        """Normalize the columns; raises `InputError` for a table without rows."""
        check_types(self.names, self.schema)
        self.rows = query_number(self.session, count_rows(self.table))
        require_rows(self.rows, "The table")
        places = [f"p{i}" for i in range(len(self.names))]
        with passing(self.session, progress, 0, 1, self.rows):
            normalized = _normalize(self.session, self.table, places, self.schema.types)
        self.session.drop(self.table)
        self.table = normalized

    def count(self, progress: Progress) -> list[Contents]:
        """Normalize the columns, and count the values of each."""
        self.prepare(part_of(progress, 0, NORMALIZED_SHARE))
        found = []
        for i, name in enumerate(self.names):
            begin, end = (
                NORMALIZED_SHARE + (1 - NORMALIZED_SHARE) * (i + n) / len(self.names)
                for n in (0, 1)
            )
            with passing(self.session, progress, begin, end, None):
                one = _contents(self.session, self.table, name, f"p{i}", self.max_values, self.read)
                found.append(one)
        return found

    def class_sizes(self, names: Sequence[str]) -> tuple[Ints, Ints]:
        """The distinct sizes of classes, and how many classes have each."""
        return _class_sizes(self.session, self.table, [f"p{self.names.index(n)}" for n in names])

    def estimated_risk(
        self, names: Sequence[str], weight: str, threshold: float, household: str | None = None
    ) -> EstimatedRisk:
        """The risk on some columns in the population; households need all rows in memory."""
        if household is not None:
            refuse_task("large", "household")
        places = {name: f"p{i}" for i, name in enumerate(self.names)}
        types = {
            name: storage_type(kind)
            for name, kind in zip(self.names, self.schema.types, strict=True)
        }
        kept = tuple((places[name], types[name]) for name in names)
        missing, reading = self.read.missing or (), reading_of_values(self.read)
        read = ReadWeights(weight, places[weight], types[weight], missing, reading, kept)
        table = read_weights_in(self.session, self.table, read)
        sizes, weights, times = weights_of_classes(
            self.session, table, [place for place, _ in kept]
        )
        self.session.drop(table)
        return risk_of_classes(sizes, weights, times, threshold)

    def unique_without_each(self, names: Sequence[str]) -> Iterable[int]:
        """For each column, the rows that stay unique when it alone is left out."""
        return (self.unique_rows([n for n in names if n != left_out]) for left_out in names)

    def agreements(self, ids: Contents, columns: Sequence[Contents]) -> list[Agreement]:
        """How the rows with one value of a column agree in each of some others."""
        place = {name: f"p{i}" for i, name in enumerate(self.names)}
        chances = {place[c.name]: equal_by_chance(c.counts, c.times) for c in columns}
        known = f"{place[ids.name]} IS NOT NULL"
        return agreements_in_session(self.session, self.table, place[ids.name], chances, known)

    def people_of_values(self, person: str, column: Contents) -> dict[str, int]:
        """How many people have each value of a column, as text, in at least one row; not the missing."""
        ids, place = (f"p{self.names.index(name)}" for name in (person, column.name))
        found = self.session.query(people_of_values(self.table, ids, place, self.max_values))
        texts = text_of(one_chunk(found.column("v"))).to_pylist()
        people = found.column("n").to_pylist()
        return {text: n for text, n in zip(texts, people, strict=True) if text is not None}

    def sampled(self) -> list[Contents]:
        """The columns of about `SAMPLED` rows, the same ones in any order of the table."""
        places = [f"p{i}" for i in range(len(self.names))]
        one_in = max(1, self.rows // SAMPLED)
        found = self.session.query(some_rows(self.table, places, one_in, 2 * SAMPLED))
        kinds = [storage_type(kind) for kind in self.schema.types]
        columns = [one_chunk(found.column(i)).cast(kind) for i, kind in enumerate(kinds)]
        few = pa.table(dict(zip(self.names, columns, strict=True)))
        return TableInMemory(few, (), self.read).count(no_progress)

    def minimal_uniques(self, names: Sequence[str], largest: int) -> MinimalUniques:  # noqa: ARG002
        """Refused: it needs every row beside every other."""
        raise InputError(REFUSED_TASKS["large"]["msu"])

    def close(self) -> None:
        """Drop the table."""
        self.session.drop(self.table)

    def watched(self, progress: Progress) -> AbstractContextManager[None]:
        """A block in which the engine reports the progress of its queries."""
        return passing(self.session, progress, 0, 1, None)


@contextmanager
def counted_table(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    read: Reading = AS_WRITTEN,
    engine: str = LOCAL,
    memory: str | None = None,
    clock: Clock | None = None,
) -> Iterator[CountedTable]:
    """Open a frame, a file or a folder of part files for counting, in memory or on an engine.

    columns: those to read; all when left out. read: how the table is written.
    """
    clock, data = clock or Clock(), as_place(data)
    if is_spark(data):
        names = _chosen(list(data.columns), columns)
        with (
            frame_in_session(data, RAW, names) as (session, schema),
            closing(TableInSession(session, RAW, names, schema, read=read)) as counted,
        ):
            yield counted
    elif not is_out_of_core(engine, memory):
        with clock.step("read"):
            options, guessed = read.file, tuple[str, ...]()
            if isinstance(data, Place):
                refuse_folder(data)
                options, guessed = LocalFiles().settle(data, options)
            table = read_table(data, columns, options)[0]
            clock.rows = table.num_rows
        yield TableInMemory(table, guessed, read, options)
    elif not isinstance(data, Place):
        raise InputError(
            "An engine or a memory limit is for files, or folders of them, and not for a frame, which "
            "is in memory already."
        )
    else:
        check_engine(engine, memory)
        source = source_at(data, read.file)
        names = _chosen(source.names, columns)
        check_source(engine, source, names)
        with open_session(engine, memory, clock) as session:
            with clock.step("read") as progress:
                schema = read_source(session, RAW, source, names, clock, progress)
            in_session = TableInSession(
                session, RAW, names, schema, source.warnings, read=read, options=source.options
            )
            with closing(in_session):
                yield in_session


def read_table(
    data: Any,
    columns: Collection[str] | None = None,
    options: CsvOptions = DETECT,
    missing_ok: bool = False,
) -> tuple[pa.Table, list[str], tuple[str, ...]]:
    """A frame, or some columns of a file, as Arrow; with the names of all its columns, and with what
    was guessed to read the file.

    columns: those to read of a file; all when left out. missing_ok: read those that there are, or all
    where there are none.
    """
    data = as_place(data)
    if isinstance(data, Place):
        refuse_folder(data)
        local = LocalFiles()
        settled, guessed = local.settle(data, options)
        names = local.names(data, settled)
        if missing_ok and columns is not None:
            columns = [name for name in names if name in columns] or names
        return local.read(data, settled, _chosen(names, columns)), names, guessed
    if not isinstance(data, pa.Table):
        if is_spark(data):
            refuse_task("large", "attack")
        wrapped = wrap(data)
        data = pa.table({name: wrapped.column(name) for name in wrapped.names})
    names = list(data.column_names)
    _chosen(names, None if missing_ok else columns)
    return data, names, ()


def require_rows(rows: int, what: str) -> None:
    """Raise `InputError` for a table without rows."""
    if not rows:
        raise InputError(f"{what} has column names but no rows: there is nothing to look at.")


def require_columns(names: Sequence[str], columns: Collection[str], what: str) -> None:
    """Raise `InputError` unless a table with these names has the columns."""
    if not columns:
        raise InputError(f"{what} needs at least one column that an attacker knows.")
    for name in columns:
        if name not in names:
            raise InputError(
                f"{what} has no column '{name}'.{nearest(name, names)} It has: {listed(names)}."
            )


def require_memory(data: Any, engine: str, memory: str | None, **options: Any) -> None:
    """Raise `InputError` where options are given that need all rows in memory."""
    if is_spark(data) or is_out_of_core(engine, memory):
        for name, value in options.items():
            if value is not None:
                refuse_task("large", name)


def contents_in_session(
    session: Session, table: str, name: str, place: str, kind: pa.DataType
) -> Contents:
    """The counted values of one column of a session's table; `place` is what it is called there."""
    normalized = _normalize(session, table, [place], [kind])
    found = _contents(session, normalized, name, place, MAX_VALUES)
    session.drop(normalized)
    return found


def _chosen(names: Sequence[str], columns: Collection[str] | None) -> list[str]:
    """The columns to read; raises `InputError` for one that is missing or a name that is not unique."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(
            f"The table has several columns of one name: {listed(twice)}. Give each its own name."
        )
    if columns is not None:
        require_columns(names, columns, "The table")
    return list(names if columns is None else columns)


def _normalize(
    session: Session, table: str, places: Sequence[str], kinds: Sequence[pa.DataType]
) -> str:
    """Make a table of normalized columns; gives its name."""
    name, normalize = f"{table}_normalized", Normalize(tuple(zip(places, kinds, strict=True)))
    session.map(name, select(table, places), normalize, normalize.schema)
    return name


@dataclass(frozen=True)
class Normalize:
    """Makes equal values equal to a database too, batch by batch."""

    columns: tuple[tuple[str, pa.DataType], ...]

    @property
    def schema(self) -> pa.Schema:
        """Of the result."""
        return pa.schema([(place, storage_type(kind)) for place, kind in self.columns])

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Normalize a batch."""
        normalized = [
            canonical(countable(place, restore_type(batch.column(place), kind))).cast(
                storage_type(kind)
            )
            for place, kind in self.columns
        ]
        return pa.RecordBatch.from_arrays(normalized, schema=self.schema)


def reading_of_values(read: Reading) -> ValueReading:
    """How the texts of every column are written."""
    return ValueReading(None, read.dates, read.decimal, read.thousands)


def _contents(
    session: Session,
    table: str,
    name: str,
    place: str,
    most: int,
    read: Reading = AS_WRITTEN,
) -> Contents:
    """A column by its counts; of its values only the type is kept."""
    found = session.query(value_counts(table, [place], most + 1))
    rows = found.column("n").cast(pa.int64()).to_numpy()
    sizes, times = _class_sizes(session, table, [place])
    return replace(
        contents_of(name, one_chunk(found.column("v")), reading_of_values(read), rows),
        values=None,
        codes=np.zeros(0, np.int64),
        counts=sizes,
        times=times,
        missing=query_number(session, count_missing(table, place)),
    )


def _class_sizes(session: Session, table: str, places: Sequence[str]) -> tuple[Ints, Ints]:
    found = session.query(class_sizes(table, places))
    sizes, times = (found.column(c).cast(pa.int64()).to_numpy() for c in ("size", "times"))
    return sizes, times
