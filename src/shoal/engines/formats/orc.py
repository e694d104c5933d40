"""ORC files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from shoal.engines.formats.base import BatchWriter, require_columns
from shoal.engines.formats.columnar import ColumnarFormat, bare_columns
from shoal.io.csv_dialect import CsvOptions


class Orc(ColumnarFormat):
    """ORC files, whose types are kept as far as ORC has them."""

    endings: ClassVar[tuple[str, ...]] = (".orc",)
    title: ClassVar[str] = "an ORC file"
    packages: ClassVar[tuple[str, ...]] = ("pyarrow.orc",)
    writer_packages: ClassVar[tuple[str, ...]] = ("pyarrow.orc",)
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
            yield _Batches(writer, schema)

    def write(self, table: pa.Table, path: Path, options: CsvOptions) -> None:
        """Write the columns of the table and nothing else."""
        bare = bare_columns(table)
        plain = pa.table(
            [
                column.cast(column.type.value_type)
                if pa.types.is_dictionary(column.type)
                else column
                for column in bare.columns
            ],
            names=bare.column_names,
        )
        with self.writer(path, plain.schema, options) as writer:
            for batch in plain.to_batches() or [plain.schema.empty_table().to_batches()[0]]:
                writer.write_batch(batch)


class _Batches:
    """An ORC writer, which takes tables."""

    def __init__(self, writer: Any, schema: pa.Schema) -> None:
        self._writer, self._schema = writer, schema

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        self._writer.write(pa.Table.from_batches([batch], self._schema))


def _opened(path: Path) -> Any:
    from pyarrow import orc

    return orc.ORCFile(str(path))
