"""Tables in files: read as Spark frames, and written by the executors to a folder of part files.

Parquet is read by Spark; CSV by our own reader, inside the executors. Spark's CSV reader takes an empty
text for a missing one, drops blanks, accepts rows of the wrong length and by default splits records at
line ends inside quotes. Ours is the one of the local engine, so a file means the same on both; its unit
of work is a file. Parts are written by the local engine's own writer; the rows of a part and their
order follow from their content alone, so that a task that runs twice writes the same bytes.
"""

import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.duckdb.csv import csv_batches
from shoal.engines.files import LocalFiles
from shoal.engines.formats.base import FileFormat, format_of
from shoal.engines.formats.csv import Csv
from shoal.engines.formats.parquet import Parquet
from shoal.engines.sources import files_of, require_same_names
from shoal.engines.spark.arrow import (
    SLOT,
    Accumulator,
    Batches,
    BatchesFunction,
    error_row,
    type_in_spark,
    unsupported_type,
    with_errors,
)
from shoal.engines.spark.failures import packed
from shoal.engines.spark.tables import Frame
from shoal.errors import InputError, ShoalError, listed, nearest
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.io.paths import ending_of

CSV, PARQUET = Csv(), Parquet()
PART_BYTES = 128_000_000
"""Bytes of CSV in one part of a frame, about."""
PART_ROWS = 250_000
"""Rows that a part file has at most."""
WRITTEN = pa.schema([("file", pa.string()), ("rows", pa.int64()), ("bytes", pa.int64())])
"""What an executor returns of each part file."""


@dataclass(frozen=True)
class SourceFrame:
    """A table in files, as a Spark frame."""

    frame: Frame
    schema: pa.Schema
    rows: int | None
    """Where reading them again is so cheap that the frame need not be kept: their number. A frame that
    is to be kept has a column of errors."""


def read_frame(
    spark: Any, sources: Sequence[Path], columns: Sequence[str], options: CsvOptions, parts: int
) -> SourceFrame:
    """The named columns as p0, p1, ...; `parts` is how many tasks run at once."""
    files, kind = files_of(sources)
    _require_format(files, kind)
    if isinstance(kind, Csv):
        return _csv(spark, files, columns, options, parts)
    return _parquet(spark, files, columns)


def check_files(sources: Sequence[Path], columns: Sequence[str], options: CsvOptions) -> None:
    """Raise what `read_frame` would raise, as far as that can be checked without Spark."""
    files, kind = files_of(sources)
    _require_format(files, kind)
    if isinstance(kind, Csv):
        _csv_options(files, columns, options)
    else:
        _parquet_schema(files, columns)


def _require_format(files: list[Path], kind: FileFormat) -> None:
    if not isinstance(kind, Csv | Parquet):
        raise InputError(
            f"{files[0]} is {kind.title}, which Spark does not read here. Write the table as Parquet "
            "or CSV, or run without --engine."
        )


def _csv_options(files: list[Path], columns: Sequence[str], options: CsvOptions) -> CsvOptions:
    options, _ = CSV.settle(files, options)
    require_same_names(files, lambda file: CSV.names(file, options))
    require_columns(files[0], columns, CSV.names(files[0], options))
    return options


def _csv(
    spark: Any, files: list[Path], columns: Sequence[str], options: CsvOptions, parts: int
) -> SourceFrame:
    options = _csv_options(files, columns, options)
    schema = pa.schema([pa.field(f"p{i}", pa.string()) for i in range(len(columns))])
    kinds = ", ".join(f"{name} string" for name in with_errors(schema).names)
    function = _file_reader([str(file.absolute()) for file in files], options, tuple(columns))
    frame = spark.range(0, len(files), 1, len(files)).mapInArrow(function, kinds)
    if len(files) < parts:
        parts = max(parts, sum(file.stat().st_size for file in files) // PART_BYTES)
        # by the content of a row alone, so that a row goes to the same place if it is read again
        frame = frame.repartition(parts, *schema.names)
    return SourceFrame(frame, schema, None)


def _file_reader(
    files: list[str], options: CsvOptions, columns: tuple[str, ...]
) -> BatchesFunction:
    def read(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from read_one(files[number], options, columns)

    return read


def read_one(file: str, options: CsvOptions, columns: tuple[str, ...]) -> Batches:
    """The rows of one file, in an executor; an error of ours is the last one."""
    schema = with_errors(pa.schema([pa.field(f"p{i}", pa.string()) for i in range(len(columns))]))
    try:
        for batch in csv_batches(Path(file), options, columns):
            none = pa.nulls(batch.num_rows, pa.string())
            yield pa.record_batch([*batch.columns, none], names=schema.names)
    except FileNotFoundError:
        missing = InputError(
            f"{file} does not exist for the executors. Put the table on storage that every worker "
            "and this machine share under the same path."
        )
        yield error_row(missing, schema)
    except ShoalError as error:
        yield error_row(error, schema)


def _parquet(spark: Any, files: list[Path], columns: Sequence[str]) -> SourceFrame:
    schema, rows = _parquet_schema(files, columns)
    # names of files are literal, stars and brackets too
    reader = spark.read.option("__globPaths__", "false")
    frame = reader.parquet(*(str(file.absolute()) for file in files))
    names = list(frame.columns)
    # by position: in a session of the user's 'Age' and 'age' may be one name
    frame = frame.toDF(*(f"x{i}" for i in range(len(names))))
    chosen = [frame[f"x{names.index(name)}"].alias(f"p{i}") for i, name in enumerate(columns)]
    return SourceFrame(frame.select(*chosen), schema, rows)


def _parquet_schema(files: list[Path], columns: Sequence[str]) -> tuple[pa.Schema, int]:
    names = {file: PARQUET.names(file, DETECT) for file in files}
    require_same_names(files, names.__getitem__)
    first: pa.Schema | None = None
    rows = 0
    for file in files:
        require_columns(file, columns, names[file])
        with pq.ParquetFile(file) as parquet:
            whole = parquet.schema_arrow
            rows += parquet.metadata.num_rows
        found = pa.schema([pa.field(f"p{i}", whole.field(c).type) for i, c in enumerate(columns)])
        if first is not None and found != first:
            changed = next(c for c, a, b in zip(columns, first, found, strict=True) if a != b)
            raise InputError(
                f"{file} and {files[0]} have column '{changed}' in different types. The files of "
                "one table must have the same types."
            )
        first = first or found
    assert first is not None
    if rows == 0:
        raise no_rows(listed([str(file) for file in files], 3))
    for name, field in zip(columns, first, strict=True):
        if type_in_spark(field.type) is None:
            raise unsupported_type(str(files[0]), name, field.type)
    return first, rows


def require_columns(where: object, columns: Sequence[str], names: list[str]) -> None:
    """Raise `InputError` for the first column that does not exist."""
    for column in columns:
        if column not in names:
            raise InputError(
                f"{where} has no column '{column}'.{nearest(column, names)} It has: {listed(names)}."
            )


def no_rows(where: str) -> InputError:
    """The error for a table without rows."""
    return InputError(f"{where}: the table has no rows: there is nothing to work on.")


def write_folder(
    frame: Frame,
    target: Path,
    names: Sequence[str],
    order: Sequence[str],
    options: CsvOptions,
    rows: int,
    errors: Accumulator,
) -> int:
    """Write the frame, which has so many rows, to a new folder; returns how many were written.

    `order` are columns of the frame. The extension of the folder's name decides the format. Errors of
    ours in executors are added to `errors`.
    """
    from pyspark.sql import functions as f

    if not isinstance(format_of(target), Csv | Parquet):
        raise InputError(
            f"{target}: Spark writes Parquet and CSV folders. Name one '.parquet' or '.csv'."
        )
    columns = list(frame.columns)
    slots = max(1, -(-rows // PART_ROWS))
    slot = f.pmod(f.xxhash64(*columns), f.lit(slots)).cast("int")
    ordered = [*order, *(column for column in columns if column not in order)]
    parts = (
        frame.withColumn(SLOT, slot)
        .repartitionById(slots, SLOT)
        .sortWithinPartitions(SLOT, *ordered)
    )
    target.mkdir()
    writer = _part_writer(str(target.absolute()), tuple(names), options, errors)
    written = parts.mapInArrow(writer, "file string, rows bigint, bytes bigint").toArrow()
    if errors.value:
        return 0  # to be raised by the caller
    _check_parts(target, written)
    if not written.num_rows:
        kinds = frame.limit(0).toArrow().schema.types
        empty = pa.table([pa.array([], kind) for kind in kinds], names=list(names))
        LocalFiles().write(empty, target / part_name(0, 0, ending_of(target)), options=options)
    return sum(written["rows"].to_pylist())


def part_name(slot: int, number: int, ending: str) -> str:
    """The name of a part file: slot by slot, and within a slot one after the other."""
    return f"part-{slot:05d}-{number:03d}{ending}"


def _part_writer(
    folder: str, names: tuple[str, ...], options: CsvOptions, errors: Accumulator
) -> BatchesFunction:
    def write(batches: Batches) -> Batches:
        try:
            yield from write_parts(batches, Path(folder), names, options)
        except ShoalError as error:
            errors.add([packed(error)])

    return write


def write_parts(
    batches: Batches, folder: Path, names: tuple[str, ...], options: CsvOptions
) -> Batches:
    """Write the rows of one task in an executor: sorted by slot already, at most PART_ROWS a file."""
    waiting: list[pa.RecordBatch] = []
    at, number = -1, 0
    for batch in batches:
        for slot, piece in _by_slot(batch):
            if slot != at:
                yield from _write_part(waiting, folder, at, number, names, options)
                waiting, at, number = [], slot, 0
            while piece.num_rows:
                room = PART_ROWS - sum(each.num_rows for each in waiting)
                waiting.append(piece.slice(0, room))
                piece = piece.slice(room)
                if piece.num_rows:
                    yield from _write_part(waiting, folder, at, number, names, options)
                    waiting, number = [], number + 1
    yield from _write_part(waiting, folder, at, number, names, options)


def _by_slot(batch: pa.RecordBatch) -> list[tuple[int, pa.RecordBatch]]:
    slots = batch.column(batch.schema.get_field_index(SLOT)).to_numpy()
    rows = batch.drop_columns([SLOT])
    starts = [0, *(i + 1 for i in (slots[1:] != slots[:-1]).nonzero()[0].tolist()), len(slots)]
    return [
        (int(slots[begin]), rows.slice(begin, end - begin))
        for begin, end in pairwise(starts)
        if end > begin
    ]


def _write_part(
    waiting: list[pa.RecordBatch],
    folder: Path,
    slot: int,
    number: int,
    names: tuple[str, ...],
    options: CsvOptions,
) -> Batches:
    if not waiting:
        return
    name = part_name(slot, number, ending_of(folder))
    # a task may run twice at once: each writes its own file, and the last one to end wins
    mine = folder / f".{uuid.uuid4().hex}.{name}"
    table = pa.Table.from_batches(waiting).rename_columns(list(names))
    try:
        LocalFiles().write(table, mine, options=options)
    except (ShoalError, OSError):
        mine.unlink(missing_ok=True)
        raise InputError(
            f"{folder} could not be written by an executor. Is the disk full? The folder must be on "
            "storage that every worker and this machine share under the same path."
        ) from None
    with mine.open("rb") as stream:
        os.fsync(stream.fileno())
    size = mine.stat().st_size
    mine.replace(folder / name)
    yield pa.record_batch([[name], [table.num_rows], [size]], schema=WRITTEN)


def _check_parts(folder: Path, written: pa.Table) -> None:
    """Check that the parts of all executors are here as they were written; remove other files."""
    sizes = dict(zip(written["file"].to_pylist(), written["bytes"].to_pylist(), strict=True))
    for name, size in sizes.items():
        try:
            found = (folder / name).stat().st_size
        except FileNotFoundError:
            found = -1
        if found != size:
            raise InputError(
                f"{folder}: a part that an executor wrote is missing here, or has another size. "
                "The folder must be on storage that every worker and this machine share under the "
                "same path."
            )
    for other in folder.iterdir():
        if other.name not in sizes:
            # of a task that was interrupted
            other.unlink()
