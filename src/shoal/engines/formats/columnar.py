"""What Parquet, Arrow and ORC files share: types are kept, and only columns are written.

Metadata of the input (pandas stores its index there, other tools their own notes) could disclose what is
not to be published.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from shoal.engines.formats.base import FileFormat, require_columns
from shoal.errors import InputError, listed
from shoal.io.arrow import compact_dictionary, one_chunk, without_metadata
from shoal.io.commit import final_path
from shoal.io.csv_dialect import CsvOptions


class ColumnarFormat(FileFormat):
    """A format that stores columns with their types."""

    def names(self, path: Path, options: CsvOptions) -> list[str]:  # noqa: ARG002
        """The columns of the file, without reading its rows."""
        return require_columns(path, self.file_schema(path).names, None)

    def schema(
        self,
        path: Path,
        options: CsvOptions,  # noqa: ARG002
        columns: Sequence[str],
    ) -> pa.Schema:
        """The types of the named columns, without reading rows."""
        schema = self.file_schema(path)
        require_columns(path, schema.names, columns)
        return pa.schema([_plain(schema.field(name)) for name in columns])

    @abstractmethod
    def file_schema(self, path: Path) -> pa.Schema:
        """The types of all columns."""

    @contextmanager
    def intact(self, path: Path) -> Iterator[None]:
        """Raise the errors of a damaged file as `InputError`."""
        try:
            yield
        except (pa.ArrowException, OSError, EOFError):
            # the library's message may quote bytes of the file, so it is not passed on
            raise self.damaged(path) from None

    @contextmanager
    def writing(self, path: Path, schema: pa.Schema) -> Iterator[None]:
        """Raise the errors of writing as `InputError`."""
        try:
            yield
        except OSError:
            raise InputError(
                f"{final_path(path)} could not be written. Is the disk full?"
            ) from None
        except pa.ArrowException:
            kinds = listed(sorted({str(kind) for kind in schema.types}))
            raise InputError(
                f"{final_path(path)}: the format does not support a column of one of the types {kinds}. "
                "Cast it first, or write another format."
            ) from None


def bare_columns(table: pa.Table) -> pa.Table:
    """The table without metadata; dictionaries have only the values that occur."""
    bare = without_metadata(table)
    for i, field in enumerate(bare.schema):
        if pa.types.is_dictionary(field.type):
            bare = bare.set_column(i, field, compact_dictionary(one_chunk(bare.column(i))))
    return bare


def decoded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch without dictionaries."""
    columns = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _plain(field: pa.Field) -> pa.Field:
    return field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
