"""Choosing the engine of a run: in memory, on this machine's disk, or in Spark."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.engines.base import Engine, Expected
from shoal.engines.encode import columns_to_read
from shoal.engines.formats.base import format_of, format_to_write
from shoal.engines.formats.csv import Csv
from shoal.engines.formats.parquet import Parquet
from shoal.engines.memory import MemoryEngine
from shoal.engines.queries import select
from shoal.engines.relational import RelationalEngine
from shoal.engines.release_table import ReleaseTable
from shoal.engines.session_identifiers import dropped_columns
from shoal.engines.session_release import SessionRelease
from shoal.engines.session_truth import new_keys, sum_table
from shoal.engines.sessions import (
    FOR_FILES,
    LOCAL,
    NOT_IN_SPARK,
    RAW,
    RELEASE,
    SPARK,
    bytes_of,
    check_engine,
    check_spark_files,
    engine_label,
    frame_in_session,
    is_spark,
    open_session,
)
from shoal.engines.sources import Source
from shoal.engines.targets import Target
from shoal.errors import InputError, PolicyError, VerificationFailed
from shoal.io.address import Place
from shoal.io.csv_dialect import CsvOptions
from shoal.policy import Policy
from shoal.progress import Clock, Progress


class DuckDBEngine(RelationalEngine):
    """Keeps the table on this machine's disk, under a memory limit."""

    def __init__(self, memory: str) -> None:
        self.label, self._memory = engine_label(LOCAL, memory), memory
        self.ceiling = int(bytes_of(memory) or 0)

    @contextmanager
    def opened(self, clock: Clock) -> Iterator[None]:
        """Open a database of its own in a private folder."""
        with open_session(LOCAL, self._memory, clock) as self.session:
            yield

    def check_target(self, target: Place) -> None:
        """Raise `InputError` for a format that must be written at once."""
        if not isinstance(target, Path):
            return
        kind = format_to_write(target)
        if not kind.appendable:
            raise InputError(
                f"{target}: {kind.title} is written from memory, at once. For tables larger than "
                "memory write Parquet, CSV or another format that takes rows as they come, or leave "
                "out --memory."
            )

    def check_key(self, path: Path) -> None:
        """Raise `InputError` for a format that must be written at once."""
        self.check_target(path)

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
        self._digest = ""
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
                schema = self._adopt(RELEASE, self._finished.names)
                self._held = [(field.name, field.type) for field in schema]
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
            session: Any = self.session
            types = partial(session.types, self._frame)
            self._identifiers = dropped_columns(policy, self._names, types)
            self._schema = self._adopt(RAW, columns_to_read(policy, self._identifiers))
            clock.rows = int(session.rows(RAW))

    def check_target(self, target: Place) -> None:
        """Raise `InputError` for a format that Spark does not write."""
        if not isinstance(target, Path):
            raise InputError(
                f"{target}: Spark writes folders of Parquet or CSV files, and no databases. Name one, "
                "or leave --engine spark out; --memory 2GB works on tables larger than memory."
            )
        if not isinstance(format_of(target), Csv | Parquet):
            raise InputError(
                f"{target}: Spark writes folders of Parquet or CSV files. Name one '.parquet' or "
                "'.csv'."
            )

    def check_source(self, source: Source, policy: Policy) -> None:
        """Raise `InputError` for files that Spark would not read or write."""
        if policy.formulas == "escaped":
            raise PolicyError(NOT_IN_SPARK)
        check_spark_files(source, columns_to_read(policy))

    @property
    def expected(self) -> list[Expected]:
        """The table of the release."""
        return super().expected if self._finished is None else [self._finished]

    def write(self, paths: Sequence[Target], options: CsvOptions, progress: Progress) -> None:
        """Write the published rows to a folder."""
        if self._finished is None:
            super().write(paths, options, progress)
            return
        names, rows = self._finished.names, self._finished.rows
        columns = [f"p{i}" for i in range(len(names))]
        query = select(RELEASE, columns)
        self._keys = new_keys()
        self._sent = sum_table(self.session, RELEASE, self._held, self._keys)
        self.session.write(query, paths[0], names, columns, options, rows)

    def require_written(self, written: ReleaseTable) -> None:
        """Raise `VerificationFailed` unless the written files have the rows of the frame."""
        assert isinstance(written, SessionRelease)
        places = [written.stored(name) for name in written.names]
        if sum_table(self.session, written.table, places, self._keys) != self._sent:
            raise VerificationFailed(
                "The written files do not hold the rows of the release: their digests differ."
            )

    def frames(self) -> tuple[Any, dict[str, Any]]:
        """The release as a Spark frame; None where its rows are in the written files alone."""
        if self._frame is None:
            return None, {}
        if self._policy.person is not None:  # once it is the user's, the session has it no more
            self._digest = self._release.fingerprint.digest
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
        people = self._keep_people()
        self._drop_sources()
        schema = pa.schema([(f"p{i}", kind) for i, kind in enumerate(self._kinds)])
        self._release = SessionRelease(self.session, RELEASE, names, schema, people=people)
        return self._release

    @property
    def digest(self) -> str:
        """Of a frame whose people were counted: the digest of the rows, since the people stay behind."""
        return self._digest


def choose_engine(
    engine: str = LOCAL, memory: str | None = None, target: Place | None = None
) -> Engine:
    """The engine for a run from files, not opened yet."""
    check_engine(engine, memory)
    if engine != LOCAL:
        return SparkEngine(engine)
    if memory is not None:
        return DuckDBEngine(memory)
    decode = not isinstance(target, Path) or not format_of(target).takes_categories
    return MemoryEngine(decode=decode)


def engine_for_frame(frame: Any) -> Engine:
    """The engine for a run from a frame."""
    return SparkEngine(frame=frame) if is_spark(frame) else MemoryEngine(frame)


@contextmanager
def release_in_session(
    frame: Any, columns: Sequence[str] | None = None
) -> Iterator[SessionRelease]:
    """The rows of a Spark frame as a release in the session that the frame has."""
    names = tuple(frame.columns if columns is None else columns)
    with frame_in_session(frame, RELEASE, names) as (session, schema):
        yield SessionRelease(session, RELEASE, names, schema)
