"""Parquet files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal.engines.formats.base import BatchWriter, require_columns
from shoal.engines.formats.columnar import ColumnarFormat, bare_columns, decoded
from shoal.io.csv_dialect import CsvOptions

COMPRESSION = "zstd"
BATCH = 1 << 16
"""Rows whose texts are counted at a time."""


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

    def text_size(self, path: Path, most: int) -> int:
        """Texts of a dictionary count as often as rows have them: by the longest one, unless that is
        above `most`, or else row by row."""
        with self.intact(path):
            about = pq.read_metadata(path)
            parts = [about.row_group(i) for i in range(about.num_row_groups)]
            chunks = [
                (i, part.num_rows, part.column(j))
                for i, part in enumerate(parts)
                for j in range(part.num_columns)
            ]
            stored = sum(chunk.total_uncompressed_size for _, _, chunk in chunks)
            shared = [
                (i, rows, chunk)
                for i, rows, chunk in chunks
                if chunk.physical_type == "BYTE_ARRAY" and chunk.has_dictionary_page
            ]
            if stored + sum(n * chunk.total_uncompressed_size for _, n, chunk in shared) <= most:
                return stored
            names = list(dict.fromkeys(chunk.path_in_schema for _, _, chunk in shared))
            with pq.ParquetFile(path, read_dictionary=names, pre_buffer=False) as file:
                longest = (n * _longest_text(file, i, chunk) for i, n, chunk in shared)
                if (bound := stored + sum(longest)) <= most:
                    return bound
                for i, _, chunk in shared:
                    for batch in file.iter_batches(BATCH, [i], [chunk.path_in_schema]):
                        stored += _text_bytes(batch)
                        if stored > most:
                            return stored
        return stored

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


def _longest_text(file: pq.ParquetFile, part: int, chunk: pq.ColumnChunkMetaData) -> int:
    """The bytes of the longest text in the dictionary of a column, which comes with its first row."""
    batch = next(file.iter_batches(1, [part], [chunk.path_in_schema]), None)
    found = [] if batch is None else [c for c in batch.columns if pa.types.is_dictionary(c.type)]
    most = [pc.max(pc.binary_length(column.dictionary)).as_py() for column in found]
    return max((n for n in most if n is not None), default=0)


def _text_bytes(batch: pa.RecordBatch) -> int:
    """The bytes of all texts of the rows; none of nested columns."""
    found = [column for column in batch.columns if pa.types.is_dictionary(column.type)]
    lengths = [pc.binary_length(column.dictionary).take(column.indices) for column in found]
    return sum(pc.sum(one).as_py() or 0 for one in lengths)
