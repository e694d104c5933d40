"""A DuckDB session: tables in private files on disk, for tables larger than memory.

The files are in a folder that only this user may read and that is removed with the session. What a
kill -9 or a power cut left is removed by the next session: a file in the folder is locked as long as its
process lives.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from shoal import interruption
from shoal.arrays import Ints
from shoal.engines.database.connections import feeding
from shoal.engines.database.staging import StagedTable, Stored, open_table
from shoal.engines.duckdb.connection import (
    Connection,
    connect,
    cursor,
    file_literal,
    interruptible,
    settings,
)
from shoal.engines.duckdb.csv import check_separators, copy_csv, open_csv
from shoal.engines.duckdb.parts import BATCH, Edges, PartFiles, RowsByKey, SortByKey
from shoal.engines.duckdb.scans import FileScan, Piece
from shoal.engines.formats.base import FileFormat, format_of
from shoal.engines.formats.comparison import RowSums, require_same_rows
from shoal.engines.formats.csv import Csv
from shoal.engines.formats.parquet import Parquet
from shoal.engines.queries import Selection, rows_without, select
from shoal.engines.sessions import (
    BatchFunction,
    CountFunction,
    Listener,
    ReviseFunction,
    TableFunction,
    Transfer,
    TypedFunction,
    no_listener,
)
from shoal.errors import InputError, listed
from shoal.io.address import Address
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.io.paths import check_readable
from shoal.threads import ahead, in_turn

try:
    import fcntl
except ImportError:  # Windows: nothing is locked, and no other folder is removed
    fcntl = None  # type: ignore[assignment]

RowCounter = Callable[[int], None]
"""Called with the number of rows that have passed."""
PREFIX = "shoal-"
OWNED = "in-use"


class _Counter:
    """Counts rows that pass in several threads."""

    def __init__(self, count: RowCounter) -> None:
        self._count, self._rows, self._lock = count, 0, Lock()

    def passing(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """The batches of a piece."""
        for batch in piece():
            yield batch
            with self._lock:  # so that what is reported never falls
                self._rows += len(batch)
                self._count(self._rows)


class DuckSession:
    """Tables in a temporary database. Functions run in threads of this process."""

    walks = True

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
            "enable_external_file_cache": False,
        }
        if memory is not None:
            config["memory_limit"] = memory
        # tables in memory are spilled when it is full; a database in a file takes four times as long
        self._con: Any = connect(":memory:", config)
        self._numbers = count()
        self._views: set[str] = set()
        """Tables that are in files: those of sources, and those of ours."""
        self._parts: dict[str, PartFiles] = {}
        """Those of ours."""
        self._sources: dict[str, tuple[tuple[Stored, ...], tuple[str, ...]]] = {}
        """Files of sources that are tables, and what is read of them."""
        self._scans: dict[str, FileScan] = {}
        """All tables that are in files."""

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
            self.drop(name)
            found = scanned(self._con, sources, columns)
            if found is None:
                return read_into(self._con, name, sources, columns, options, self._count)
            self._con.execute(f"CREATE VIEW {name} AS {found.sql}")
            self._views.add(name)
            self._sources[name] = tuple(sources), tuple(columns)
            places = {f"p{i}": column for i, column in enumerate(columns)}
            files = [path for path in sources if isinstance(path, Path)]
            self._scans[name] = FileScan(files, places)
            self._count(found.rows)
            return found.schema

    def query(self, sql: str) -> pa.Table:
        """The result of a small query."""
        with self._translated_errors():
            return self._con.sql(sql).to_arrow_table()

    def tally(self, sql: str, count: CountFunction, size: int) -> Ints:
        """What a function counts of all rows; each thread has counts of its own, added up at the end."""
        counted: list[Ints] = []

        def add(piece: Piece) -> None:
            try:
                totals = counted.pop()
            except IndexError:  # all are in use
                totals = np.zeros(size, np.int64)
            for batch in piece():
                count(batch, totals)
            counted.append(totals)

        with self._translated_errors():
            for _ in in_turn(add, self._pieces(sql)):
                pass
        return sum(counted, np.zeros(size, np.int64))

    def keep(self, name: str, sql: str) -> None:
        """Create a table from a query."""
        with self._translated_errors():
            self._con.execute(f"CREATE OR REPLACE TABLE {name}_new AS {sql}")
            self.drop(name)
            self._con.execute(f"ALTER TABLE {name}_new RENAME TO {name}")

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
            coded = getattr(function, "reads_codes", False)
            with self._filled(name, schema) as parts:
                parts.fill(function, self._pieces(sql, coded))

    def map_groups(
        self,
        name: str,
        sql: str,
        key: str,
        function: TableFunction,
        schema: pa.Schema,
        sizes: Sequence[int],  # noqa: ARG002 - keys are processed one by one
        once: bool = False,  # noqa: ARG002
        before: TypedFunction | None = None,
    ) -> None:
        """Create a table from a query, the rows of each key having passed through a function; those of
        a few keys at a time are in memory."""
        rows, sort = RowsByKey(self._scratch()), SortByKey(key, before)
        divisible = getattr(function, "divisible", ())

        def some_of(batch: pa.RecordBatch, edges: Edges) -> list[pa.Table]:
            """What may pass at once."""
            own = ((begin, end) for one, begin, end in edges if one in divisible)
            tables = [pa.Table.from_batches([batch.slice(b, e - b)]) for b, e in own]
            return parts.make(function, tables)

        def sorted_rows(piece: Piece) -> tuple[list[pa.Table], list[tuple[pa.RecordBatch, Edges]]]:
            few, others = [], []
            for batch in piece():
                found, edges = sort(batch)
                if divisible:
                    few += some_of(found, edges)
                    edges = [one for one in edges if one[0] not in divisible]
                if edges:
                    others.append((found, edges))
            return few, others

        try:
            with self._translated_errors(), self._filled(name, schema) as parts:
                for few, others in in_turn(sorted_rows, self._pieces(sql)):
                    parts.add_few(few)
                    for batch, edges in others:
                        rows.add(batch, edges)
                parts.fill(function, rows)
        finally:
            rows.remove()

    def substitute(self, name: str, other: str, key: str) -> None:
        """Put the rows of another table in the place of those with the same key."""
        with self._translated_errors():
            if name in self._parts and other in self._parts:
                self._parts[name].replace(key, self._parts[other])
                self._show(name, self._parts[name].files)
            else:
                columns = self._con.sql(f"SELECT * FROM {name} LIMIT 0").columns
                kept = rows_without(name, columns, key, other)
                self.keep(name, f"{kept} UNION ALL {select(other, columns)}")
            self.drop(other)

    def revise(self, name: str, function: ReviseFunction) -> None:
        """Put what a function makes of its columns into the last of these, file by file."""
        with self._translated_errors():
            self._parts[name].revise(function)
            self._show(name, self._parts[name].files)

    def drop(self, name: str) -> None:
        """Drop a table."""
        if name in self._views:
            self._con.execute(f"DROP VIEW IF EXISTS {name}")
            self._views.discard(name)
        else:
            self._con.execute(f"DROP TABLE IF EXISTS {name}")
        self._sources.pop(name, None)
        self._scans.pop(name, None)
        if parts := self._parts.pop(name, None):
            parts.remove()

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

    def _pieces(self, sql: str, coded: bool = False) -> Iterator[Piece]:
        """What reads the rows of a query piece by piece, never all at once.

        coded: texts may be codes and dictionaries.
        """
        groups = None
        if isinstance(sql, Selection) and sql.table in self._scans:
            groups = self._scans[sql.table].row_groups(sql.columns, BATCH, coded)
        if groups is None:
            for batch in self._batches(sql):
                yield partial(iter, [batch])
            return
        counter = _Counter(self._count)
        for group in groups:
            yield partial(counter.passing, group)

    def _batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """The rows of a query batch by batch, never all at once."""
        reading, rows = cursor(self._con), 0
        try:
            # the other thread ends before the cursor is closed
            with closing(ahead(reading.sql(sql).to_arrow_reader(BATCH))) as batches:
                for batch in batches:
                    yield batch
                    rows += len(batch)
                    self._count(rows)
        finally:
            reading.close()

    def _count(self, rows: int) -> None:
        self.listener(Transfer(rows))

    @contextmanager
    def _filled(self, name: str, schema: pa.Schema) -> Iterator[PartFiles]:
        """Create a table of what is added in the block; it gets its name when it is complete."""
        parts = PartFiles(self._scratch(), schema)
        try:
            yield parts
        except BaseException:
            parts.remove()
            raise
        self.drop(name)
        self._show(name, parts.files)
        self._parts[name] = parts

    def _scratch(self) -> Path:
        """A new place for files."""
        return self._folder / f"part-{next(self._numbers)}"

    def _show(self, name: str, files: Sequence[Path]) -> None:
        """Show files as a table."""
        self._con.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM {scan(files)}")
        self._views.add(name)
        self._scans[name] = FileScan(files)

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
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            self._require_intact()
            if not isinstance(error, duckdb.IOException | OSError):
                raise
            raise InputError(
                f"The temporary files in {self._folder.parent} could not be written. The disk may "
                "be full."
            ) from None

    def _require_intact(self) -> None:
        """Raise `InputError` for a damaged file among the sources."""
        for files, columns in self._sources.values():
            for path in files:
                assert isinstance(path, Path)
                check_readable(path)
                for _ in format_of(path).batches(path, CsvOptions(), columns, BATCH):
                    pass


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


@dataclass(frozen=True)
class Scan:
    """Files that DuckDB reads itself, whenever their rows are needed."""

    sql: str
    schema: pa.Schema
    rows: int


def scanned(con: Connection, sources: Sequence[Stored], columns: Sequence[str]) -> Scan | None:
    """Files as a table without reading them; None unless these are Parquet files of one schema, whose
    columns DuckDB reads in the types in which Arrow does."""
    kind, files = Parquet(), [path for path in sources if isinstance(path, Path)]
    if len(files) < len(sources) or any(not isinstance(format_of(f), Parquet) for f in files):
        return None
    schemas = []
    for path in files:
        check_readable(path)
        schemas.append((kind.names(path, DETECT), _schema(path, kind, columns, DETECT)))
    names, schema = schemas[0]
    if any(other != schemas[0] for other in schemas):
        return None
    try:
        # by position: DuckDB ignores the case of names
        found, empty = con.sql(f"SELECT * FROM {scan(files)}"), schema.empty_table()
        places = [names.index(column) for column in columns]
        if len(found.columns) != len(names) or con.from_arrow(empty).types != [
            found.types[at] for at in places
        ]:
            return None
    except (duckdb.Error, pa.ArrowException):
        return None
    shown = ", ".join(f"x{at} AS p{i}" for i, at in enumerate(places))
    every = ", ".join(f"x{at}" for at in range(len(names)))
    sql = f"SELECT {shown} FROM {scan(files)} AS file({every})"
    return Scan(sql, schema, sum(map(kind.rows, files)))


def scan(files: Sequence[Path]) -> str:
    """Parquet files as a table in SQL."""
    return f"read_parquet([{', '.join(map(file_literal, files))}], hive_partitioning = false)"


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
        for batch in ahead(reader):
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
    if os.getpid() == owned_by:  # not in a forked child: the parent still uses it
        shutil.rmtree(folder, ignore_errors=True)
    interruption.unregister(key)  # not before: an interruption may end the process meanwhile
    os.close(lock)


def _remove_in_use(folder: Path) -> bool:
    """Remove the folder of a session that is still working; whether some of it is still there.

    It gets another name first, so that the session creates no further files in it.
    """
    renamed = folder.with_name(f"{folder.name}-removed")
    with suppress(OSError):
        folder.rename(renamed)
    for each in (renamed, folder):
        shutil.rmtree(each, ignore_errors=True)
    return folder.exists() or renamed.exists()


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
