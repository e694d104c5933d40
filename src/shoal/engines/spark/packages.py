"""Packages: rows as Arrow bytes, which Spark stores and moves and only Python opens.

A table is an RDD of packages. Java would take several times as long to turn rows into its own form and
back as the work on them takes. What works on rows is a generator of ours from batches to packages
(`Work`), in the executors. An error of ours that it raises becomes a package too, which ends its task
without an error, so that Spark does not try it again.
"""

import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.duckdb.parts import BATCH
from shoal.engines.duckdb.scans import FileScan, RowGroup
from shoal.engines.spark.arrow import Accumulator, Batches, BatchesFunction
from shoal.engines.spark.failures import packed, unpack_error, unreadable_file
from shoal.engines.spark.tables import Frame
from shoal.errors import InputError, ShoalError
from shoal.io.arrow import one_chunk

Package = tuple[int, int, bytes, str | None]
"""Where it goes, its number of rows, the rows as an Arrow stream; or an error of ours."""
Packages = Iterator[Package]
PACKAGES = "slot int, rows bigint, data binary, error string"
"""The same as a frame."""
Opening = Callable[[Iterator[Any]], Batches]
"""From what a part of an RDD has to batches of rows."""
Work = Callable[[Batches], Packages]
Rdd = Any
"""pyspark.RDD."""
FEW_VALUES = 16
"""Values of a dictionary that need not be looked through for those that no row has."""


@dataclass(frozen=True)
class Source:
    """Rows of a query, wherever they are: in an RDD, or in a frame."""

    rdd: Rdd | None
    opening: Opening | None = None
    frame: Frame | None = None

    def run(self, work: Work, tasks: int | None = None) -> Rdd:
        """The packages that the work makes of all rows; by at most so many tasks."""
        if self.frame is not None:
            found = self.frame.mapInArrow(_in_frame(_guarded(gathered, work)), PACKAGES)
            return found.rdd
        assert self.rdd is not None
        assert self.opening is not None
        rdd = self.rdd
        if tasks is not None and rdd.getNumPartitions() > tasks:
            rdd = rdd.coalesce(tasks)
        return rdd.mapPartitions(_guarded(self.opening, work))


@dataclass(frozen=True)
class ScannedTable:
    """A table in Parquet files that Arrow reads."""

    scan: FileScan
    schema: pa.Schema
    """In the types that Spark stores."""
    rows: int


IN_PLACE = -1
"""Where packages go whose rows are in the place of others: nowhere."""


@dataclass(frozen=True)
class Without:
    """Rows without those that have certain keys."""

    key: str
    values: pa.Array

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Sort out those of a package."""
        gone = pc.is_in(rows.column(self.key), self.values)
        return rows.filter(pc.invert(gone)) if pc.any(gone).as_py() else rows


@dataclass
class PackedTable:
    """A table of packages."""

    rdd: Rdd
    schema: pa.Schema
    """The types; texts may be codes and a dictionary in a package."""
    rows: int | None
    """None where Spark does not keep it: every use computes it again."""
    narrow: dict[tuple[str, ...], Rdd] = field(default_factory=dict)
    """The same rows with some columns alone, which are read again and again."""
    replaced: tuple[Without, Rdd] | None = None
    """Which rows are left out whenever it is read, as others are in their place, and these: nothing is
    stored again where they are few."""

    @property
    def is_kept(self) -> bool:
        """Whether Spark keeps it."""
        return self.rows is not None or self.replaced is not None

    def source(self, columns: Sequence[str], coded: bool) -> Source:
        """Some columns of it; coded: texts may stay codes."""
        narrow = self.narrow.get(tuple(columns))
        if narrow is None and self.replaced is not None:
            without, others = self.replaced
            few = others.map(lambda package: (IN_PLACE, *package[1:])).coalesce(1)
            return Source(self.rdd.union(few), opened(tuple(columns), coded, without))
        return Source(self.rdd if narrow is None else narrow, opened(tuple(columns), coded))

    def forget(self) -> None:
        """Let Spark forget the rows."""
        others = [] if self.replaced is None else [self.replaced[1]]
        for rdd in (self.rdd, *self.narrow.values(), *others):
            if rdd.is_cached:
                rdd.unpersist()


def _guarded(opening: Opening, work: Work) -> Callable[[Iterator[Any]], Packages]:
    """What runs in an executor: an error of ours is the last package."""

    def run(parts: Iterator[Any]) -> Packages:
        spare_modules()
        try:
            yield from work(opening(parts))
        except ShoalError as error:
            yield 0, 0, b"", packed(error)

    return run


_seen = 0
"""Modules that an executor had loaded at the last look."""


def spare_modules() -> None:
    """Let no search for garbage look at what modules hold.

    Spark's Python processes search after every task, for 27 ms where all of our libraries are loaded:
    more than most tasks take.
    """
    global _seen
    if len(sys.modules) != _seen:
        _seen = len(sys.modules)
        gc.freeze()


def gathered(batches: Iterator[Any]) -> Batches:
    """The same rows in fewer, larger batches."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if waiting and sum(map(len, waiting)) + len(batch) > BATCH:
            yield from _together(waiting)
            waiting = []
        if len(batch):
            waiting.append(batch)
    yield from _together(waiting)


def _together(batches: list[pa.RecordBatch]) -> Batches:
    if batches:
        yield from pa.Table.from_batches(batches).combine_chunks().to_batches()


def _in_frame(run: Callable[[Iterator[Any]], Packages]) -> BatchesFunction:
    def rows(batches: Batches) -> Batches:
        for slot, n, data, error in run(batches):
            columns = [
                pa.array([slot], pa.int32()),
                pa.array([n], pa.int64()),
                pa.array([data], pa.binary()),
                pa.array([error], pa.string()),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=["slot", "rows", "data", "error"])

    return rows


def opened(columns: tuple[str, ...] | None, coded: bool, without: Without | None = None) -> Opening:
    """The rows of packages, package by package; an error in one of them is raised. without: sorts out
    rows in whose place there are others."""

    def batches(packages: Iterator[Any]) -> Batches:
        for package in packages:
            rows = rows_of(package)
            rows = rows if without is None or package[0] == IN_PLACE else without(rows)
            rows = rows if columns is None else rows.select(list(columns))
            yield from (rows if coded else decoded(rows)).combine_chunks().to_batches()

    return batches


def without_file(path: object) -> InputError:
    """The error for a file that is not there for an executor."""
    return InputError(
        f"{path} does not exist for the executors. Put the table on storage that every worker and this "
        "machine share under the same path."
    )


def read_groups(place: str) -> Opening:
    """The rows of row groups of Parquet files; place: how Spark is called in messages."""

    def batches(groups: Iterator[RowGroup]) -> Batches:
        for group in groups:
            try:
                yield from group()
            except FileNotFoundError:
                raise without_file(group.path) from None
            except (pa.ArrowException, OSError):
                raise unreadable_file(place) from None

    return batches


def package_of(rows: pa.RecordBatch | pa.Table, slot: int = 0) -> Package:
    """Some rows as a package."""
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_batches([rows])
    columns = [_stored(one_chunk(column)) for column in table.columns]
    table = pa.table(columns, names=table.column_names)
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(use_threads=False)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return slot, len(table), sink.getvalue().to_pybytes(), None


def _stored(column: pa.Array) -> pa.Array:
    """The column with no more values in its dictionary than it has."""
    if not pa.types.is_dictionary(column.type):
        return column
    values = column.dictionary
    if values.null_count:
        return column.dictionary_decode()
    if column.indices.type != pa.int32():
        column = pa.DictionaryArray.from_arrays(column.indices.cast(pa.int32()), values)
    if len(values) <= FEW_VALUES:
        return column
    codes = pc.fill_null(column.indices, len(values)).to_numpy(zero_copy_only=False)
    used = np.zeros(len(values) + 1, np.bool_)
    used[codes] = True
    if 2 * np.count_nonzero(used) > len(values):
        return column
    kept = np.flatnonzero(used[:-1])
    new = np.zeros(len(values) + 1, np.int32)
    new[kept] = np.arange(len(kept), dtype=np.int32)
    indices = pa.array(new[codes], mask=codes == len(values))
    return pa.DictionaryArray.from_arrays(indices, values.take(pa.array(kept)))


def rows_of(package: Package) -> pa.Table:
    """The rows of a package; raises its error."""
    _, _, data, error = package
    if error is not None:
        raise unpack_error(error) or RuntimeError(error)
    return pa.ipc.open_stream(data).read_all()


def unpacking(schema: pa.Schema, errors: Accumulator) -> BatchesFunction:
    """From packages in a frame to their rows; errors of ours are added to `errors`."""

    def run(batches: Batches) -> Batches:
        for batch in batches:
            for data, error in zip(*(batch.column(i) for i in range(2)), strict=True):
                if error.is_valid:
                    errors.add([error.as_py()])
                    return
                rows = decoded(pa.ipc.open_stream(data.as_buffer()).read_all())
                yield from rows.cast(schema).combine_chunks().to_batches(BATCH)

    return run


def exchanged(rdd: Rdd, slots: int) -> Rdd:
    """The packages of each slot in one part."""
    keyed = rdd.map(lambda package: (package[0], package))
    return keyed.partitionBy(slots, int).values()


def decoded(rows: pa.Table) -> pa.Table:
    """The rows with texts in the place of codes."""
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in rows.columns
    ]
    return pa.table(columns, names=rows.column_names)


def conformed(rows: pa.RecordBatch | pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of a schema, in its types and order; texts may stay codes."""
    columns = []
    for wanted in schema:
        column = rows.column(wanted.name)
        kind = column.type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        columns.append(column if kind == wanted.type else column.cast(wanted.type))
    return pa.table(columns, names=schema.names)


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of some tables as one piece; texts may be codes in some of them."""
    if len({table.schema for table in tables}) > 1:
        tables = [decoded(table) for table in tables]
    columns = [one_chunk(column) for column in pa.concat_tables(tables).columns]
    return pa.table(columns, names=tables[0].column_names)


def all_rows(batches: Iterable[pa.RecordBatch]) -> pa.Table | None:
    """All rows of a part; None where it has none."""
    tables = [pa.Table.from_batches([batch]) for batch in batches if batch.num_rows]
    return joined(tables) if tables else None
