"""A database of the user: what reading a table and writing a release need of it.

Rows are read in batches, inside one transaction that only reads. A release is written, read back and
put in place inside one transaction on one connection (`staging.py`), so that a database holds the old
release or the new one, whatever happens meanwhile.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from types import TracebackType

import pyarrow as pa

from shoal.errors import InputError, listed, nearest
from shoal.io.address import Address, TableName

BATCH = 1 << 16
"""Rows of a batch."""
MARK = "Release made by Shoal"
"""How the line of a comment begins that describes a release."""


class Database(ABC):
    """A connection to a database, and one transaction in it.

    Every method raises `InputError` with one line for what a user can mend; a message contains no
    secret and no value of a row.
    """

    def __init__(self, address: Address) -> None:
        self.address = address

    @abstractmethod
    def source(self, address: Address) -> str:
        """The SQL to read from: the table or the query of an address of this database."""

    @abstractmethod
    def names(self, source: str) -> list[str]:
        """The columns, in order."""

    @abstractmethod
    def schema(self, source: str, columns: Sequence[str]) -> pa.Schema:
        """The types in which the columns are read; raises `InputError` for one that cannot be."""

    @abstractmethod
    def batches(self, source: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of the columns of a schema, in its types."""

    @abstractmethod
    def check_target(self, address: Address, force: bool) -> TableName:
        """The table to write, with its schema; raises `InputError` unless it may be written."""

    @abstractmethod
    def identity(self, address: Address) -> str | None:
        """What tells a table from every other, whatever its address is; None where there is none."""

    @abstractmethod
    def comment(self, table: TableName) -> str | None:
        """The comment of a table; None where there is none, or no table."""

    def written_type(self, kind: pa.DataType) -> pa.DataType:
        """The type in which a column is written; its own, without a dictionary."""
        return kind.value_type if pa.types.is_dictionary(kind) else kind

    @abstractmethod
    def create(self, table: TableName, schema: pa.Schema) -> None:
        """Create an empty table."""

    @abstractmethod
    def insert(self, table: TableName, rows: pa.RecordBatchReader) -> None:
        """Add rows to a table."""

    @abstractmethod
    def put_in_place(self, staged: TableName, target: TableName, comment: str) -> None:
        """Give a table its name and a comment; a table of that name is replaced, and what users were
        granted on it stays granted."""

    @abstractmethod
    def commit(self) -> None:
        """End the transaction; what was written is now visible to others."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection; what was not committed is undone."""

    def __enter__(self) -> "Database":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class OpenTable:
    """A table or a query of a database, open for reading."""

    def __init__(self, database: Database, source: str) -> None:
        self._database, self._source = database, source
        self.names = database.names(source)
        """The columns, in order."""
        where = database.address
        doubled = sorted({name for name in self.names if self.names.count(name) > 1})
        if doubled:
            raise InputError(
                f"{where} has more than one column named {listed(doubled)}. Give each its own name "
                "(AS …)."
            )

    def schema(self, columns: Sequence[str] | None = None) -> pa.Schema:
        """The types of some columns, or of all."""
        wanted = self.names if columns is None else list(columns)
        for name in wanted:
            if name not in self.names:
                raise InputError(
                    f"{self._database.address} has no column '{name}'."
                    f"{nearest(name, self.names)} It has: {listed(self.names)}."
                )
        return self._database.schema(self._source, wanted)

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows, never all at once."""
        if not len(schema):
            raise InputError(f"{self._database.address}: no column was chosen to read.")
        return self._database.batches(self._source, schema)

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Some columns of the table, or all."""
        schema = self.schema(columns)
        return pa.Table.from_batches(list(self.batches(schema)), schema)


def refuse_nested(where: Address, column: str, kind: str, fix: str) -> InputError:
    """The error for a column whose cells hold more than one value."""
    return InputError(
        f"{where}: column '{column}' has the type {kind}; a cell must hold one value. Read it through "
        f"a query that chooses or joins its values, such as {fix}, or leave the column out."
    )


def comment_of(old: str | None, new: str) -> str:
    """A comment with the line about a release in place of an earlier one; what users wrote stays."""
    kept = [line for line in (old or "").splitlines() if not line.startswith(MARK)]
    return "\n".join([*kept, new])


def sql_name(value: str) -> str:
    """An SQL name."""
    return TableName(None, value).quoted
