"""Parquet files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.formats.base import BatchWriter, require_columns
from shoal.engines.formats.columnar import ColumnarFormat, bare_columns, decoded
from shoal.io.csv_dialect import CsvOptions

COMPRESSION = "zstd"


class Parquet(ColumnarFormat):
    """Parquet files, whose types are kept."""

    endings: ClassVar[tuple[str, ...]] = (".parquet", ".pq")
    title: ClassVar[str] = "a Parquet file"
    keeps_types: ClassVar[bool] = True

    def file_schema(self, path: Path) -> pa.Schema:
        """The types of all columns."""
        with self.intact(path):
            return pq.read_schema(path)

    def read(
        self,
        path: Path,
        options: CsvOptions,  # noqa: ARG002
        columns: Sequence[str] | None,
    ) -> pa.Table:
        """The table, or the named columns of it."""
        with self.intact(path), pq.ParquetFile(path) as file:
            wanted = require_columns(path, file.schema_arrow.names, columns)
            # a name with a dot also selects a nested column; the second selection drops it
            return file.read(columns=wanted).select(wanted)

    def batches(
        self,
        path: Path,
        options: CsvOptions,  # noqa: ARG002
        columns: Sequence[str],
        size: int,
    ) -> Iterator[pa.RecordBatch]:
        """The named columns, at most `size` rows at a time; dictionaries are decoded."""
        with self.intact(path), pq.ParquetFile(path) as file:
            for batch in file.iter_batches(size, columns=list(columns)):
                yield decoded(batch.select(columns))

    def rows(self, path: Path) -> int:
        """How many rows the file says it has."""
        with self.intact(path):
            return int(pq.read_metadata(path).num_rows)

    def write(self, table: pa.Table, path: Path, options: CsvOptions) -> None:  # noqa: ARG002
        """Write the columns of the table and nothing else."""
        bare = bare_columns(table)
        with self.writing(path, bare.schema):
            pq.write_table(bare, path, compression=COMPRESSION)

    @contextmanager
    def writer(
        self,
        path: Path,
        schema: pa.Schema,
        options: CsvOptions,  # noqa: ARG002
    ) -> Iterator[BatchWriter]:
        """A new file that takes the table batch by batch."""
        with (
            self.writing(path, schema),
            pq.ParquetWriter(path, schema, compression=COMPRESSION) as writer,
        ):
            yield writer
