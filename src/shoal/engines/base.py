"""Engines: where the rows of a run are, and the steps of the run that touch them.

The pipeline is written once, against `Engine`. `MemoryEngine` keeps the table in this process;
`RelationalEngine` keeps it in a `Session`, which is DuckDB on disk or Spark.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import pyarrow as pa

from shoal.engines.files import LocalFiles
from shoal.engines.measured import Measured
from shoal.engines.release_table import ReleaseTable
from shoal.errors import InputError, listed
from shoal.io.columnar import parquet_rows
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.io.formats import ENDINGS, Format, check_readable, format_of
from shoal.models.requirement import Requirement
from shoal.policy import Policy
from shoal.progress import Clock, Progress, no_progress


@dataclass(frozen=True)
class Source:
    """A table in a file, or in a folder of part files."""

    place: Path
    files: tuple[Path, ...]
    options: CsvOptions
    names: tuple[str, ...]
    warnings: tuple[str, ...]
    """What was guessed about the files."""
    rows: int | None
    """Number of rows, where it is known without reading them."""


def source_at(place: Path, options: CsvOptions = DETECT) -> Source:
    """Look at the table in a file or folder, without reading its rows."""
    local = LocalFiles()
    files, kind = files_of([place])
    settled, warnings = local.settle(files[0], options)
    names = local.names(files[0], settled)
    require_same_names(files, lambda file: local.names(file, settled))
    rows = sum(map(parquet_rows, files)) if kind is Format.PARQUET else None
    return Source(place, tuple(files), settled, tuple(names), warnings, rows)


@dataclass(frozen=True)
class Expected:
    """What a table of the release must have once it is written."""

    names: tuple[str, ...]
    rows: int


class Engine(ABC):
    """One run's table and the steps that touch its rows.

    The pipeline calls `load` or `read`, then `encode`, `group`, `publish` and `measure` in this
    order, and then takes the release with `frames` or `write`. An engine serves one run.
    """

    label: str
    """The name of the engine in a release and its certificate."""
    capability: ClassVar[str]
    """Its column in the table of capabilities: "memory" or "large"."""
    writes_folders: bool = False
    """Whether a release is a folder of part files."""
    free_evidence: bool = False
    """Whether the evidence for a report comes at no extra cost, so it is always collected."""

    def opened(self, clock: Clock) -> AbstractContextManager[object]:  # noqa: ARG002
        """Open what the engine needs, and close it at the end; starting it may be a step."""
        return nullcontext()

    def check_target(self, target: Path) -> None:
        """Raise `InputError` for a target that the engine cannot write."""
        format_of(target)

    def check_source(self, source: Source, policy: Policy) -> None:  # noqa: B027 - most read all
        """Raise `InputError` for files that the engine cannot read; called before it is opened."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The columns of the table."""

    @abstractmethod
    def load(self, policy: Policy, clock: Clock) -> None:
        """Take the frame that the engine was made for."""

    @abstractmethod
    def read(self, source: Source, policy: Policy, clock: Clock, progress: Progress) -> None:
        """Read the columns that the policy needs."""

    @abstractmethod
    def encode(self, progress: Progress) -> int:
        """Replace values by codes; returns the number of rows."""

    @abstractmethod
    def group(self, requirement: Requirement, progress: Progress) -> int | None:
        """Put the rows into groups; returns how many are suppressed, where that is known already."""

    @abstractmethod
    def publish(self, evidence: bool, progress: Progress) -> None:
        """Label the groups. `evidence`: whether to count what a report needs."""

    @abstractmethod
    def measure(self, progress: Progress) -> Measured:
        """What the release cost."""

    @property
    @abstractmethod
    def expected(self) -> Sequence[Expected]:
        """The tables of the release."""

    @abstractmethod
    def frames(self) -> tuple[Any, dict[str, Any]]:
        """The release in the user's kind of frame, and its tables of sensitive values (Anatomy)."""

    @abstractmethod
    def published(self) -> ReleaseTable:
        """The rows of the release, as they are handed over."""

    @abstractmethod
    def write(self, paths: Sequence[Path], options: CsvOptions, progress: Progress) -> None:
        """Write the tables of the release."""

    @abstractmethod
    def read_back(
        self, paths: Sequence[Path], options: CsvOptions, progress: Progress
    ) -> ReleaseTable:
        """The release as it was written."""

    @property
    def digest(self) -> str:
        """Of a release that was checked on original values: the digest of the rows."""
        return ""


BatchFunction = Callable[[pa.RecordBatch], pa.RecordBatch]
"""Rows in, rows out, wherever the rows are: pure, and picklable."""
TableFunction = Callable[[pa.Table], pa.Table]
"""The same for all rows of one group."""


@dataclass(frozen=True)
class Transfer:
    """How far a long call of a session has come."""

    rows: int | None = None
    """Rows that have passed, where they are counted."""
    tasks: int | None = None
    """Tasks that are done, of those known so far, where tasks do the work."""
    of_tasks: int | None = None


Listener = Callable[[Transfer], None]


def no_listener(transfer: Transfer) -> None:
    """Ignores all transfers."""


class Session(Protocol):
    """Named tables and SQL queries on them.

    Only answers that are small by nature come to this process; the rows stay where they are. What a
    function returns for the same rows is the same, however often and wherever it is called.
    """

    listener: Listener
    """Called now and then during a long call, perhaps from another thread."""

    def read(
        self, name: str, sources: Sequence[Path], columns: Sequence[str], options: CsvOptions
    ) -> pa.Schema:
        """Create a table of the named columns of some files, called p0, p1, ... in this order;
        returns their types. Columns of CSV files are text."""

    def query(self, sql: str) -> pa.Table:
        """A small result, in any order."""

    def keep(self, name: str, sql: str) -> None:
        """Create a table from a query; it may replace one of the same name that it is made from."""

    def map(
        self, name: str, sql: str, function: BatchFunction, schema: pa.Schema, once: bool = False
    ) -> None:
        """Create a table from a query, each batch of which has passed through a function.

        once: it will be read once, and its sources exist until then, so it need not be stored.
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
        """Create a table from a query, the rows of each key having passed through a function.

        Rows reach the function in any order. sizes: about how many rows each of the keys 0, 1, ...
        has; there are no other keys.
        """

    def drop(self, name: str) -> None:
        """Drop a table."""

    def write(
        self,
        sql: str,
        target: Path,
        names: Sequence[str],
        order: Sequence[str],
        options: CsvOptions,
        rows: int,
    ) -> None:
        """Write the result of a query to a file or folder, its columns renamed, its rows ordered by
        some of them. rows: how many there are."""

    def close(self) -> None:
        """End the session and leave nothing behind."""


def query_number(session: Session, sql: str) -> int:
    """The number n that a query returns in its only row."""
    return int(session.query(sql).column("n")[0].as_py())


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


Step = Callable[[str], AbstractContextManager[Progress]]
"""Begins a step by its name; gives a function to report progress."""


@contextmanager
def passing(
    session: Session, progress: Progress, low: float, high: float, rows: int | None
) -> Iterator[None]:
    """Report the progress of a session's calls as the part from `low` to `high` of a step.

    rows: the rows that pass once through these calls; None where they are not the table's rows.
    """

    def listen(transfer: Transfer) -> None:
        through = min(1.0, (transfer.rows or 0) / rows) if rows else 0.0
        share = low + (high - low) * through
        progress(share, None, rows, transfer.tasks, transfer.of_tasks)

    session.listener = listen
    try:
        yield
    finally:
        session.listener = no_listener
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
def unreported(name: str) -> Iterator[Progress]:  # noqa: ARG001 - called as a `Step`
    """A step whose progress is ignored."""
    yield no_progress
