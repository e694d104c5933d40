"""A DuckDB session: tables in a private file on disk, for tables larger than memory.

The file is in a folder that only this user may read and that is removed with the session. What a
kill -9 or a power cut left is removed by the next session: a file in the folder is locked as long as its
process lives.
"""

import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal import interruption
from shoal.engines.database.connections import feeding
from shoal.engines.database.staging import StagedTable, Stored, open_table
from shoal.engines.duckdb.connection import Connection, connect, interruptible, settings
from shoal.engines.duckdb.csv import check_separators, copy_csv, open_csv
from shoal.engines.formats.base import FileFormat, format_of
from shoal.engines.formats.comparison import RowSums, require_same_rows
from shoal.engines.formats.csv import Csv
from shoal.engines.sessions import BatchFunction, Listener, TableFunction, Transfer, no_listener
from shoal.errors import InputError, listed
from shoal.io.address import Address
from shoal.io.csv_dialect import CsvOptions
from shoal.io.paths import check_readable
from shoal.threads import in_turn

try:
    import fcntl
except ImportError:  # Windows: nothing is locked, and no other folder is removed
    fcntl = None  # type: ignore[assignment]

BATCH = 1 << 17
"""Rows of a batch."""
RowCounter = Callable[[int], None]
"""Called with the number of rows that have passed."""
PREFIX = "shoal-"
OWNED = "in-use"
IN_USE_SECONDS = 0.5
"""How long the folder of a session that still works is removed again and again."""


class DuckSession:
    """Tables in a temporary database. Functions run in threads of this process."""

    def __init__(self, memory: str | None = None, folder: Path | None = None) -> None:
        """Open an empty database.

        Parameters
        ----------
        memory : str, optional
            The most memory that DuckDB may use, such as '2GB'; by default DuckDB's own limit.
        folder : Path, optional
            Where the temporary files go; by default the system's folder for them.
        """
        self.listener: Listener = no_listener
        self._folder, self._remove = private_folder(self, folder)
        config = settings() | {
            "preserve_insertion_order": False,
            "temp_directory": str(self._folder / "spilled"),
        }
        if memory is not None:
            config["memory_limit"] = memory
        self._con: Any = connect(str(self._folder / "rows.duckdb"), config)

    def read(
        self,
        name: str,
        sources: Sequence[Stored],
        columns: Sequence[str],
        options: CsvOptions,
    ) -> pa.Schema:
        """Create a table of the named columns of some files; the types are those of the files, which
        may be wider in the table."""
        with self._translated_errors():
            return read_into(self._con, name, sources, columns, options, self._count)

    def query(self, sql: str) -> pa.Table:
        """The result of a small query."""
        with self._translated_errors():
            return self._con.sql(sql).to_arrow_table()

    def keep(self, name: str, sql: str) -> None:
        """Create a table from a query."""
        with self._translated_errors():
            self._con.execute(f"CREATE OR REPLACE TABLE {name} AS {sql}")

    def map(
        self,
        name: str,
        sql: str,
        function: BatchFunction,
        schema: pa.Schema,
        once: bool = False,  # noqa: ARG002 - a table is always stored
    ) -> None:
        """Create a table from a query, each batch of which has passed through a function."""
        with self._translated_errors():
            self._fill(name, in_turn(function, self._batches(sql)), schema)

    def map_groups(
        self,
        name: str,
        sql: str,
        key: str,
        function: TableFunction,
        schema: pa.Schema,
        sizes: Sequence[int],  # noqa: ARG002 - keys are processed one by one
        once: bool = False,  # noqa: ARG002
    ) -> None:
        """Create a table from a query, the rows of each key having passed through a function; those of
        one key at a time are in memory."""
        with self._translated_errors(), self._ordered():
            ordered = self._batches(f"SELECT * FROM ({sql}) ORDER BY {key}")
            self._fill(name, map(function, _groups(ordered, key)), schema)

    def substitute(self, name: str, other: str, key: str) -> None:
        """Put the rows of another table in the place of those with the same key."""
        with self._translated_errors():
            self._con.execute(f"DELETE FROM {name} WHERE {key} IN (SELECT {key} FROM {other})")
            self._con.execute(f"INSERT INTO {name} BY NAME SELECT * FROM {other}")
            self.drop(other)

    def drop(self, name: str) -> None:
        """Drop a table."""
        self._con.execute(f"DROP TABLE IF EXISTS {name}")

    def write(
        self,
        sql: str,
        target: Path | StagedTable,
        names: Sequence[str],
        order: Sequence[str],
        options: CsvOptions,
        rows: int,  # noqa: ARG002 - they are written as they come
    ) -> None:
        """Write the result of a query to a file, rows in order."""
        with self._translated_errors(), self._ordered():
            write_from(self._con, sql, target, names, order, options, self._count)

    def close(self) -> None:
        """End the session and remove its files."""
        self._con.close()
        self._remove()

    def _batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """The rows of a query batch by batch, never all at once."""
        cursor, rows = self._con.cursor(), 0
        try:
            for batch in cursor.sql(sql).to_arrow_reader(BATCH):
                yield batch
                rows += len(batch)
                self._count(rows)
        finally:
            cursor.close()

    def _count(self, rows: int) -> None:
        self.listener(Transfer(rows))

    def _fill(
        self, name: str, parts: Iterable[pa.RecordBatch | pa.Table], schema: pa.Schema
    ) -> None:
        """Create a table of these parts; it gets its name when it is complete."""
        cursor, new = self._con.cursor(), f"{name}_new"
        try:
            # in separate transactions: with insertion order preserved, DuckDB 2.0 loses rows that are
            # inserted into a table of the same transaction
            cursor.register("part", schema.empty_table())
            cursor.execute(f"CREATE OR REPLACE TABLE {new} AS SELECT * FROM part")
            for part in _concatenated(parts, schema):
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
        """Preserve the order of results: otherwise DuckDB 2.0 returns their parts in any order."""
        self._con.execute("SET preserve_insertion_order = true")
        try:
            yield
        finally:
            self._con.execute("SET preserve_insertion_order = false")

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Raise errors of ours for DuckDB's limits: its own messages may quote a row."""
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
                f"The temporary files in {self._folder.parent} could not be written. The disk may "
                "be full."
            ) from None


def _groups(batches: Iterable[pa.RecordBatch], key: str) -> Iterator[pa.Table]:
    """The rows of each key together; the batches are ordered by it."""
    rows: list[pa.RecordBatch] = []
    finished = set()
    for batch in batches:
        column = batch.column(key)
        changes = pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
        edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(batch)]
        for begin, end in pairwise(edges):
            if rows and rows[-1].column(key)[0] != column[begin]:
                yield pa.Table.from_batches(rows)
                rows = []
            if not rows:
                value = column[begin].as_py()
                assert value not in finished, "the rows of a key come together"
                finished.add(value)
            rows.append(batch.slice(begin, end - begin))
    if rows:
        yield pa.Table.from_batches(rows)


def _concatenated(
    parts: Iterable[pa.RecordBatch | pa.Table], schema: pa.Schema
) -> Iterator[pa.Table]:
    """The parts, small ones concatenated."""
    waiting: list[pa.Table] = []
    for part in parts:
        table = pa.Table.from_batches([part]) if isinstance(part, pa.RecordBatch) else part
        waiting.append(table.select(schema.names).cast(schema))
        if sum(map(len, waiting)) >= BATCH:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)


def read_into(
    con: Connection,
    name: str,
    sources: Sequence[Stored],
    columns: Sequence[str],
    options: CsvOptions,
    count: RowCounter,
) -> pa.Schema:
    """Create a table of the named columns of all files, as p0, p1, ...; returns their types."""
    schema: pa.Schema | None = None
    rows = 0
    con.execute(f"DROP TABLE IF EXISTS {name}")
    for path in sources:
        if not isinstance(path, Path):
            return _read_table(con, name, path, columns, count)
        check_readable(path)
        kind = format_of(path)
        found = _schema(path, kind, columns, options)
        if schema is None:
            schema = found
            _create(con, name, path, columns, schema)
        elif schema != found:
            raise _different_types(str(sources[0]), path, columns, schema, found)
        if isinstance(kind, Csv):
            rows += _read_csv(con, name, path, columns, options)
            count(rows)
        else:
            rows = _read_batches(con, name, path, kind, columns, options, schema, count, rows)
    assert schema is not None, "there is at least one file"
    return schema


def _read_table(
    con: Connection,
    name: str,
    place: Address | StagedTable,
    columns: Sequence[str],
    count: RowCounter,
) -> pa.Schema:
    """The rows of a database's table, batch by batch."""
    rows = 0
    with open_table(place) as table:
        found = table.schema(columns)
        schema = pa.schema([pa.field(f"p{i}", kind) for i, kind in enumerate(found.types)])
        _create(con, name, str(place), columns, schema)

        def batches() -> Iterator[pa.RecordBatch]:
            nonlocal rows
            for batch in table.batches(found):
                yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
                rows += len(batch)
                count(rows)

        with feeding(schema, batches()) as reader:
            con.register("part", reader)
            try:
                con.execute(f"INSERT INTO {name} SELECT * FROM part")
            finally:
                con.unregister("part")
    return schema


def _schema(path: Path, kind: FileFormat, columns: Sequence[str], options: CsvOptions) -> pa.Schema:
    types = kind.schema(path, options, columns).types
    return pa.schema([pa.field(f"p{i}", kind) for i, kind in enumerate(types)])


def _create(
    con: Connection, name: str, path: Path | str, columns: Sequence[str], schema: pa.Schema
) -> None:
    for column, field in zip(columns, schema, strict=True):
        try:
            con.from_arrow(pa.schema([field]).empty_table()).fetchall()
        except (duckdb.Error, pa.ArrowException):
            raise InputError(
                f"{path}: column '{column}' has the type {field.type}, which is not supported for "
                "tables larger than memory. Cast it to text or numbers first."
            ) from None
    con.register("part", schema.empty_table())
    con.execute(f"CREATE TABLE {name} AS SELECT * FROM part")
    con.unregister("part")


def _different_types(
    first: str, path: Path, columns: Sequence[str], schema: pa.Schema, found: pa.Schema
) -> InputError:
    triples = zip(columns, schema.types, found.types, strict=True)
    different = [f"'{c}' ({one} and {other})" for c, one, other in triples if one != other]
    return InputError(
        f"{first} and {path} are not parts of one table: the types differ in {listed(different)}. "
        "Write them with the same types."
    )


def _read_csv(
    con: Connection, name: str, path: Path, columns: Sequence[str], options: CsvOptions
) -> int:
    with open_csv(path, options) as file:
        places = ", ".join(map(file.place, columns))
        insert: Callable[[str], int] = lambda sql: con.execute(sql).fetchone()[0]  # noqa: E731
        rows = file.run(insert, f"INSERT INTO {name} SELECT {places} FROM {{file}}")
        check_separators(file, rows)
    return rows


def _read_batches(
    con: Connection,
    name: str,
    path: Path,
    kind: FileFormat,
    columns: Sequence[str],
    options: CsvOptions,
    schema: pa.Schema,
    count: RowCounter,
    rows: int,
) -> int:
    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal rows
        for batch in kind.batches(path, options, columns, BATCH):
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
            rows += len(batch)
            count(rows)

    con.register("part", pa.RecordBatchReader.from_batches(schema, batches()))
    try:
        con.execute(f"INSERT INTO {name} SELECT * FROM part")
    finally:
        con.unregister("part")
    return rows


def write_from(
    con: Connection,
    sql: str,
    target: Path | StagedTable,
    names: Sequence[str],
    order: Sequence[str],
    options: CsvOptions,
    count: RowCounter,
) -> None:
    """Write the result of a query, its columns renamed, its rows ordered."""
    columns = con.sql(f"SELECT * FROM ({sql}) LIMIT 0").columns
    ordered = f"SELECT * FROM ({sql})" + (f" ORDER BY {', '.join(order)}" if order else "")
    if isinstance(target, StagedTable):
        _write_table(con, ordered, target, names, count)
        return
    kind = format_of(target)
    if isinstance(kind, Csv):
        copy_csv(con, f"({ordered})", columns, names, target, options)
        return
    reader = con.sql(ordered).to_arrow_reader(BATCH)
    schema = pa.schema([f.with_name(n) for f, n in zip(reader.schema, names, strict=True)])
    given = RowSums(len(names))
    rows = 0
    with kind.writer(target, schema, options) as writer:
        for batch in reader:
            named = pa.RecordBatch.from_arrays(batch.columns, schema=schema)
            writer.write_batch(named)
            if not kind.exact:
                given.add(kind.as_written(pa.Table.from_batches([named])))
            rows += len(batch)
            count(rows)
    if not kind.exact:
        require_same_rows(kind, target, options, names, given)


def _write_table(
    con: Connection, sql: str, target: StagedTable, names: Sequence[str], count: RowCounter
) -> None:
    """Write the result of a query to a database's table, batch by batch."""
    reader = con.sql(sql).to_arrow_reader(BATCH)
    schema = pa.schema([f.with_name(n) for f, n in zip(reader.schema, names, strict=True)])
    rows = 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal rows
        for batch in reader:
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
            rows += len(batch)
            count(rows)

    target.write(schema, batches())


def private_folder(owner: object, place: Path | None = None) -> tuple[Path, Callable[[], object]]:
    """A new folder that only this user may read, and a function that removes it.

    It is also removed when its owner is garbage collected. place: the parent folder; by default the
    system's folder for temporary files.
    """
    _remove_stale(Path(place or tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    lock = os.open(folder / f"{OWNED}.new", os.O_RDWR | os.O_CREAT, 0o600)
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)
    # renamed once it is locked: a file of this name that is not locked has no owner
    (folder / f"{OWNED}.new").rename(folder / OWNED)
    key = interruption.register(partial(_remove_in_use, folder))
    return folder, weakref.finalize(owner, _remove, folder, lock, os.getpid(), key)


def _remove(folder: Path, lock: int, owned_by: int, key: object) -> None:
    interruption.unregister(key)
    if os.getpid() == owned_by:  # not in a forked child: the parent still uses it
        shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _remove_in_use(folder: Path) -> None:
    """Remove the folder of a session that is still working and may create further files in it."""
    deadline = time.monotonic() + IN_USE_SECONDS
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_stale(place: Path) -> None:
    """Remove folders of this user whose process has ended."""
    if fcntl is None:
        return
    for folder in place.glob(f"{PREFIX}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / OWNED, os.O_RDWR)
        except OSError:  # not such a folder, or removed meanwhile
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # in use
            pass
        finally:
            os.close(lock)
