"""Tables of databases, open for reading: those of users, and those of a release on its way."""

from collections.abc import Iterator
from contextlib import contextmanager

from shoal.engines.database.base import OpenTable
from shoal.engines.database.connections import open_database
from shoal.engines.database.staging import StagedTable
from shoal.io.address import Address


@contextmanager
def open_table(place: Address | StagedTable) -> Iterator[OpenTable]:
    """A table or query, read in one transaction; a staged table in the one that wrote it."""
    if isinstance(place, StagedTable):
        yield place.open()
        return
    with open_database(place) as database:
        yield OpenTable(database, database.source(place))
