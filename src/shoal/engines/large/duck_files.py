"""Files into tables of a DuckDB and back, a piece at a time."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.csv_read import check_separators, opened
from shoal.engines.csv_write import copy_csv
from shoal.engines.duck import Connection
from shoal.errors import InputError, listed
from shoal.io.columnar import columnar_batches, columnar_schema
from shoal.io.csv_dialect import CsvOptions
from shoal.io.formats import Format, check_readable, format_of

BATCH = 1 << 17
Through = Callable[[int], None]
"""Called with how many rows have gone through."""


def read_into(
    con: Connection,
    name: str,
    sources: Sequence[Path],
    columns: Sequence[str],
    options: CsvOptions,
    through: Through,
) -> pa.Schema:
    """A table of the named columns of all files, as p0, p1, ...; gives their types in the files."""
    schema: pa.Schema | None = None
    rows = 0
    con.execute(f"DROP TABLE IF EXISTS {name}")
    for path in sources:
        check_readable(path)
        kind = format_of(path)
        found = _schema(path, kind, columns)
        if schema is None:
            schema = found
            _create(con, name, path, columns, schema)
        elif schema != found:
            raise _unlike(sources[0], path, columns, schema, found)
        if kind is Format.CSV:
            rows += _read_csv(con, name, path, columns, options)
            through(rows)
        else:
            rows = _read_columnar(con, name, path, kind, columns, schema, through, rows)
    assert schema is not None, "there is at least one file"
    return schema


def _schema(path: Path, kind: Format, columns: Sequence[str]) -> pa.Schema:
    types = (
        [pa.string()] * len(columns)
        if kind is Format.CSV
        else columnar_schema(path, kind, columns).types
    )
    return pa.schema([pa.field(f"p{i}", kind) for i, kind in enumerate(types)])


def _create(
    con: Connection, name: str, path: Path, columns: Sequence[str], schema: pa.Schema
) -> None:
    for column, field in zip(columns, schema, strict=True):
        try:
            con.from_arrow(pa.schema([field]).empty_table()).fetchall()
        except (duckdb.Error, pa.ArrowException):
            raise InputError(
                f"{path}: column '{column}' is of type {field.type}, which large runs cannot hold. "
                "Cast it to text or numbers first."
            ) from None
    con.register("part", schema.empty_table())
    con.execute(f"CREATE TABLE {name} AS SELECT * FROM part")
    con.unregister("part")


def _unlike(
    first: Path, path: Path, columns: Sequence[str], schema: pa.Schema, found: pa.Schema
) -> InputError:
    triples = zip(columns, schema.types, found.types, strict=True)
    unlike = [f"'{c}' ({one} and {other})" for c, one, other in triples if one != other]
    return InputError(
        f"{first} and {path} are not of one table: the types differ in {listed(unlike)}. Write them "
        "with the same types."
    )


def _read_csv(
    con: Connection, name: str, path: Path, columns: Sequence[str], options: CsvOptions
) -> int:
    with opened(path, options) as file:
        places = ", ".join(map(file.place, columns))
        insert: Callable[[str], int] = lambda sql: con.execute(sql).fetchone()[0]  # noqa: E731
        rows = file.through(insert, f"INSERT INTO {name} SELECT {places} FROM {{file}}")
        check_separators(file, rows)
    return rows


def _read_columnar(
    con: Connection,
    name: str,
    path: Path,
    kind: Format,
    columns: Sequence[str],
    schema: pa.Schema,
    through: Through,
    rows: int,
) -> int:
    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal rows
        for batch in columnar_batches(path, kind, columns, BATCH):
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
            rows += len(batch)
            through(rows)

    con.register("part", pa.RecordBatchReader.from_batches(schema, batches()))
    try:
        con.execute(f"INSERT INTO {name} SELECT * FROM part")
    finally:
        con.unregister("part")
    return rows


def write_from(
    con: Connection,
    sql: str,
    target: Path,
    names: Sequence[str],
    order: Sequence[str],
    options: CsvOptions,
    through: Through,
) -> None:
    """Write an answer to a file, its columns renamed, rows ordered; answers come in order now."""
    columns = con.sql(f"SELECT * FROM ({sql}) LIMIT 0").columns
    ordered = f"SELECT * FROM ({sql})" + (f" ORDER BY {', '.join(order)}" if order else "")
    kind = format_of(target)
    if kind is Format.CSV:
        copy_csv(con, f"({ordered})", columns, names, target, options)
        return
    reader = con.sql(ordered).to_arrow_reader(BATCH)
    schema = pa.schema([f.with_name(n) for f, n in zip(reader.schema, names, strict=True)])
    try:
        rows = 0
        with _writer(target, kind, schema) as writer:
            for batch in reader:
                writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
                rows += len(batch)
                through(rows)
    except OSError:
        raise InputError(f"{target} could not be written. Is the disk full?") from None


def _writer(target: Path, kind: Format, schema: pa.Schema) -> pq.ParquetWriter:
    if kind is Format.PARQUET:
        return pq.ParquetWriter(target, schema, compression="zstd")
    return pa.ipc.new_file(str(target), schema)
