"""ORC files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.formats.base import BatchWriter, require_columns
from shoal.engines.formats.columnar import ColumnarFormat, bare_columns
from shoal.hierarchy.text import text_of
from shoal.io.csv_dialect import CsvOptions


class Orc(ColumnarFormat):
    """ORC files, whose types are kept as far as ORC has them."""

    endings: ClassVar[tuple[str, ...]] = (".orc",)
    title: ClassVar[str] = "an ORC file"
    packages: ClassVar[tuple[str, ...]] = ("pyarrow.orc",)
    writer_packages: ClassVar[tuple[str, ...]] = ("pyarrow.orc",)
    costly: ClassVar[bool] = True
    exact: ClassVar[bool] = False

    def file_schema(self, path: Path) -> pa.Schema:
        """The types of all columns."""
        with self.intact(path):
            return _opened(path).schema

    def batches(
        self,
        path: Path,
        options: CsvOptions,  # noqa: ARG002
        columns: Sequence[str],
        size: int,
    ) -> Iterator[pa.RecordBatch]:
        """The named columns, stripe by stripe."""
        with self.intact(path):
            file = _opened(path)
            require_columns(path, file.schema.names, columns)
            for stripe in range(file.nstripes):
                batch = file.read_stripe(stripe, columns=list(columns)).select(columns)
                for begin in range(0, len(batch), size):
                    yield batch.slice(begin, size)

    def rows(self, path: Path) -> int:
        """How many rows the file says it has."""
        with self.intact(path):
            return int(_opened(path).nrows)

    @contextmanager
    def writer(
        self,
        path: Path,
        schema: pa.Schema,
        options: CsvOptions,  # noqa: ARG002
    ) -> Iterator[BatchWriter]:
        """A new file that takes the table batch by batch."""
        from pyarrow import orc

        with self.writing(path, schema), orc.ORCWriter(str(path), compression="zstd") as writer:
            yield _Batches(writer)

    def write(self, table: pa.Table, path: Path, options: CsvOptions) -> None:
        """Write the columns of the table and nothing else."""
        bare = bare_columns(table)
        with self.writer(path, bare.schema, options) as writer:
            for batch in bare.to_batches():
                writer.write_batch(batch)


class _Batches:
    """An ORC writer, which takes tables."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        self._writer.write(pa.Table.from_batches([_plain(batch)]))


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The columns in types that ORC has, times of day and durations as text; NaN is missing."""
    types = pa.types
    columns = [
        text_of(column)
        if types.is_time(column.type) or types.is_duration(column.type)
        else pc.if_else(pc.is_nan(column), None, column)
        if types.is_float32(column.type) or types.is_float64(column.type)
        else column.cast(column.type.value_type)
        if types.is_dictionary(column.type)
        else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _opened(path: Path) -> Any:
    from pyarrow import orc

    return orc.ORCFile(str(path))
