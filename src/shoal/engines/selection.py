"""Opening a session for a table that no memory holds, and the table in it."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.engines.base import Moved, Session, files_of, require_same_names, untold
from shoal.engines.memory import LocalEngine
from shoal.engines.release_table import Held
from shoal.errors import InputError
from shoal.io.columnar import parquet_rows
from shoal.io.commit import ended_as_exit
from shoal.io.csv_dialect import CsvOptions
from shoal.io.formats import Format
from shoal.progress import Clock, Progress

RELEASE = "release"
LOCAL, SPARK, CLUSTER = "local", "spark", "spark://"
SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT])(i?)B")
OWN_BYTES = 700_000_000
"""What this process takes beside its database: the program, and the rows of a fragment at work."""
LEAST, MOST = 100e6, 100e12
"""Bytes that a limit may be."""
DETECT = CsvOptions()


def elsewhere(engine: str, memory: str | None) -> bool:
    """Whether a session is asked for, instead of a table in memory."""
    return engine != LOCAL or memory is not None


def refuse_folder(path: Path) -> None:
    """Raise `InputError` where a table in memory is asked for, but a folder is named."""
    if path.is_dir():
        raise InputError(
            f"{path} is a directory. For a table in part files add --memory 2GB, to work on this "
            "machine's disk, or --engine spark (in Python memory= or engine=). Else name a file in it."
        )


def called(engine: str, memory: str | None) -> str:
    """The engine as a release tells it; which cluster it was is nobody's business."""
    if engine == LOCAL:
        return f"{LOCAL} --memory {memory}" if memory else LOCAL
    return SPARK


def is_spark(data: object) -> bool:
    """Whether this is a frame of Spark."""
    return type(data).__module__.startswith("pyspark.")


@contextmanager
def opened(engine: str, memory: str | None = None, clock: Clock | None = None) -> Iterator[Session]:
    """A session by its name: `spark`, `spark://host:port`, or `local` under a memory limit.

    clock: of a run, for which to start Spark is a step of its own.
    """
    check_engine(engine, memory)
    with ended_as_exit():  # so that nothing is left behind
        session = _open(engine, memory, clock)
        try:
            yield session
        finally:
            session.close()


def _open(engine: str, memory: str | None, clock: Clock | None) -> Session:
    if engine == LOCAL:
        from shoal.engines.duckdb.session import DuckSession

        return DuckSession(None if memory is None else for_database(memory))
    from shoal.engines.spark.opening import open_spark

    with (clock or Clock()).step("start"):
        return open_spark(engine)


def for_database(memory: str) -> str:
    """What a limit for the whole process leaves for its database; half of it at the least."""
    limit = _bytes_of(memory)
    assert limit is not None
    return f"{int(max(limit / 2, limit - OWN_BYTES)) // 1000}KB"


def _bytes_of(memory: str) -> float | None:
    """A size in bytes; None where it is no size."""
    found = SIZE.fullmatch(memory)
    if found is None:
        return None
    number, unit, binary = found.groups()
    return float(number) * (1024 if binary else 1000) ** (1 + "KMGT".index(unit))


def check_engine(engine: str, memory: str | None) -> None:
    """Raise `InputError` for an engine that there is not, or a limit that is none."""
    if engine not in (LOCAL, SPARK) and not engine.startswith(CLUSTER):
        raise InputError(
            f"'{engine}' is no engine; allowed: local, spark, and the address of a Spark master, "
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
        shown = memory if len(memory) <= 30 else f"{memory[:30]}…"
        raise InputError(
            f"--memory: found '{shown}'; it must be like 2GB, 512MB or 1.5GiB, from 100MB to 100TB."
        )


@contextmanager
def adopted(frame: Any, name: str, columns: Sequence[str]) -> Iterator[tuple[Any, pa.Schema]]:
    """The session of a Spark frame, with columns of the frame as a table, and their types."""
    from shoal.engines.spark.opening import open_frame

    session = open_frame(frame)
    try:
        yield session, session.adopt(name, frame, columns)
    finally:
        session.close()


@contextmanager
def held_frame(frame: Any) -> Iterator[Held]:
    """The rows of a Spark frame as a release in the session that the frame has."""
    names = tuple(frame.columns)
    with adopted(frame, RELEASE, names) as (session, schema):
        yield Held(session, RELEASE, names, schema)


@dataclass(frozen=True)
class Source:
    """A table in a file, or in a folder of part files."""

    place: Path
    files: tuple[Path, ...]
    options: CsvOptions
    names: tuple[str, ...]
    guessed: tuple[str, ...]
    """What was guessed about the files."""
    rows: int | None
    """Where that can be told without reading them."""


def source_at(place: Path, options: CsvOptions = DETECT) -> Source:
    """Look at the table in a file or folder, without reading its rows."""
    engine = LocalEngine()
    files, kind = files_of([place])
    settled, guessed = engine.settle(files[0], options)
    names = engine.names(files[0], settled)
    require_same_names(files, lambda file: engine.names(file, settled))
    rows = sum(map(parquet_rows, files)) if kind is Format.PARQUET else None
    return Source(place, tuple(files), settled, tuple(names), guessed, rows)


def check_source(engine: str, source: Source, columns: Sequence[str]) -> None:
    """Raise `InputError` where Spark would not take the files; asked before it is started."""
    if engine != LOCAL:
        from shoal.engines.spark.files import check_files

        check_files(source.files, columns, source.options)


def read_source(
    session: Session,
    name: str,
    source: Source,
    columns: Sequence[str],
    clock: Clock,
    tell: Progress,
) -> pa.Schema:
    """Read columns of the table into a session, as p0, p1, ...; the clock knows its rows then."""
    seen = clock.rows = source.rows

    def told(moved: Moved) -> None:
        nonlocal seen
        rows = moved.rows
        if rows is not None:
            seen = rows
        share = rows / source.rows if rows and source.rows else 0.0
        tell(share, rows, source.rows, moved.tasks, moved.of_tasks)

    session.told = told
    try:
        schema = session.read(name, source.files, columns, source.options)
    finally:
        session.told = untold
    clock.rows = seen
    return schema
