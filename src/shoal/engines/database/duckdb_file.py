"""DuckDB files of the user."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from shoal.engines.database.base import (
    BATCH,
    Database,
    comment_of,
    refuse_nested,
    sql_name,
)
from shoal.engines.database.sqlite import (
    check_old,
    checked_name,
    file_identity,
    missing_table,
    only_table,
)
from shoal.engines.duckdb.connection import connect, interruptible, settings, text
from shoal.errors import InputError
from shoal.io.address import Address, TableName
from shoal.io.paths import check_readable

AS_TEXT = ("TIME", "INTERVAL", "UUID", "JSON", "ENUM", "BIT", "HUGEINT", "UHUGEINT", "TIMETZ")
"""Types that are read as texts."""
NESTED = ("[]", "STRUCT", "MAP", "UNION", "LIST", "ARRAY")
MAIN = "main"


class DuckDBFile(Database):
    """A connection to a database file, and one transaction."""

    def __init__(self, address: Address, write: bool = False) -> None:
        """`write`: the transaction may change the database."""
        super().__init__(address)
        assert address.file is not None
        if not write:
            check_readable(address.file)
        config = settings() | {"preserve_insertion_order": True}
        # a query reads the tables of this file, and no others
        config |= {"access_mode": "READ_WRITE" if write else "READ_ONLY"}
        with self._translated():
            self._con: Any = connect(str(address.file), config)
            self._con.execute("SET enable_external_access = false")
            self._con.execute("BEGIN TRANSACTION")

    def source(self, address: Address) -> str:
        """The SQL to read from."""
        if address.query is not None:
            return f"({address.query}\n) AS shoal_query"
        if address.table is None:
            found = self._rows("SELECT table_name FROM information_schema.tables ORDER BY 1")
            return sql_name(only_table(address, [row[0] for row in found]))
        if self._kind(address.table) is None:
            found = self._rows("SELECT table_name FROM information_schema.tables ORDER BY 1")
            raise missing_table(address, address.table, [row[0] for row in found])
        return address.table.quoted

    def _kind(self, table: TableName) -> str | None:
        """`BASE TABLE` or `VIEW`; None where there is none."""
        found = self._rows(
            "SELECT table_type FROM information_schema.tables "
            f"WHERE lower(table_schema) = lower({text(table.schema or MAIN)}) "
            f"AND lower(table_name) = lower({text(table.name)}) "
            "AND table_catalog = current_database()"
        )
        return str(found[0][0]) if found else None

    def _types(self, source: str) -> dict[str, str]:
        rows = self._rows(f"DESCRIBE SELECT * FROM {source}")
        return {row[0]: str(row[1]) for row in rows}

    def names(self, source: str) -> list[str]:
        """The columns, in order."""
        # a subquery would rename columns of the same name
        sql = self.address.query or f"SELECT * FROM {source}"
        return [row[0] for row in self._rows(f"DESCRIBE {sql}")]

    def schema(self, source: str, columns: Sequence[str]) -> pa.Schema:
        """The types in which the columns are read."""
        kinds = self._types(source)
        for name in columns:
            if kinds[name].endswith("]") or kinds[name].startswith(NESTED):
                shown = f"array_to_string({name}, ' ')"
                raise refuse_nested(self.address, name, kinds[name], shown)
        with self._translated():
            found = (
                self._con.sql(f"{self._select(source, columns)} LIMIT 0").to_arrow_table().schema
            )
        return pa.schema([pa.field(field.name, field.type) for field in found])

    def _select(self, source: str, columns: Sequence[str]) -> str:
        kinds = self._types(source)
        parts = [
            f"{sql_name(name)}::VARCHAR AS {sql_name(name)}"
            if kinds[name].partition("(")[0] in AS_TEXT or kinds[name] == "TIME WITH TIME ZONE"
            else sql_name(name)
            for name in columns
        ]
        return f"SELECT {', '.join(parts)} FROM {source}"

    def batches(self, source: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of the columns of a schema."""
        with self._translated():
            yield from self._con.sql(self._select(source, schema.names)).to_arrow_reader(BATCH)

    def check_target(self, address: Address, force: bool) -> TableName:
        """The table to write."""
        table = checked_name(address)
        if table.schema is not None:
            found = self._rows(
                "SELECT 1 FROM information_schema.schemata "
                f"WHERE lower(schema_name) = lower({text(table.schema)})"
            )
            if not found:
                raise InputError(
                    f"{self.address}: there is no schema '{table.schema}' in the database. Create it "
                    "first."
                )
        check_old(address, self._kind(table), force)
        return TableName(table.schema or MAIN, table.name)

    def identity(self, address: Address) -> str | None:
        """The file and the table."""
        return file_identity(address)

    def comment(self, table: TableName) -> str | None:
        """The comment of a table."""
        found = self._rows(
            "SELECT comment FROM duckdb_tables() WHERE database_name = current_database() "
            f"AND lower(schema_name) = lower({text(table.schema or MAIN)}) "
            f"AND lower(table_name) = lower({text(table.name)})"
        )
        return found[0][0] if found else None

    def create(self, table: TableName, schema: pa.Schema) -> None:
        """Create an empty table."""
        with self._translated():
            self._con.register("shoal_part", schema.empty_table())
            self._con.execute(f"CREATE TABLE {table.quoted} AS SELECT * FROM shoal_part")
            self._con.unregister("shoal_part")

    def insert(self, table: TableName, rows: pa.RecordBatchReader) -> None:
        """Add rows to a table."""
        with self._translated():
            self._con.register("shoal_part", rows)
            self._con.execute(f"CREATE OR REPLACE TABLE {table.quoted} AS SELECT * FROM shoal_part")
            self._con.unregister("shoal_part")

    def put_in_place(self, staged: TableName, target: TableName, comment: str) -> None:
        """Give a table its name; what it replaces goes in the same transaction."""
        with self._translated():
            if self._kind(target) is not None:
                comment = comment_of(self.comment(target), comment)
                self._con.execute(f"DROP TABLE {target.quoted}")
            self._con.execute(f"ALTER TABLE {staged.quoted} RENAME TO {sql_name(target.name)}")
            self._con.execute(f"COMMENT ON TABLE {target.quoted} IS {text(comment)}")

    def commit(self) -> None:
        """End the transaction."""
        with self._translated():
            self._con.execute("COMMIT")

    def close(self) -> None:
        """Close the connection; what was not committed is undone."""
        self._con.close()

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self._translated():
            return list(self._con.execute(sql).fetchall())

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise errors of ours for DuckDB's, which may quote a row."""
        try:
            with interruptible():
                yield
        except duckdb.Error as error:
            raise InputError(f"{self.address}: {_words(error)}.") from None


def _words(error: duckdb.Error) -> str:
    """What went wrong, in words that hold no value of a row."""
    said = str(error).splitlines()[0]
    if "lock" in said.lower():
        return "the file is in use by another process. Run again later"
    if "not a valid DuckDB database" in said or "magic bytes" in said.lower():
        return "the file is not a DuckDB database, or it is damaged"
    if "read-only" in said.lower() or "read only" in said.lower():
        return "the query would change the database. Only SELECT is allowed"
    if isinstance(error, duckdb.CatalogException | duckdb.BinderException | duckdb.ParserException):
        return said.partition(": ")[2].rstrip(".") or said
    if isinstance(error, duckdb.PermissionException):
        return "a query reads tables of this database alone, and no files"
    if isinstance(error, duckdb.IOException):
        return "the file could not be read or written. The disk may be full"
    return f"the query or the writing failed ({type(error).__name__})"
