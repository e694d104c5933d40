"""Parquet and Arrow files, whose types are preserved.

Only the columns are written: metadata of the input (pandas stores its index there, other tools their
own notes) could disclose what is not to be published.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from shoal.errors import InputError, listed, nearest
from shoal.io.arrow import compact_dictionary, one_chunk, without_metadata
from shoal.io.formats import Format

ARROW_MAGIC = b"ARROW1"


def read_columnar(path: Path, kind: Format, columns: Sequence[str] | None) -> pa.Table:
    """The table, or the named columns of it."""
    with _intact(path, kind):
        reader = _read_parquet if kind is Format.PARQUET else _read_arrow
        return reader(path, columns)


def columnar_names(path: Path, kind: Format) -> list[str]:
    """The columns of the file, without reading its rows."""
    with _intact(path, kind):
        names = pq.read_schema(path).names if kind is Format.PARQUET else _arrow_names(path)
        return _wanted(path, names, None)


def parquet_rows(path: Path) -> int:
    """How many rows a Parquet file says it has."""
    with _intact(path, Format.PARQUET):
        return int(pq.read_metadata(path).num_rows)


@contextmanager
def _intact(path: Path, kind: Format) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, EOFError):
        # the library's message may quote bytes of the file, so it is not passed on
        what = "a Parquet file" if kind is Format.PARQUET else "an Arrow IPC (Feather 2) file"
        raise InputError(
            f"{path} is not {what}, or it is damaged. Write it again, or give the file the "
            "extension of its format."
        ) from None


def _read_parquet(path: Path, columns: Sequence[str] | None) -> pa.Table:
    with pq.ParquetFile(path) as file:
        wanted = _wanted(path, file.schema_arrow.names, columns)
        # a name with a dot also selects a nested column; the second selection drops it
        return file.read(columns=wanted).select(wanted)


def _read_arrow(path: Path, columns: Sequence[str] | None) -> pa.Table:
    names = _arrow_names(path)
    wanted = _wanted(path, names, columns)
    chosen = pa.ipc.IpcReadOptions(included_fields=[names.index(name) for name in wanted])
    with pa.OSFile(str(path)) as source:
        return _opener(path)(source, options=chosen).read_all().select(wanted)


def _arrow_names(path: Path) -> list[str]:
    with pa.OSFile(str(path)) as source:
        return list(_opener(path)(source).schema.names)


def _opener(path: Path) -> Any:
    """The reader of an Arrow file, which begins with a magic word, or of a stream, which does not."""
    with path.open("rb") as stream:
        magic = stream.read(len(ARROW_MAGIC))
    return pa.ipc.open_file if magic == ARROW_MAGIC else pa.ipc.open_stream


def _wanted(path: Path, names: list[str], columns: Sequence[str] | None) -> list[str]:
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise InputError(f"{path} has more than one column named {listed(doubled)}. Rename them.")
    missing = [column for column in columns or () if column not in names]
    if missing:
        raise InputError(
            f"{path} has no column '{missing[0]}'.{nearest(missing[0], names)} "
            f"It has: {listed(names)}."
        )
    return names if columns is None else list(columns)


def write_columnar(table: pa.Table, path: Path, kind: Format) -> None:
    """Write the columns of the table and nothing else."""
    bare = without_metadata(table)
    for i, field in enumerate(bare.schema):
        if pa.types.is_dictionary(field.type):
            bare = bare.set_column(i, field, compact_dictionary(one_chunk(bare.column(i))))
    try:
        if kind is Format.PARQUET:
            pq.write_table(bare, path, compression="zstd")
        else:
            _write_arrow(bare, path)
    except OSError:
        raise InputError(f"{path} could not be written. Is the disk full?") from None
    except pa.ArrowException:
        kinds = listed(sorted({str(kind) for kind in bare.schema.types}))
        raise InputError(
            f"{path}: the format does not support a column of one of the types {kinds}. Cast it "
            "first, or write another format."
        ) from None


def _write_arrow(table: pa.Table, path: Path) -> None:
    # an Arrow file has one dictionary per column
    options = pa.ipc.IpcWriteOptions(unify_dictionaries=True)
    with pa.ipc.new_file(str(path), table.schema, options=options) as writer:
        writer.write_table(table)


def columnar_schema(path: Path, kind: Format, columns: Sequence[str]) -> pa.Schema:
    """The types of the named columns, without reading rows."""
    with _intact(path, kind):
        if kind is Format.PARQUET:
            schema = pq.read_schema(path)
        else:
            with pa.OSFile(str(path)) as source:
                schema = _opener(path)(source).schema
        _wanted(path, schema.names, columns)
        return pa.schema([_plain(schema.field(name)) for name in columns])


def columnar_batches(
    path: Path, kind: Format, columns: Sequence[str], size: int
) -> Iterator[pa.RecordBatch]:
    """The named columns, at most `size` rows at a time; dictionaries are decoded."""
    with _intact(path, kind):
        if kind is Format.PARQUET:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(size, columns=list(columns)):
                    yield _decoded(batch.select(columns))
            return
        with pa.OSFile(str(path)) as source:
            opened = _opener(path)(source)
            whole = hasattr(opened, "num_record_batches")
            parts = map(opened.get_batch, range(opened.num_record_batches)) if whole else opened
            for batch in parts:
                for begin in range(0, len(batch), size):
                    yield _decoded(batch.select(columns).slice(begin, size))


def _plain(field: pa.Field) -> pa.Field:
    return field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field


def _decoded(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)
