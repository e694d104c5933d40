"""A folder for the rows of one session, removed when the session ends, however it ends.

What ends with the process is removed then. What a kill -9 or a power cut left is removed by the next
session: a file in the folder is locked as long as its process lives, and no longer.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal.engines.base import BatchFunction, Listener, TableFunction, Transfer, no_listener
from shoal.engines.duckdb.connection import Connection, connected, interruptible, settings
from shoal.engines.duckdb.csv import check_separators, copy_csv, opened
from shoal.errors import InputError, listed
from shoal.io.columnar import columnar_batches, columnar_schema
from shoal.io.csv_dialect import CsvOptions
from shoal.io.formats import Format, check_readable, format_of

try:
    import fcntl
except ImportError:  # Windows; there nothing is locked, and nothing of others removed
    fcntl = None  # type: ignore[assignment]

PREFIX = "shoal-"
OWNED = "in-use"


def private_folder(owner: object, place: Path | None = None) -> tuple[Path, Callable[[], object]]:
    """A new folder that only this user may read, and what removes it; forgetting its owner does too.

    place: where to make it; the system's place for temporary files if not given.
    """
    _remove_stale(Path(place or tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    lock = os.open(folder / f"{OWNED}.new", os.O_RDWR | os.O_CREAT, 0o600)
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)
    # under its name only now: one that can be locked by another is nobody's
    (folder / f"{OWNED}.new").rename(folder / OWNED)
    return folder, weakref.finalize(owner, _remove, folder, lock, os.getpid())


def _remove(folder: Path, lock: int, owned_by: int) -> None:
    if os.getpid() == owned_by:  # not a forked child, whose parent works on
        shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _remove_stale(place: Path) -> None:
    """Remove folders of this user whose process is gone."""
    if fcntl is None:
        return
    for folder in place.glob(f"{PREFIX}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / OWNED, os.O_RDWR)
        except OSError:  # not one of these, or gone meanwhile
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # in use
            pass
        finally:
            os.close(lock)


# Files into tables of a DuckDB and back, a piece at a time.


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


# A session on one machine: DuckDB with its tables in a private file, working out of core.


class DuckSession:
    """Tables in a temporary database. Functions run in this process, one call at a time."""

    def __init__(self, memory: str | None = None, folder: Path | None = None) -> None:
        """memory: the most DuckDB may take ('2GB'); its own default if not given.

        folder: where the temporary files go; the system's place for them if not given.
        """
        self.listener: Listener = no_listener
        self._folder, self._remove = private_folder(self, folder)
        config = settings() | {
            "preserve_insertion_order": False,
            "temp_directory": str(self._folder / "spilled"),
        }
        if memory is not None:
            config["memory_limit"] = memory
        self._con: Any = connected(str(self._folder / "rows.duckdb"), config)

    def read(
        self, name: str, sources: Sequence[Path], columns: Sequence[str], options: CsvOptions
    ) -> pa.Schema:
        """Make a table of the named columns of some files; the types are those of the files, which
        the table may hold as wider ones."""
        with self._said():
            return read_into(self._con, name, sources, columns, options, self._through)

    def query(self, sql: str) -> pa.Table:
        """A small answer."""
        with self._said():
            return self._con.sql(sql).to_arrow_table()

    def keep(self, name: str, sql: str) -> None:
        """Make a table of an answer."""
        with self._said():
            self._con.execute(f"CREATE OR REPLACE TABLE {name} AS {sql}")

    def map(
        self,
        name: str,
        sql: str,
        function: BatchFunction,
        schema: pa.Schema,
        once: bool = False,  # noqa: ARG002 - a table has to be made
    ) -> None:
        """Make a table of an answer, batch by batch through a function."""
        with self._said():
            self._fill(name, map(function, self._batches(sql)), schema)

    def map_groups(
        self,
        name: str,
        sql: str,
        key: str,
        function: TableFunction,
        schema: pa.Schema,
        sizes: Sequence[int],  # noqa: ARG002 - keys are treated one by one
        once: bool = False,  # noqa: ARG002
    ) -> None:
        """Make a table of an answer, key by key through a function; one key's rows are in memory."""
        with self._said(), self._ordered():
            ordered = self._batches(f"SELECT * FROM ({sql}) ORDER BY {key}")
            self._fill(name, map(function, _groups(ordered, key)), schema)

    def drop(self, name: str) -> None:
        """Forget a table."""
        self._con.execute(f"DROP TABLE IF EXISTS {name}")

    def write(
        self,
        sql: str,
        target: Path,
        names: Sequence[str],
        order: Sequence[str],
        options: CsvOptions,
        rows: int,  # noqa: ARG002 - they are written as they come
    ) -> None:
        """Write an answer to a file, rows in order."""
        with self._said(), self._ordered():
            write_from(self._con, sql, target, names, order, options, self._through)

    def close(self) -> None:
        """End the session and remove its files."""
        self._con.close()
        self._remove()

    def _batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """The rows of an answer as they come, never all at once."""
        cursor, rows = self._con.cursor(), 0
        try:
            for batch in cursor.sql(sql).to_arrow_reader(BATCH):
                yield batch
                rows += len(batch)
                self._through(rows)
        finally:
            cursor.close()

    def _through(self, rows: int) -> None:
        self.listener(Transfer(rows))

    def _fill(
        self, name: str, parts: Iterable[pa.RecordBatch | pa.Table], schema: pa.Schema
    ) -> None:
        """A table of these parts, under its name only when it is whole."""
        cursor, new = self._con.cursor(), f"{name}_new"
        try:
            # Each step for itself: where answers come in order, DuckDB 2.0 loses rows that are put
            # into a table of the same transaction.
            cursor.register("part", schema.empty_table())
            cursor.execute(f"CREATE OR REPLACE TABLE {new} AS SELECT * FROM part")
            for part in _gathered(parts, schema):
                cursor.register("part", part)
                cursor.execute(f"INSERT INTO {new} SELECT * FROM part")
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            cursor.execute(f"ALTER TABLE {new} RENAME TO {name}")
        except BaseException:
            cursor.execute(f"DROP TABLE IF EXISTS {new}")
            raise
        finally:
            cursor.close()

    @contextmanager
    def _ordered(self) -> Iterator[None]:
        """Let answers come in the order asked for: else DuckDB 2.0 hands out their parts in any."""
        self._con.execute("SET preserve_insertion_order = true")
        try:
            yield
        finally:
            self._con.execute("SET preserve_insertion_order = false")

    @contextmanager
    def _said(self) -> Iterator[None]:
        """DuckDB's limits in our words: its own may quote a row."""
        try:
            with interruptible():
                yield
        except duckdb.OutOfMemoryException:
            raise InputError(
                "The work does not fit under the memory limit, even with rows on disk. Raise the "
                "limit, or free space for temporary files."
            ) from None
        except duckdb.IOException:
            raise InputError(
                f"The temporary files in {self._folder.parent} could not be written. Is the disk "
                "full?"
            ) from None


def _groups(batches: Iterable[pa.RecordBatch], key: str) -> Iterator[pa.Table]:
    """The rows of each key together; they come ordered by it."""
    held: list[pa.RecordBatch] = []
    seen = set()
    for batch in batches:
        column = batch.column(key)
        changes = pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
        edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(batch)]
        for begin, end in pairwise(edges):
            if held and held[-1].column(key)[0] != column[begin]:
                yield pa.Table.from_batches(held)
                held = []
            if not held:
                value = column[begin].as_py()
                assert value not in seen, "the rows of a key come together"
                seen.add(value)
            held.append(batch.slice(begin, end - begin))
    if held:
        yield pa.Table.from_batches(held)


def _gathered(parts: Iterable[pa.RecordBatch | pa.Table], schema: pa.Schema) -> Iterator[pa.Table]:
    """The parts, small ones put together."""
    held: list[pa.Table] = []
    for part in parts:
        table = pa.Table.from_batches([part]) if isinstance(part, pa.RecordBatch) else part
        held.append(table.select(schema.names).cast(schema))
        if sum(map(len, held)) >= BATCH:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)
