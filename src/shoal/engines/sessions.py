"""Sessions: named tables of a database (DuckDB on disk, or Spark), and SQL queries on them."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from shoal.arrays import Ints
from shoal.engines.database.staging import StagedTable, Stored
from shoal.engines.formats.base import format_of
from shoal.engines.formats.csv import Csv
from shoal.engines.sources import Source
from shoal.errors import InputError
from shoal.io.commit import exit_on_signals
from shoal.io.csv_dialect import CsvOptions
from shoal.progress import Clock, Progress

LOCAL, SPARK, CLUSTER = "local", "spark", "spark://"
SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT])(i?)B")
OWN_BYTES = 1_000_000_000
"""What this process takes beside its database: the program, and the rows of a fragment at work."""
LEAST, MOST = 100e6, 100e12
"""Bytes that a limit may be."""
RAW, PUBLISHED, RELEASE, PEOPLE = "raw", "published", "release", "people"
"""Tables of a session: as read, as published (q0.. labels, p0.. other columns), as written; and whom
the published rows belong to."""
FOR_FILES = (
    "An engine or a memory limit is for files, or folders of them, and not for a frame, which is in "
    "memory already."
)

NOT_IN_SPARK = (
    "`formulas: escaped` is not supported for CSV files in Spark, which would not escape or read "
    "them so. Use Parquet, or work on one machine, with --memory or in memory."
)

BatchFunction = Callable[[pa.RecordBatch], pa.RecordBatch]
"""Rows in, rows out, wherever the rows are: pure, and picklable."""
TableFunction = Callable[[pa.Table], pa.Table]
"""The same for all rows of one group."""
CountFunction = Callable[[pa.RecordBatch, Ints], None]
"""Adds what it counts of some rows to an array; pure otherwise, and picklable."""


class TypedFunction(Protocol):
    """A function on batches that knows the types of its result."""

    @property
    def schema(self) -> pa.Schema:
        """The types of the result."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows in, rows out."""


class ReviseFunction(Protocol):
    """A function on parts of a table that changes a column; it may keep counts, so each part passes
    once."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What it is given, the column that changes being the last."""

    def __call__(self, rows: pa.Table) -> pa.Array | None:
        """The column as it is to be; None where it stays as it is."""


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
    walks: bool
    """Whether `tally` is fast, so that passes over all rows need not be saved."""

    def read(
        self,
        name: str,
        sources: Sequence[Stored],
        columns: Sequence[str],
        options: CsvOptions,
    ) -> pa.Schema:
        """Create a table of the named columns of some files, or of a database's table, called p0, p1,
        ... in this order; returns their types. Columns of CSV files are text."""

    def query(self, sql: str) -> pa.Table:
        """A small result, in any order."""

    def tally(self, sql: str, count: CountFunction, size: int) -> Ints:
        """(size,) what a function counts of all rows of a query together."""

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
        before: "TypedFunction | None" = None,
    ) -> None:
        """Create a table from a query, the rows of each key having passed through a function.

        Rows reach the function in any order. before: what all rows pass through first, batch by batch,
        and what may find their key. sizes: about how many rows each of the keys 0, 1, ...
        has; there are no other keys.
        """

    def substitute(self, name: str, other: str, key: str) -> None:
        """Put the rows of another table, which has the same columns, in the place of those with the same
        key; the other table is then part of this one, and not to be used any more."""

    def drop(self, name: str) -> None:
        """Drop a table."""

    def write(
        self,
        sql: str,
        target: Path | StagedTable,
        names: Sequence[str],
        order: Sequence[str],
        options: CsvOptions,
        rows: int,
    ) -> None:
        """Write the result of a query to a file, a folder or a database, its columns renamed, its rows
        ordered by some of them. rows: how many there are."""

    def close(self) -> None:
        """End the session and leave nothing behind."""


@runtime_checkable
class RevisingSession(Protocol):
    """A session that can change a column of a table that it has stored."""

    def revise(self, name: str, function: ReviseFunction) -> None:
        """Put what a function makes of its columns into the last of these, part by part of the rows."""


@contextmanager
def open_session(
    engine: str, memory: str | None = None, clock: Clock | None = None
) -> Iterator[Session]:
    """A session by its name: `spark`, `spark://host:port`, or `local` under a memory limit.

    With a clock, starting Spark is a step of its own.
    """
    check_engine(engine, memory)
    with exit_on_signals():  # so that a signal leaves nothing behind
        session = _open(engine, memory, clock)
        try:
            yield session
        finally:
            session.close()


def _open(engine: str, memory: str | None, clock: Clock | None) -> Session:
    if engine == LOCAL:
        from shoal.engines.duckdb.session import DuckSession

        return DuckSession(None if memory is None else database_limit(memory))
    from shoal.engines.spark.connection import open_spark

    with (clock or Clock()).step("start"):
        return open_spark(engine)


def check_engine(engine: str, memory: str | None) -> None:
    """Raise `InputError` for an unknown engine, or for a limit that is not a size."""
    if engine not in (LOCAL, SPARK) and not engine.startswith(CLUSTER):
        raise InputError(
            f"'{engine}' is not an engine; allowed: local, spark, and the address of a Spark master, "
            "such as spark://host:7077."
        )
    if memory is None:
        return
    if engine != LOCAL:
        raise InputError(
            "--memory limits the local engine. Spark's memory is set where Spark is started "
            "(spark.executor.memory, spark.driver.memory)."
        )
    limit = bytes_of(memory)
    if limit is None or not LEAST <= limit <= MOST:
        given = memory if len(memory) <= 30 else f"{memory[:30]}…"
        raise InputError(
            f"--memory: found '{given}'; it must be like 2GB, 512MB or 1.5GiB, from 100MB to 100TB."
        )


def is_out_of_core(engine: str, memory: str | None) -> bool:
    """Whether the table stays outside of this process."""
    return engine != LOCAL or memory is not None


def engine_label(engine: str, memory: str | None) -> str:
    """The engine's name in a release; the address of a cluster is not part of it."""
    if engine == LOCAL:
        return f"{LOCAL} --memory {memory}" if memory else LOCAL
    return SPARK


def is_spark(data: object) -> bool:
    """Whether this is a Spark frame."""
    return type(data).__module__.startswith("pyspark.")


def database_limit(memory: str) -> str:
    """What a limit for the whole process leaves for its database; half of it at the least."""
    limit = bytes_of(memory)
    assert limit is not None
    return f"{int(max(limit / 2, limit - OWN_BYTES)) // 1000}KB"


def bytes_of(memory: str) -> float | None:
    """A size in bytes; None where the text is not a size."""
    size = SIZE.fullmatch(memory)
    if size is None:
        return None
    number, unit, binary = size.groups()
    return float(number) * (1024 if binary else 1000) ** (1 + "KMGT".index(unit))


def check_source(engine: str, source: Source, columns: Sequence[str]) -> None:
    """Raise `InputError` for files that an engine would not read; called before it is opened."""
    if engine != LOCAL:
        check_spark_files(source, columns)


def check_spark_files(source: Source, columns: Sequence[str]) -> None:
    """Raise `InputError` for files that Spark would not read."""
    from shoal.engines.spark.files import check_files

    files = [place for place in source.files if isinstance(place, Path)]
    if len(files) < len(source.files):
        raise InputError(
            f"{source.place}: Spark reads files, or folders of them, and no databases. Leave --engine "
            "spark out; --memory 2GB works on tables larger than memory."
        )
    if source.options.formulas and isinstance(format_of(files[0]), Csv):
        raise InputError(NOT_IN_SPARK)
    check_files(files, columns, source.options)


@contextmanager
def frame_in_session(
    frame: Any, name: str, columns: Sequence[str]
) -> Iterator[tuple[Any, pa.Schema]]:
    """The session of a Spark frame, with columns of the frame as a table, and their types."""
    from shoal.engines.spark.connection import open_frame

    session = open_frame(frame)
    try:
        yield session, session.adopt(name, frame, columns)
    finally:
        session.close()


def read_source(
    session: Session,
    name: str,
    source: Source,
    columns: Sequence[str],
    clock: Clock,
    progress: Progress,
) -> pa.Schema:
    """Read columns of a table into a session, as p0, p1, ...; sets the clock's number of rows."""
    seen = clock.rows = source.rows

    def listen(transfer: Transfer) -> None:
        nonlocal seen
        rows = transfer.rows
        if rows is not None:
            seen = rows
        share = rows / source.rows if rows and source.rows else 0.0
        progress(share, rows, source.rows, transfer.tasks, transfer.of_tasks)

    session.listener = listen
    try:
        schema = session.read(name, source.files, columns, source.options)
    finally:
        session.listener = no_listener
    clock.rows = seen
    return schema


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
