"""The rows of a release, wherever they are: what a report and a check of it need to know of them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from shoal.engines.anatomy_release import AnatomyRelease
from shoal.engines.files import wrap
from shoal.engines.memory import release_of_frames
from shoal.engines.release_table import MemoryRelease, ReleaseTable
from shoal.engines.selection import is_spark, release_in_session
from shoal.engines.session_release import SessionRelease
from shoal.errors import InputError
from shoal.release import Release
from shoal.risk.columns import Contents, contents_of
from shoal.risk.table import contents_in_session


@contextmanager
def rows_of(release: Release, table: ReleaseTable | None = None) -> Iterator[ReleaseTable]:
    """The published rows of a release; `table` where an engine holds them."""
    if table is not None:
        yield table
    elif release.table is None:
        raise InputError(
            "This release holds no rows: they are in the files that the run wrote. Ask the run itself "
            "for the report (`report=`, on the command line `--report`)."
        )
    elif is_spark(release.table):
        with release_in_session(release.table) as opened:
            yield opened
    else:
        yield release_of_frames(release.table, release.sensitive_tables)


def contents(table: ReleaseTable, name: str) -> Contents:
    """What a column of a published table holds, counted."""
    if isinstance(table, SessionRelease):
        kind = table.stored(name)[1]
        return contents_in_session(table.session, table.table, name, table.stored(name)[0], kind)
    assert isinstance(table, MemoryRelease | AnatomyRelease)
    return contents_of(name, table.read([name]).column(0))


def digests_of(tables: Mapping[str, Any]) -> dict[str, str]:
    """The digests of the tables of sensitive values."""
    return {name: MemoryRelease(wrap(t)).fingerprint.digest for name, t in tables.items()}
