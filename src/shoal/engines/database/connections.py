"""Opens the database of an address."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from shoal.engines.database.base import Database
from shoal.io.address import Address, Dialect


def open_database(address: Address, write: bool = False, file: Path | None = None) -> Database:
    """A connection to the database of an address.

    `write`: the transaction may change it. `file`: opened in place of the file of the address.
    """
    place = address if file is None else replace(address, file=file)
    return _opener(address.dialect)(place, write)


def _opener(dialect: Dialect) -> Callable[[Address, bool], Database]:
    # imported here, so that a database loads nothing that only others need
    if dialect is Dialect.POSTGRESQL:
        from shoal.engines.database.postgresql import PostgreSQL

        return PostgreSQL
    if dialect is Dialect.SQLITE:
        from shoal.engines.database.sqlite import SQLite

        return SQLite
    from shoal.engines.database.duckdb_file import DuckDBFile

    return DuckDBFile


@contextmanager
def feeding(
    schema: pa.Schema, batches: Iterator[pa.RecordBatch] | Sequence[pa.RecordBatch]
) -> Iterator[pa.RecordBatchReader]:
    """Batches for a database to take; an error in making them is raised as it was.

    A database would replace it by an error of its own.
    """
    failed: list[BaseException] = []

    def guarded() -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except BaseException as error:
            failed.append(error)
            raise

    try:
        yield pa.RecordBatchReader.from_batches(schema, guarded())
    except BaseException:
        if failed:
            raise failed[0] from None
        raise
