"""A DuckDB of our own: in memory, off the network, on no more cores than there are."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from shoal.threads import workers

Connection = Any
"""duckdb.DuckDBPyConnection; DuckDB is not typed for us."""


def settings() -> dict[str, Any]:
    """What holds for every database: no downloads, and no more threads than we were given."""
    config: dict[str, Any] = {
        "threads": workers(),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    if int(duckdb.__version__.split(".")[0]) >= 2:
        config["async_threads"] = 0
    return config


def connected(place: str, config: dict[str, Any]) -> Connection:
    """A database in which times in UTC read the same on every machine."""
    opened = duckdb.connect(place, config=config)
    opened.execute("SET TimeZone = 'UTC'")
    return opened


@contextmanager
def connection() -> Iterator[Connection]:
    """A fresh database for one task. Closing it gives its buffers back; a kept one would not."""
    # People's rows are never spilled to a disk, where a crash would leave them.
    config = {**settings(), "preserve_insertion_order": True, "temp_directory": ""}
    opened = connected(":memory:", config)
    try:
        with interruptible():
            yield opened
    finally:
        opened.close()


@contextmanager
def interruptible() -> Iterator[None]:
    """DuckDB swallows the exception of a signal's handler and says so by another one."""
    try:
        yield
    except RuntimeError as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


def text(value: str) -> str:
    """An SQL text literal."""
    return "'" + value.replace("'", "''") + "'"


def name(value: str) -> str:
    """An SQL name."""
    return '"' + value.replace('"', '""') + '"'


def file_literal(path: Path) -> str:
    """A file to read, as SQL text. Wildcards in its name are meant as they stand."""
    return text(re.sub(r"([*?\[])", r"[\1]", path.absolute().as_posix()))
