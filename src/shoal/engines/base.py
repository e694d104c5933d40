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

from shoal.engines.measured import Measured
from shoal.engines.release_table import ReleaseTable
from shoal.engines.sources import Source
from shoal.io.csv_dialect import CsvOptions
from shoal.io.formats import format_of
from shoal.models.requirement import Requirement
from shoal.policy import Policy
from shoal.progress import Clock, Progress


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
