"""Tables in files, read by the executors.

Parquet is read by Arrow, row group by row group, and by Spark where SQL is asked of it or Arrow has
other types. CSV is read once, by our own reader, and kept as packages. Spark's CSV reader takes an empty
text for a missing one, drops blanks, accepts rows of the wrong length and by default splits records at
line ends inside quotes. Ours is the one of the local engine, so a file means the same on both; its unit
of work is a file.
"""

from collections.abc import Callable, Iterator, Sequence
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
from shoal.engines.spark.arrow import Batches, type_in_spark, unsupported_type
from shoal.engines.spark.packages import Opening, Rdd, Source, exchanged, opened, without_file
from shoal.engines.spark.row_work import gathering, scattering
from shoal.engines.spark.tables import Frame
from shoal.errors import InputError, listed, nearest
from shoal.io.csv_dialect import DETECT, CsvOptions

CSV, PARQUET = Csv(), Parquet()
PART_BYTES = 128_000_000
"""Bytes of CSV in one part of a table, about."""


@dataclass(frozen=True)
class ParquetTable:
    """A table in Parquet files. To read them again is so cheap that its rows need not be kept."""

    schema: pa.Schema
    rows: int
    scan: FileScan
    """Reads the files without Spark."""
    make: Callable[[], Frame]
    """Makes a frame of them."""


@dataclass(frozen=True)
class CsvTable:
    """A table in CSV files."""

    schema: pa.Schema
    packages: Rdd


def read_files(
    spark: Any, sources: Sequence[Path], columns: Sequence[str], options: CsvOptions, parts: int
) -> ParquetTable | CsvTable:
    """The named columns as p0, p1, ...; `parts` is how many tasks run at once."""
    files, kind = files_of(sources)
    _require_format(files, kind)
    if isinstance(kind, Csv):
        return _csv(spark, files, columns, options, parts)
    return _parquet(spark, files, columns)


def check_files(sources: Sequence[Path], columns: Sequence[str], options: CsvOptions) -> None:
    """Raise what `read_files` would raise, as far as that can be checked without Spark."""
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
) -> CsvTable:
    options = _csv_options(files, columns, options)
    names = [str(file.absolute()) for file in files]
    rows = Source(
        spark.sparkContext.parallelize(names, len(names)), csv_rows(options, tuple(columns))
    )
    if len(files) < parts:
        slots = max(parts, sum(file.stat().st_size for file in files) // PART_BYTES)
        rows = Source(exchanged(rows.run(scattering(slots)), slots), opened(None, coded=False))
    schema = pa.schema([pa.field(f"p{i}", pa.string()) for i in range(len(columns))])
    return CsvTable(schema, rows.run(gathering))


def csv_rows(options: CsvOptions, columns: tuple[str, ...]) -> Opening:
    """The rows of files, in an executor."""

    def batches(files: Iterator[str]) -> Batches:
        for file in files:
            try:
                yield from csv_batches(Path(file), options, columns)
            except FileNotFoundError:
                raise without_file(file) from None

    return batches


def _parquet(spark: Any, files: list[Path], columns: Sequence[str]) -> ParquetTable:
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
    return ParquetTable(schema, rows, scan, make)


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
