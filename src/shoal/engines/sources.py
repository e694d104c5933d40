"""Tables in files and databases: a file, a folder of part files of one format, a table, a query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.engines.database.staging import StagedTable, Stored
from shoal.engines.files import LocalFiles
from shoal.engines.formats.base import FileFormat, endings, format_of, located
from shoal.errors import InputError, listed
from shoal.io.address import Place
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.io.paths import check_readable

HIDDEN = (".", "_")
"""Names that begin so are not part of a table: markers of the tools that wrote it."""


@dataclass(frozen=True)
class Source:
    """A table in a file, in a folder of part files, or in a database."""

    place: Place
    files: tuple[Place, ...]
    """The files, or the one address."""
    options: CsvOptions
    names: tuple[str, ...]
    warnings: tuple[str, ...]
    """What was guessed about the files."""
    rows: int | None
    """Number of rows, where it is known without reading them."""


def source_at(place: Stored, options: CsvOptions = DETECT) -> Source:
    """Look at the table in a file, a folder or a database, without reading its rows."""
    local = LocalFiles()
    if not isinstance(place, Path):
        address = place.address if isinstance(place, StagedTable) else place
        return Source(address, (address,), options, tuple(local.names(place)), (), None)
    place, options = located(place, options)
    files, kind = files_of([place])
    settled, warnings = local.settle(files, options)
    names = local.names(files[0], settled)
    require_same_names(files, lambda file: local.names(file, settled))
    counts = [kind.rows(file) for file in files]
    rows = None if None in counts else sum(count or 0 for count in counts)
    return Source(place, tuple(files), settled, tuple(names), warnings, rows)


def files_of(sources: Sequence[Path]) -> tuple[list[Path], FileFormat]:
    """Every file of the table, by name, and the one format that they share."""
    files = [file for source in sources for file in _part_files(source)]
    if not files:
        raise InputError("No file was named to read.")
    kinds = {format_of(file) for file in files}
    if len(kinds) > 1:
        found = listed(sorted(kind.name for kind in kinds))
        raise InputError(
            f"The files of one table must have one format; found {found} in "
            f"{listed([str(source) for source in sources])}."
        )
    for file in files:
        check_readable(file)
    return files, kinds.pop()


def require_same_names(files: Sequence[Path], names_of: Callable[[Path], list[str]]) -> None:
    """Raise `InputError` where a file has other columns than the first, or in another order.

    A column that only some parts have would not be checked.
    """
    names = names_of(files[0])
    for other in files[1:]:
        if names_of(other) != names:
            # the names are left out: in a file without a header they would be a person's row
            raise InputError(
                f"{files[0]} and {other} name different columns, or name them in another order. The "
                "files of one table must have the same header: the same column names in the same "
                "order."
            )


def _part_files(source: Path) -> list[Path]:
    if not source.is_dir():
        if not source.suffix and not source.exists():
            raise InputError(f"{source} does not exist, neither as a file nor as a folder.")
        return [source]  # a missing file is reported by `check_readable`
    files = sorted(each for each in source.iterdir() if not each.name.startswith(HIDDEN))
    folders = [each.name for each in files if each.is_dir()]
    if folders:
        raise InputError(
            f"{source} contains folders ({listed(folders, 3)}). The files of a table must be in one "
            "folder; write a table that is partitioned by a column without partitions."
        )
    allowed = endings()
    others = [each.name for each in files if not each.name.lower().endswith(tuple(allowed))]
    if others:
        raise InputError(
            f"{source} contains files that are not tables by their names ({listed(others, 3)}). Move "
            f"or rename them. Allowed endings: {listed(allowed, 40)}."
        )
    # some tools write empty files for parts without rows, not even a header in them
    parts = [each for each in files if each.stat().st_size > 0]
    if not parts:
        raise InputError(
            f"{source} contains no file with a table in it. Allowed endings: {listed(allowed, 40)}."
        )
    return parts


def refuse_folder(path: Place) -> None:
    """Raise `InputError` for a folder, which is read only by engines for large tables."""
    if isinstance(path, Path) and path.is_dir():
        raise InputError(
            f"{path} is a directory. For a table in part files add --memory 2GB, to work on this "
            "machine's disk, or --engine spark (in Python memory= or engine=). Else name a file in it."
        )
