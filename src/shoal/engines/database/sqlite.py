"""SQLite, through Python's own module.

A column of SQLite may hold values of any type, so its type is found by looking at all of them: numbers
beside texts are read as texts. Comments do not exist in SQLite; the digest of a release is in the table
`shoal_releases`.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.database.base import BATCH, Database, sql_name
from shoal.errors import InputError, listed, nearest
from shoal.io.address import Address, TableName
from shoal.io.paths import check_readable

CLASSES = ("integer", "real", "text", "blob")
"""The types that a value may have."""
EXACT_DIGITS = 15
"""Digits of a decimal that a float has too."""
LONGEST_WHOLE = 1 << 53
"""Up to here every whole number is one of a float."""
RELEASES = "shoal_releases"
PATIENCE = 10.0
"""Seconds to wait for others who write to the file."""


class SQLite(Database):
    """A connection to a database file, and one transaction."""

    def __init__(self, address: Address, write: bool = False) -> None:
        """`write`: the transaction may change the database."""
        super().__init__(address)
        self._writes = write
        assert address.file is not None
        if not write:
            check_readable(address.file)
        mode = "rwc" if write else "ro"
        place = f"{address.file.absolute().as_uri()}?mode={mode}"
        with self._translated():
            self._con = sqlite3.connect(
                place, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
        try:
            with self._translated():
                # a table may be renamed although a view uses its name
                self._con.execute("PRAGMA legacy_alter_table = ON")
                self._con.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                self._con.execute("SELECT count(*) FROM sqlite_schema")  # is it a database at all?
        except BaseException:
            self._con.close()
            raise

    def source(self, address: Address) -> str:
        """The SQL to read from."""
        if address.query is not None:
            return f"({address.query}\n)"
        table = address.table
        tables = self._tables()
        if table is None:
            table = TableName(None, only_table(address, tables))
        elif table.name.lower() not in [name.lower() for name in tables]:
            raise missing_table(address, table, tables)
        return table.quoted

    def _tables(self) -> list[str]:
        rows = self._rows(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name"
        )
        return [row[0] for row in rows if row[0] != RELEASES]

    def names(self, source: str) -> list[str]:
        """The columns, in order."""
        # a subquery would rename columns of the same name
        sql = self.address.query or f"SELECT * FROM {source} LIMIT 0"
        with self._translated():
            return [each[0] for each in self._con.execute(sql).description or ()]

    def schema(self, source: str, columns: Sequence[str]) -> pa.Schema:
        """The types that hold all values of the columns."""
        parts = [
            f"coalesce(max(typeof({sql_name(name)}) = '{kind}'), 0)"
            for name in columns
            for kind in CLASSES
        ]
        flags = {name: f"coalesce(min({sql_name(name)} IN (0, 1)), 0)" for name in columns}
        longest = {
            name: f"coalesce(max(typeof({sql_name(name)}) = 'integer' AND {sql_name(name)} NOT BETWEEN "
            f"-{LONGEST_WHOLE} AND {LONGEST_WHOLE}), 0)"
            for name in columns
        }
        found: list[int] = []
        truth: list[int] = []
        long: list[int] = []
        for begin in range(0, len(columns), 300):  # a result has at most 2000 columns
            some = columns[begin : begin + 300]
            sql = ", ".join(
                [
                    *parts[4 * begin : 4 * (begin + 300)],
                    *(flags[name] for name in some),
                    *(longest[name] for name in some),
                ]
            )
            row = self._rows(f"SELECT {sql} FROM {source}")[0]
            found += row[: 4 * len(some)]
            truth += row[4 * len(some) : 5 * len(some)]
            long += row[5 * len(some) :]
        declared = self._declared()
        fields = []
        for i, name in enumerate(columns):
            kinds = {kind for kind, there in zip(CLASSES, found[4 * i :], strict=False) if there}
            is_flag = truth[i] and declared.get(name, "").startswith("BOOL")
            kind = pa.bool_() if is_flag else self._type(name, kinds)
            # as floats, some long whole numbers would be one
            kind = pa.string() if long[i] and pa.types.is_floating(kind) else kind
            fields.append(pa.field(name, kind))
        return pa.schema(fields)

    def _declared(self) -> dict[str, str]:
        """The types of a table's columns as they were declared."""
        if self.address.table is None:
            return {}
        rows = self._rows(f"PRAGMA table_info({self.address.table.quoted})")
        return {row[1]: str(row[2]).upper() for row in rows}

    def _type(self, name: str, kinds: set[str]) -> pa.DataType:
        if "blob" in kinds and len(kinds) > 1:
            others = listed(sorted(kinds - {"blob"}))
            raise InputError(
                f"{self.address}: column '{name}' has bytes (blob) in some rows and {others} in "
                "others. Convert it in a query, or leave it out."
            )
        if "blob" in kinds:
            return pa.binary()
        if "text" in kinds or not kinds:
            return pa.string()
        return pa.float64() if "real" in kinds else pa.int64()

    def batches(self, source: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of the columns of a schema."""
        parts = ", ".join(
            f"CAST({sql_name(f.name)} AS TEXT)" if pa.types.is_string(f.type) else sql_name(f.name)
            for f in schema
        )
        with self._translated():
            cursor = self._con.execute(f"SELECT {parts} FROM {source}")
            while rows := cursor.fetchmany(BATCH):
                columns = zip(*rows, strict=True)
                arrays = [_array(c, f.type) for c, f in zip(columns, schema, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def check_target(self, address: Address, force: bool) -> TableName:
        """The table to write."""
        table = checked_name(address)
        found = self._rows(
            f"SELECT type FROM sqlite_schema WHERE lower(name) = lower({_text(table.name)})"
        )
        check_old(address, found[0][0] if found else None, force)
        return table

    def identity(self, address: Address) -> str | None:
        """The file and the table."""
        return file_identity(address)

    def comment(self, table: TableName) -> str | None:
        """The line about a release in the table `shoal_releases`."""
        there = self._rows(f"SELECT 1 FROM sqlite_schema WHERE name = {_text(RELEASES)}")
        where = f"lower(name) = lower({_text(table.name)})"
        found = self._rows(f"SELECT comment FROM {RELEASES} WHERE {where}") if there else []
        return str(found[0][0]) if found else None

    def create(self, table: TableName, schema: pa.Schema) -> None:
        """Create an empty table."""
        columns = ", ".join(
            f"{sql_name(field.name)} {_declaration(field.type)}" for field in schema
        )
        with self._translated():
            self._con.execute(f"CREATE TABLE {table.quoted} ({columns})")

    def insert(self, table: TableName, rows: pa.RecordBatchReader) -> None:
        """Add rows to a table."""
        places = ", ".join("?" * len(rows.schema))
        with self._translated():
            for batch in rows:
                columns = [_values(column) for column in batch.columns]
                self._con.executemany(
                    f"INSERT INTO {table.quoted} VALUES ({places})", zip(*columns, strict=True)
                )

    def put_in_place(self, staged: TableName, target: TableName, comment: str) -> None:
        """Give a table its name; what it replaces goes in the same transaction."""
        with self._translated():
            self._con.execute(f"DROP TABLE IF EXISTS {target.quoted}")
            self._con.execute(f"ALTER TABLE {staged.quoted} RENAME TO {sql_name(target.name)}")
            self._con.execute(
                f"CREATE TABLE IF NOT EXISTS {RELEASES} (name TEXT PRIMARY KEY, comment TEXT NOT NULL)"
            )
            self._con.execute(
                f"INSERT OR REPLACE INTO {RELEASES} VALUES (?, ?)", (target.name, comment)
            )

    def commit(self) -> None:
        """End the transaction."""
        with self._translated():
            self._con.execute("COMMIT")

    def close(self) -> None:
        """Close the connection; what was not committed is undone."""
        self._con.close()

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self._translated():
            return self._con.execute(sql).fetchall()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise errors of ours for SQLite's, which may quote a value."""
        try:
            yield
        except sqlite3.Error as error:
            words = _words(error)
            if not self._writes and error_name(error).startswith("SQLITE_READONLY"):
                words = "the query would change the database. Only SELECT is allowed"
            raise InputError(f"{self.address}: {words}.") from None


def only_table(address: Address, tables: Sequence[str]) -> str:
    """The table of a file that holds one alone, so that it need not be named."""
    if len(tables) == 1:
        return tables[0]
    have = f"It has: {listed(tables)}" if tables else "It has none"
    raise InputError(f"{address} holds a database. Name a table of it: ?table=NAME. {have}.")


def missing_table(address: Address, table: TableName, tables: Sequence[str]) -> InputError:
    """The error for a table that does not exist."""
    hint = nearest(table.name, tables)
    have = f" It has: {listed(tables)}." if tables else " It has no tables."
    return InputError(f"{address}: there is no such table or view.{hint}{have}")


def file_identity(address: Address) -> str | None:
    """A table in a file, however the file is called."""
    if address.file is None or address.table is None:
        return None
    schema = (address.table.schema or "main").lower()
    return f"{address.file.resolve()} {schema} {address.table.name.lower()}"


def checked_name(address: Address) -> TableName:
    """The table of an address that is to be written."""
    if address.query is not None:
        raise InputError(f"{address}: a release is written to a table, not to a query.")
    if address.table is None:
        raise InputError(f"{address}: name the table to write: ?table=NAME.")
    return address.table


def check_old(address: Address, kind: str | None, force: bool) -> None:
    """Raise `InputError` unless what exists under a name may be replaced."""
    if kind is None:
        return
    if not force:
        raise InputError(
            f"{address} exists already. Pass --force (in Python force=True) to replace it."
        )
    if kind.lower() not in ("table", "base table"):
        raise InputError(
            f"{address} is a {kind.lower()}, which is not replaced. Choose another name."
        )


def error_name(error: sqlite3.Error) -> str:
    """SQLite's name of an error; empty for those of Python's module."""
    return str(vars(error).get("sqlite_errorname", ""))


def _words(error: sqlite3.Error) -> str:
    """What went wrong, in words that hold no value of a row."""
    name = error_name(error)
    known = {
        "SQLITE_BUSY": "the file is in use by another process. Run again later",
        "SQLITE_LOCKED": "the table is in use. Run again later",
        "SQLITE_FULL": "the disk, or a quota on it, is full",
        "SQLITE_READONLY": "the file may not be written",
        "SQLITE_CANTOPEN": "the file cannot be opened, or its folder may not be written",
        "SQLITE_NOTADB": "the file is not an SQLite database, or it is encrypted",
        "SQLITE_CORRUPT": "the file is damaged",
        "SQLITE_IOERR": "the file could not be read or written",
        "SQLITE_PERM": "the file may not be read by this user",
    }
    for code, words in known.items():
        if name.startswith(code):
            return words
    if name == "SQLITE_ERROR":  # about names and syntax, except where an expression failed
        said = str(error)
        if any(
            sign in said for sign in ("no such", "syntax error", "ambiguous", "incomplete input")
        ):
            return said
    if "one statement" in str(error):
        return "a query is one statement"
    return f"the query or the writing failed ({name or type(error).__name__})"


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_float64(kind) or pa.types.is_boolean(kind):
        cast = float if pa.types.is_float64(kind) else bool
        values = [None if value is None else cast(value) for value in values]
    return pa.array(values, kind)


def _declaration(kind: pa.DataType) -> str:
    """The type of a column in SQLite; dates and times are ISO texts."""
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_boolean(kind):
        return "BOOLEAN"
    if types.is_integer(kind) and kind != pa.uint64():
        return "INTEGER"
    if types.is_floating(kind):
        return "REAL"
    if types.is_decimal(kind) and kind.precision <= EXACT_DIGITS:
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if types.is_date(kind):
        return "DATE"
    if types.is_timestamp(kind):
        return "TIMESTAMP"
    is_bytes = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
    return "BLOB" if is_bytes else "TEXT"


def _values(column: pa.Array) -> list[Any]:
    """Values as SQLite takes them."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_temporal(kind) or pa.types.is_decimal(kind) or kind == pa.uint64():
        column = pc.cast(column, pa.string())
    return list(column.to_pylist())


def _text(value: str) -> str:
    """An SQL text literal."""
    return "'" + value.replace("'", "''") + "'"
