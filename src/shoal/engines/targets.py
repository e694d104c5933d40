"""Where a release goes: files, tables of a database, or both, all of them or none.

Files are moved into place before the transaction of the database is committed, and moved back should
that fail: a commit cannot be undone.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeAlias

from shoal.engines.database.staging import StagedTable, Staging, check_tables, staging
from shoal.engines.release_table import ReleaseTable
from shoal.io.address import Address, Place
from shoal.io.commit import Part, Replacements, commit_all, replacing_all
from shoal.io.commit import check_targets as check_files

Target: TypeAlias = Path | StagedTable
"""Where a table of a release is written before it appears under its name."""


class Targets:
    """Files and tables of a release, not in place yet."""

    def __init__(self, tables: Staging | None, files: Replacements, others: int) -> None:
        """`others`: so many of the files, the last ones, are not tables of the release."""
        staged: list[Target] = [] if tables is None else [*tables.tables]
        written = len(files.paths) - others
        self.tables: list[Target] = [*staged, *files.paths[:written]]
        """Where to write the tables of the release."""
        self.others = files.paths[written:]
        """Where to write its other files: a report, a key."""
        self._staging, self._files = tables, files

    def describe(self, release: ReleaseTable) -> None:
        """Take the digests of a release, as it was read back, for the comments of tables."""
        if self._staging is not None:
            tables = (release, *release.sensitive_tables.values())
            self._staging.describe([table.fingerprint.digest for table in tables])

    def describe_decoded(self) -> None:
        """Say in the comments of tables that they were decoded from a release."""
        if self._staging is not None:
            self._staging.describe_decoded()

    def commit(self) -> None:
        """Put everything in place; if that fails, what was there before stays."""
        parts: list[Part] = [*self._files.parts]
        commit_all(parts if self._staging is None else [*parts, self._staging])


def check_targets(
    tables: Sequence[Place],
    others: Sequence[Path],
    force: bool,
    source: Place | None = None,
    folder: bool = False,
) -> None:
    """Raise `InputError` unless all targets may be written; checked before any work.

    `source` is the input: it is never overwritten. `folder`: the first target is a folder.
    """
    addresses, files = _divided(tables)
    read = source if isinstance(source, Path) else None
    check_files([*files, *others], force, read, folder=folder)
    if addresses:
        check_tables(addresses, force, source)


@contextmanager
def targets_of(
    tables: Sequence[Place],
    others: Sequence[Path],
    force: bool,
    source: Place | None = None,
    folder: bool = False,
    private: Collection[Path] = (),
) -> Iterator[Targets]:
    """Temporary places for the tables of a release and its other files; all are checked before any
    work. private: files that only their owner may read."""
    addresses, files = _divided(tables)
    read = source if isinstance(source, Path) else None
    with ExitStack() as stack:
        replaced = replacing_all([*files, *others], force, read, folder=folder, private=private)
        opened = stack.enter_context(replaced)
        staged = stack.enter_context(staging(addresses, force)) if addresses else None
        yield Targets(staged, opened, len(others))


def _divided(tables: Sequence[Place]) -> tuple[list[Address], list[Path]]:
    addresses = [place for place in tables if isinstance(place, Address)]
    return addresses, [place for place in tables if isinstance(place, Path)]
