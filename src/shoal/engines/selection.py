"""Choosing the engine of a run: in memory, on this machine's disk, or in Spark."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.engines.base import Engine, Expected, Session
from shoal.engines.encode import columns_to_read
from shoal.engines.memory import MemoryEngine
from shoal.engines.queries import select
from shoal.engines.relational import RAW, RELEASE, RelationalEngine
from shoal.engines.session_release import SessionRelease
from shoal.engines.sources import Source
from shoal.errors import InputError
from shoal.io.commit import exit_on_signals
from shoal.io.csv_dialect import CsvOptions
from shoal.io.formats import Format, format_of
from shoal.policy import Policy
from shoal.progress import Clock, Progress

LOCAL, SPARK, CLUSTER = "local", "spark", "spark://"
SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT])(i?)B")
OWN_BYTES = 700_000_000
"""What this process takes beside its database: the program, and the rows of a fragment at work."""
LEAST, MOST = 100e6, 100e12
"""Bytes that a limit may be."""


class DuckDBEngine(RelationalEngine):
    """Keeps the table on this machine's disk, under a memory limit."""

    def __init__(self, memory: str) -> None:
        self.label, self._memory = engine_label(LOCAL, memory), memory

    @contextmanager
    def opened(self, clock: Clock) -> Iterator[None]:
        """Open a database of its own in a private folder."""
        with open_session(LOCAL, self._memory, clock) as self.session:
            yield

    def load(self, policy: Policy, clock: Clock) -> None:  # noqa: ARG002
        """Refused: a frame is in memory already."""
        raise InputError(FOR_FILES)

    def frames(self) -> tuple[Any, dict[str, Any]]:
        """None: the rows are in the written file alone."""
        return None, {}


class SparkEngine(RelationalEngine):
    """Keeps the table in Spark: a session of our own, or that of the user's frame."""

    label = SPARK
    writes_folders = True

    def __init__(self, address: str = SPARK, frame: Any = None) -> None:
        """`frame`: one of the user's, whose session is used."""
        self._address, self._frame = address, frame
        self._finished: Expected | None = None
        if frame is not None:
            self._names = list(frame.columns)

    @classmethod
    def holding(cls, frame: Any, rows: int) -> "SparkEngine":
        """An engine that holds a finished release, to be written."""
        engine = cls(frame=frame)
        engine._finished = Expected(tuple(frame.columns), rows)
        return engine

    @contextmanager
    def opened(self, clock: Clock) -> Iterator[None]:
        """Start Spark, or use the session of the frame."""
        if self._frame is None:
            with open_session(self._address, None, clock) as self.session:
                yield
            return
        from shoal.engines.spark.connection import open_frame

        self.session = open_frame(self._frame)
        try:
            if self._finished is not None:
                self._adopt(RELEASE, self._finished.names)
            yield
        finally:
            self.session.close()

    def _adopt(self, name: str, columns: Sequence[str]) -> pa.Schema:
        session: Any = self.session
        return session.adopt(name, self._frame, columns)

    def load(self, policy: Policy, clock: Clock) -> None:
        """Take the frame that the engine was made for."""
        self._policy = policy
        with clock.step("read"):
            self._schema = self._adopt(RAW, columns_to_read(policy))
            session: Any = self.session
            clock.rows = int(session.rows(RAW))

    def check_target(self, target: Path) -> None:
        """Raise `InputError` for a format that Spark does not write."""
        if format_of(target) is Format.ARROW:
            raise InputError(
                f"{target}: Spark writes folders of Parquet or CSV files. Name one '.parquet' or "
                "'.csv'."
            )

    def check_source(self, source: Source, policy: Policy) -> None:
        """Raise `InputError` for files that Spark would not read."""
        check_spark_files(source, columns_to_read(policy))

    @property
    def expected(self) -> list[Expected]:
        """The table of the release."""
        return super().expected if self._finished is None else [self._finished]

    def write(self, paths: Sequence[Path], options: CsvOptions, progress: Progress) -> None:
        """Write the published rows to a folder."""
        if self._finished is None:
            super().write(paths, options, progress)
            return
        names, rows = self._finished.names, self._finished.rows
        columns = [f"p{i}" for i in range(len(names))]
        query = select(RELEASE, columns)
        self.session.write(query, paths[0], names, columns, options, rows)

    def frames(self) -> tuple[Any, dict[str, Any]]:
        """The release as a Spark frame; None where its rows are in the written files alone."""
        if self._frame is None:
            return None, {}
        session: Any = self.session
        return session.frame(RELEASE, self.expected[0].names), {}

    def published(self) -> SessionRelease:
        """The rows of the release: what is verified is what is handed over."""
        if self._frame is None:
            return self._release
        names, columns = self._columns
        ordered = ", ".join(f"{column} AS p{i}" for i, column in enumerate(columns))
        session: Any = self.session
        session.pin(RELEASE, self._query([ordered]))  # never computed again, whatever is lost
        self._drop_sources()
        types = {f"p{i}": field.type for i, field in enumerate(self._types)}
        kinds = [types.get(column, pa.string()) for column in columns]
        schema = pa.schema([(f"p{i}", kind) for i, kind in enumerate(kinds)])
        return SessionRelease(self.session, RELEASE, tuple(names), schema)


FOR_FILES = (
    "An engine or a memory limit is for files, or folders of them, and not for a frame, which is in "
    "memory already."
)


def choose_engine(
    engine: str = LOCAL, memory: str | None = None, target: Path | None = None
) -> Engine:
    """The engine for a run from files, not opened yet."""
    check_engine(engine, memory)
    if engine != LOCAL:
        return SparkEngine(engine)
    if memory is not None:
        return DuckDBEngine(memory)
    return MemoryEngine(decode=target is None or format_of(target) is not Format.CSV)


def engine_for_frame(frame: Any) -> Engine:
    """The engine for a run from a frame."""
    return SparkEngine(frame=frame) if is_spark(frame) else MemoryEngine(frame)


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


def database_limit(memory: str) -> str:
    """What a limit for the whole process leaves for its database; half of it at the least."""
    limit = _bytes_of(memory)
    assert limit is not None
    return f"{int(max(limit / 2, limit - OWN_BYTES)) // 1000}KB"


def _bytes_of(memory: str) -> float | None:
    """A size in bytes; None where the text is not a size."""
    size = SIZE.fullmatch(memory)
    if size is None:
        return None
    number, unit, binary = size.groups()
    return float(number) * (1024 if binary else 1000) ** (1 + "KMGT".index(unit))


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
    limit = _bytes_of(memory)
    if limit is None or not LEAST <= limit <= MOST:
        given = memory if len(memory) <= 30 else f"{memory[:30]}…"
        raise InputError(
            f"--memory: found '{given}'; it must be like 2GB, 512MB or 1.5GiB, from 100MB to 100TB."
        )


def check_spark_files(source: Source, columns: Sequence[str]) -> None:
    """Raise `InputError` for files that Spark would not read."""
    from shoal.engines.spark.files import check_files

    check_files(source.files, columns, source.options)


def check_source(engine: str, source: Source, columns: Sequence[str]) -> None:
    """Raise `InputError` for files that an engine would not read; called before it is opened."""
    if engine != LOCAL:
        check_spark_files(source, columns)


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


@contextmanager
def release_in_session(
    frame: Any, columns: Sequence[str] | None = None
) -> Iterator[SessionRelease]:
    """The rows of a Spark frame as a release in the session that the frame has."""
    names = tuple(frame.columns if columns is None else columns)
    with frame_in_session(frame, RELEASE, names) as (session, schema):
        yield SessionRelease(session, RELEASE, names, schema)
