"""A release on its way into a database: written, read back and put in place in one transaction.

The transaction begins with the first row that is written, and nobody else sees anything of it before it
is committed. Whatever ends it before (an error, a signal, a kill -9 of this process or of the server)
leaves the database as it was. A database file that does not exist yet is made under a temporary name.
"""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.cells import hash_rows
from shoal.engines.database.base import MARK, Database, OpenTable
from shoal.engines.database.connections import feeding, open_database
from shoal.errors import InputError, VerificationFailed
from shoal.io.address import Address, Dialect, Place, TableName
from shoal.io.commit import (
    PRIVATE,
    Part,
    Replacement,
    check_target,
    exit_on_signals,
    replacing,
)
from shoal.version import __version__


class StagedTable:
    """A table of a release that only this run sees."""

    def __init__(self, staging: "Staging", address: Address) -> None:
        self.address, self._staging = address, staging
        self.name = TableName(None, f"shoal_staging_{secrets.token_hex(8)}")
        self.sent = Checksum(pa.schema([]))
        self.is_confirmed = False
        """Whether all rows were read back, and found to be those that were sent."""

    def __str__(self) -> str:
        return str(self.address)

    def write(
        self, schema: pa.Schema, batches: Iterator[pa.RecordBatch] | Sequence[pa.RecordBatch]
    ) -> None:
        """Write the rows."""
        database = self._staging.database
        target = database.check_target(self.address, self._staging.force)
        self.name = TableName(target.schema, self.name.name)
        written = pa.schema([pa.field(f.name, database.written_type(f.type)) for f in schema])
        database.create(self.name, written)
        self.sent, self.is_confirmed = Checksum(written), False
        with feeding(written, self._outgoing(batches, self.sent)) as rows:
            database.insert(self.name, rows)

    def _outgoing(
        self, batches: Iterator[pa.RecordBatch] | Sequence[pa.RecordBatch], sent: "Checksum"
    ) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            converted = _converted(batch, sent.schema, self.address)
            sent.add(converted)
            yield converted

    def open(self) -> OpenTable:
        """The table as it was written, read through the same transaction.

        Once all of it is read, it must be what was sent.
        """
        return WrittenTable(self, self._staging.database)

    def confirm(self) -> None:
        """Read the table, unless that has been done, and compare it with what was sent."""
        if not self.is_confirmed:
            table = self.open()
            for _ in table.batches(table.schema()):
                pass

    def compare(self, received: "Checksum") -> None:
        """Raise `VerificationFailed` unless the database holds the rows that it was given."""
        if (received.rows, received.total) != (self.sent.rows, self.sent.total):
            raise VerificationFailed(
                f"{self} would not hold the rows that were to be published: the database changed "
                "values, or lost rows, on their way."
            )
        self.is_confirmed = True


class WrittenTable(OpenTable):
    """A staged table that is read back."""

    def __init__(self, staged: StagedTable, database: Database) -> None:
        super().__init__(database, staged.name.quoted)
        self._staged = staged

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows; where all columns are read, they are compared with what was sent."""
        staged = self._staged
        if sorted(schema.names) != sorted(staged.sent.schema.names):
            yield from super().batches(schema)
            return
        received = Checksum(staged.sent.schema)
        for batch in super().batches(schema):
            received.add(batch)
            yield batch
        staged.compare(received)


class Checksum:
    """The number of rows and the sum of their hashes, which is the same in any order of the rows."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema, self.rows, self.total = schema, 0, 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the rows of a batch, in the types and the order of the schema's columns."""
        columns = []
        for field in self.schema:
            column = batch.column(field.name)
            try:
                column = column if column.type == field.type else column.cast(field.type)
            except pa.ArrowException:  # then it is not what was sent
                self.total += 1
            if pa.types.is_floating(column.type):  # SQLite has no other "not a number" than missing
                column = pc.if_else(pc.is_nan(column), None, column)
            columns.append(column)
        words = hash_rows(len(batch), (), columns, 0)
        self.rows += len(batch)
        self.total = (self.total + int(words.sum(dtype="uint64"))) % (1 << 64)


Stored: TypeAlias = Path | Address | StagedTable
"""Where the rows of a table are: in a file, in a database, or in a database on their way."""


class Staging(Part):
    """The tables of one release in one database, and the transaction that writes them."""

    def __init__(self, addresses: Sequence[Address], force: bool, file: Replacement | None) -> None:
        """`file`: the new file of a database that does not exist yet."""
        self.force, self._file = force, file
        self._address = addresses[0]
        self.tables = [StagedTable(self, address) for address in addresses]
        self._digests: list[str] = []
        self._state = "verified"
        self._database: Database | None = None

    @property
    def database(self) -> Database:
        """The connection; it is opened when it is first needed, and then stays open."""
        if self._database is None:
            path = None if self._file is None else self._file.path
            self._database = open_database(self._address, write=True, file=path)
            if path is not None and path.exists():
                path.chmod(PRIVATE)  # until it is in place
        return self._database

    def describe(self, digests: Sequence[str]) -> None:
        """The digests of the tables' rows, as they were verified."""
        self._digests = list(digests)

    def describe_decoded(self) -> None:
        """The tables are no releases, but were decoded from one: their comments say so."""
        self._state = "decoded"
        self._digests = [f"{table.sent.rows}-{table.sent.total:016x}" for table in self.tables]

    def move(self) -> None:
        """Give the tables their names, and commit."""
        comments = {}
        for table in self.tables:
            table.confirm()
        for table, digest in zip(self.tables, self._digests, strict=True):
            target = self.database.check_target(table.address, self.force)
            comments[target] = f"{MARK} {__version__}, {self._state}. Digest of its rows: {digest}"
            self.database.put_in_place(table.name, target, comments[target])
        try:
            self.database.commit()
        except InputError as error:
            if not self._is_committed(comments, error):
                raise
        self.close()
        if self._file is not None:
            self._file.move()

    def _is_committed(self, comments: dict[TableName, str], error: InputError) -> bool:
        """Whether a commit happened although no answer came; raises where that cannot be found out."""
        if self._address.dialect is not Dialect.POSTGRESQL:
            return False
        try:
            with open_database(self._address) as database:
                found = {table: database.comment(table) or "" for table in comments}
        except InputError:
            raise InputError(
                f"{error} It was lost while the release was committed, and the server cannot be "
                "asked now: look whether the table's comment has the digest "
                f"{next(iter(self._digests))}."
            ) from None
        return all(comments[table] in found[table].splitlines() for table in comments)

    def undo(self) -> None:
        """Roll back what was not committed."""
        self.close()
        if self._file is not None:
            self._file.undo()

    def discard_backup(self) -> None:
        """Nothing is left behind by a transaction."""
        if self._file is not None:
            self._file.discard_backup()

    def close(self) -> None:
        """Close the connection; what was not committed is undone."""
        database, self._database = self._database, None
        if database is not None:
            database.close()


def check_tables(addresses: Sequence[Address], force: bool, source: Place | None = None) -> None:
    """Raise `InputError` unless the tables may be written; checked before any work.

    `source` is the input: it is never overwritten, not even by force.
    """
    for address in addresses:
        if address.file is not None and not address.file.exists():
            check_target(address.file, force=True)
            new_table(address)
            continue
        if address.file is not None:
            check_file(address.file)
        with open_database(address) as database:
            database.check_target(address, force)
            target = database.identity(address)
        if isinstance(source, Address) and source.dialect is address.dialect:
            with suppress(InputError), open_database(source) as database:
                if target is not None and database.identity(source) == target:
                    break
    else:
        return
    raise InputError(f"{address} is the input itself. Write to another table.")


def new_table(address: Address) -> TableName:
    """The table to be made in a file that does not exist yet."""
    if address.query is not None or address.table is None:
        raise InputError(f"{address}: a release is written to a table: ?table=NAME.")
    if address.table.schema not in (None, "main"):
        raise InputError(f"{address}: a new file has no schema '{address.table.schema}'.")
    return address.table


def check_file(file: Path) -> None:
    """Raise `InputError` for a database file that may not be written."""
    if not os.access(file, os.W_OK) or not os.access(file.parent, os.W_OK):
        raise InputError(f"{file} cannot be written: no right to write it, or into its folder.")


@contextmanager
def staging(addresses: Sequence[Address], force: bool) -> Iterator[Staging]:
    """The transaction for the tables of a release; committed by `move`, and otherwise undone.

    Whether they may be written is checked again when the first row is.
    """
    file = addresses[0].file
    if file is None or file.exists():
        opened = Staging(addresses, force, None)
        with exit_on_signals():
            try:
                yield opened
            finally:
                opened.close()
        return
    with replacing(file, force=False) as replacement:
        replacement.path.unlink()  # a database makes its file itself
        opened = Staging(addresses, force, replacement)
        try:
            yield opened
        finally:
            opened.close()


def _converted(batch: pa.RecordBatch, schema: pa.Schema, where: Address) -> pa.RecordBatch:
    columns = []
    for field, column in zip(schema, batch.columns, strict=True):
        try:
            if pa.types.is_dictionary(column.type):
                column = column.dictionary_decode()
            columns.append(column if column.type == field.type else column.cast(field.type))
        except pa.ArrowException:
            raise InputError(
                f"{where}: column '{field.name}' has values that the database's type {field.type} "
                "cannot hold, such as times with more than microseconds. Convert them first."
            ) from None
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@contextmanager
def open_table(place: Address | StagedTable) -> Iterator[OpenTable]:
    """A table or query, read in one transaction; a staged table in the one that wrote it."""
    if isinstance(place, StagedTable):
        yield place.open()
        return
    with open_database(place) as database:
        yield OpenTable(database, database.source(place))
