"""Tables in files, read by the executors.

Parquet is read by Arrow, row group by row group, and by Spark where SQL is asked of it or Arrow has
other types. CSV is read by our own reader. Spark's CSV reader takes an empty text for a missing one,
drops blanks, accepts rows of the wrong length and by default splits records at line ends inside quotes.
Ours is the one of the local engine, so a file means the same on both; its unit of work is a file.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.duckdb.csv import csv_batches
from shoal.engines.duckdb.scans import FileScan
from shoal.engines.formats.base import FileFormat
from shoal.engines.formats.csv import Csv
from shoal.engines.formats.parquet import Parquet
from shoal.engines.sources import files_of, require_same_names
from shoal.engines.spark.arrow import (
    Batches,
    BatchesFunction,
    error_row,
    type_in_spark,
    unsupported_type,
    with_errors,
)
from shoal.engines.spark.tables import Frame
from shoal.errors import InputError, ShoalError, listed, nearest
from shoal.io.csv_dialect import DETECT, CsvOptions

CSV, PARQUET = Csv(), Parquet()
PART_BYTES = 128_000_000
"""Bytes of CSV in one part of a frame, about."""


@dataclass(frozen=True)
class SourceFrame:
    """A table in files, as a Spark frame."""

    make: Callable[[], Frame]
    """Makes the frame."""
    schema: pa.Schema
    rows: int | None
    """Where reading them again is so cheap that the frame need not be kept: their number. A frame that
    is to be kept has a column of errors."""
    scan: FileScan | None = None
    """What reads the files without Spark, where they are Parquet."""


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
    return SourceFrame(lambda: frame, schema, None)


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

    def make() -> Frame:
        # names of files are literal, stars and brackets too
        reader = spark.read.option("__globPaths__", "false")
        frame = reader.parquet(*(str(file.absolute()) for file in files))
        names = list(frame.columns)
        # by position: in a session of the user's 'Age' and 'age' may be one name
        frame = frame.toDF(*(f"x{i}" for i in range(len(names))))
        chosen = [frame[f"x{names.index(name)}"].alias(f"p{i}") for i, name in enumerate(columns)]
        return frame.select(*chosen)

    places = {f"p{i}": column for i, column in enumerate(columns)}
    scan = FileScan([file.absolute() for file in files], places)
    return SourceFrame(make, schema, rows, scan)


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
