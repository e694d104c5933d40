"""Arrow IPC files, also known as Feather 2, and Arrow streams."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.ipc

from shoal.engines.formats.base import require_columns
from shoal.engines.formats.columnar import ColumnarFormat, bare_columns, decoded
from shoal.io.csv_dialect import CsvOptions

MAGIC = b"ARROW1"


class Arrow(ColumnarFormat):
    """Arrow IPC (Feather 2) files, whose types are kept; streams are read too."""

    endings: ClassVar[tuple[str, ...]] = (".arrow", ".feather", ".ipc")
    title: ClassVar[str] = "an Arrow IPC (Feather 2) file"

    def file_schema(self, path: Path) -> pa.Schema:
        """The types of all columns."""
        with self.intact(path), pa.OSFile(str(path)) as source:
            return _opener(path)(source).schema

    def read(
        self,
        path: Path,
        options: CsvOptions,  # noqa: ARG002
        columns: Sequence[str] | None,
    ) -> pa.Table:
        """The table, or the named columns of it."""
        names = self.file_schema(path).names
        wanted = require_columns(path, names, columns)
        chosen = pa.ipc.IpcReadOptions(included_fields=[names.index(name) for name in wanted])
        with self.intact(path), pa.OSFile(str(path)) as source:
            return _opener(path)(source, options=chosen).read_all().select(wanted)

    def batches(
        self,
        path: Path,
        options: CsvOptions,  # noqa: ARG002
        columns: Sequence[str],
        size: int,
    ) -> Iterator[pa.RecordBatch]:
        """The named columns, at most `size` rows at a time; dictionaries are decoded."""
        with self.intact(path), pa.OSFile(str(path)) as source:
            for batch in _parts(_opener(path)(source)):
                for begin in range(0, len(batch), size):
                    yield decoded(batch.select(columns).slice(begin, size))

    def write(self, table: pa.Table, path: Path, options: CsvOptions) -> None:
        """Write the columns of the table and nothing else."""
        bare = bare_columns(table)
        with self.writer(path, bare.schema, options) as writer:
            writer.write_table(bare)

    @contextmanager
    def writer(
        self,
        path: Path,
        schema: pa.Schema,
        options: CsvOptions,  # noqa: ARG002
    ) -> Iterator[Any]:
        """A new file that takes the table batch by batch."""
        # an Arrow file has one dictionary per column
        unified = pa.ipc.IpcWriteOptions(unify_dictionaries=True)
        with (
            self.writing(path, schema),
            pa.ipc.new_file(str(path), schema, options=unified) as writer,
        ):
            yield writer


def _opener(path: Path) -> Any:
    """The reader of an Arrow file, which begins with a magic word, or of a stream, which does not."""
    with path.open("rb") as stream:
        magic = stream.read(len(MAGIC))
    return pa.ipc.open_file if magic == MAGIC else pa.ipc.open_stream


def _parts(opened: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(opened, pa.ipc.RecordBatchFileReader):
        yield from map(opened.get_batch, range(opened.num_record_batches))
    else:
        yield from opened
