"""CSV files: every column is text, and every byte of a value is kept."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from shoal.engines.formats.base import FileFormat, require_columns
from shoal.io.csv_dialect import CsvOptions, header_names


class Csv(FileFormat):
    """CSV files with any separator, quote and encoding, also gzipped.

    The work is done by DuckDB (`engines/duckdb/csv.py`); `io/csv_dialect.py` has the dialect.
    """

    endings: ClassVar[tuple[str, ...]] = (
        ".csv",
        ".tsv",
        ".txt",
        ".csv.gz",
        ".tsv.gz",
        ".txt.gz",
    )
    title: ClassVar[str] = "a CSV file"
    takes_categories: ClassVar[bool] = True
    in_lines: ClassVar[bool] = True

    def settle(
        self, files: Sequence[Path], options: CsvOptions
    ) -> tuple[CsvOptions, tuple[str, ...]]:
        """The dialect of the files, detected where not given, and warnings about guesses."""
        from shoal.engines.duckdb.csv import settle

        return settle(files[0], options, files[1:])

    def names(self, path: Path, options: CsvOptions) -> list[str]:
        """The column names in the first line."""
        return header_names(path, self.settle([path], options)[0])

    def schema(self, path: Path, options: CsvOptions, columns: Sequence[str]) -> pa.Schema:
        """All columns are text."""
        require_columns(path, self.names(path, options), columns)
        return pa.schema([pa.field(name, pa.string()) for name in columns])

    def batches(
        self, path: Path, options: CsvOptions, columns: Sequence[str], size: int
    ) -> Iterator[pa.RecordBatch]:
        """The named columns as text. An error may be raised only after rows were returned."""
        from shoal.engines.duckdb.csv import csv_batches

        for batch in csv_batches(path, options, columns, size):
            yield pa.RecordBatch.from_arrays(batch.columns, list(columns))

    def read(self, path: Path, options: CsvOptions, columns: Sequence[str] | None) -> pa.Table:
        """The table, its columns as text."""
        from shoal.engines.duckdb.csv import read_csv

        return read_csv(path, options, columns)

    def read_coded(
        self, path: Path, options: CsvOptions, columns: Sequence[str] | None
    ) -> pa.Table:
        """The same; texts of large files may have codes."""
        from shoal.engines.duckdb.csv import read_csv

        return read_csv(path, options, columns, coded=True)

    def write(self, table: pa.Table, path: Path, options: CsvOptions) -> None:
        """Write the table as UTF-8 text in the dialect of `options`."""
        from shoal.engines.duckdb.csv import write_csv

        write_csv(table, path, options)
