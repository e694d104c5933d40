"""The files of a table that lies in several: files, or folders of part files."""

from collections.abc import Callable, Sequence
from pathlib import Path

from shoal.errors import InputError, listed
from shoal.io.formats import ENDINGS, Format, check_readable, format_of

HIDDEN = (".", "_")
"""How names of files begin that are not part of a table: notes and marks of the tools that wrote it."""


def files_of(sources: Sequence[Path]) -> tuple[list[Path], Format]:
    """Every file of the table, by name, and the one format that they share."""
    found = [file for source in sources for file in _files(source)]
    if not found:
        raise InputError("No file was named to read.")
    kinds = {format_of(file) for file in found}
    if len(kinds) > 1:
        raise InputError(
            f"The files of one table must have one format; found {listed(sorted(kinds))} in "
            f"{listed([str(source) for source in sources])}."
        )
    for file in found:
        check_readable(file)
    return found, kinds.pop()


def require_same_names(files: Sequence[Path], names_of: Callable[[Path], list[str]]) -> None:
    """Raise `InputError` where a file has other columns than the first, or in another order.

    A column that only some parts have would be looked at by nobody.
    """
    names = names_of(files[0])
    for other in files[1:]:
        if names_of(other) != names:
            # the names are not shown: of a file without a header they would be somebody's row
            raise InputError(
                f"{files[0]} and {other} name different columns, or name them in another order. The "
                "files of one table must have the same header: the same column names in the same "
                "order."
            )


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        if not source.suffix and not source.exists():
            raise InputError(f"{source} does not exist, neither as a file nor as a folder.")
        # one that is not there is told of by check_readable
        return [source]
    seen = sorted(each for each in source.iterdir() if not each.name.startswith(HIDDEN))
    folders = [each.name for each in seen if each.is_dir()]
    if folders:
        raise InputError(
            f"{source} holds folders ({listed(folders, 3)}). The files of a table must lie in one "
            "folder; a table that is split by the values of a column must be written without that."
        )
    strange = [each.name for each in seen if not each.name.lower().endswith(tuple(ENDINGS))]
    if strange:
        raise InputError(
            f"{source} holds files that are no table by their names ({listed(strange, 3)}). Move "
            f"them elsewhere, or rename them. Allowed endings: {listed(ENDINGS)}."
        )
    # some tools write empty files for parts without rows, not even a header in them
    parts = [each for each in seen if each.stat().st_size > 0]
    if not parts:
        raise InputError(
            f"{source} holds no file with a table in it. Allowed endings: {listed(ENDINGS)}."
        )
    return parts
