"""What a place must offer in which tables too large for memory live."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from shoal.errors import InputError, listed
from shoal.io.csv_dialect import CsvOptions
from shoal.io.formats import ENDINGS, Format, check_readable, format_of
from shoal.progress import Progress, no_progress

BatchFunction = Callable[[pa.RecordBatch], pa.RecordBatch]
"""Rows in, rows out, wherever the rows are: pure, and able to travel to another process."""
TableFunction = Callable[[pa.Table], pa.Table]
"""The same for all rows of one group."""


@dataclass(frozen=True)
class Moved:
    """How far a call is that takes long."""

    rows: int | None = None
    """Rows that have gone through, where they are counted."""
    tasks: int | None = None
    """Tasks that are done, of so many that are known just now, where tasks do the work."""
    of_tasks: int | None = None


Told = Callable[[Moved], None]


def untold(moved: Moved) -> None:
    """Tells nobody."""


class Session(Protocol):
    """Tables with names, and questions in SQL about them.

    Only answers that are small by nature come here. Everything else stays where the rows are; what a
    function gives back for the same rows is the same, however often and wherever it is called.
    """

    told: Told
    """Called now and then while a call goes on, perhaps from another thread; `untold` at first."""

    def read(
        self, name: str, sources: Sequence[Path], columns: Sequence[str], options: CsvOptions
    ) -> pa.Schema:
        """Make a table of the named columns of some files, called p0, p1, ... in this order; gives
        their types. Columns of CSV files are text."""

    def ask(self, sql: str) -> pa.Table:
        """A small answer, brought here, in any order."""

    def keep(self, name: str, sql: str) -> None:
        """Make a table of an answer; it may replace one of the same name that it was made from."""

    def map(
        self, name: str, sql: str, function: BatchFunction, schema: pa.Schema, once: bool = False
    ) -> None:
        """Make a table of an answer, each batch of which has gone through a function.

        once: it will be asked once, and what it comes from stays until then, so it need not be kept.
        """

    def map_groups(
        self,
        name: str,
        sql: str,
        key: str,
        function: TableFunction,
        schema: pa.Schema,
        sizes: Sequence[int],
        once: bool = False,
    ) -> None:
        """Make a table of an answer, the rows of each key having gone through a function together.

        Rows come to the function in any order. sizes: of the keys 0, 1, ..., how many rows each has,
        about; there is no other key.
        """

    def drop(self, name: str) -> None:
        """Forget a table."""

    def write(
        self,
        sql: str,
        target: Path,
        names: Sequence[str],
        order: Sequence[str],
        options: CsvOptions,
        rows: int,
    ) -> None:
        """Write an answer to a file or folder, its columns renamed, rows ordered by some of them.

        rows: how many there are.
        """

    def close(self) -> None:
        """End the session and leave nothing behind."""


# The files of a table that lies in several: files, or folders of part files.


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


# How far a step is, from the calls of a session that it is made of.


Step = Callable[[str], AbstractContextManager[Progress]]
"""Begins a step by its name; gives what tells how far it is."""


@contextmanager
def passing(
    session: Session, progress: Progress, low: float, high: float, rows: int | None
) -> Iterator[None]:
    """Let calls in which all rows go through once tell how far they are.

    They are the part from `low` to `high` of a step. rows: of the table; None where it is not its rows
    that go through.
    """

    def told(moved: Moved) -> None:
        through = min(1.0, (moved.rows or 0) / rows) if rows else 0.0
        share = low + (high - low) * through
        progress(share, None, rows, moved.tasks, moved.of_tasks)

    session.told = told
    try:
        yield
    finally:
        session.told = untold
    progress(high, total=rows)


def part_of(progress: Progress, low: float, high: float) -> Progress:
    """Return what reports how far the part of a step from `low` to `high` is."""

    def report(
        share: float,
        rows: int | None = None,  # noqa: ARG001 - of the part, not of the step
        total: int | None = None,
        tasks: int | None = None,
        total_tasks: int | None = None,
    ) -> None:
        progress(low + (high - low) * share, None, total, tasks, total_tasks)

    return report


@contextmanager
def unwatched(name: str) -> Iterator[Progress]:  # noqa: ARG001 - as a `Step` is called
    """A step of which nobody is told."""
    yield no_progress
