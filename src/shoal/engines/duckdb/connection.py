"""A DuckDB of our own: in memory, off the network, on no more cores than there are."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from shoal.threads import workers

Connection = Any
"""duckdb.DuckDBPyConnection; DuckDB is not typed for us."""
SMALL = 1 << 20
"""Bytes of a task that leaves little behind in a database."""

_kept: dict[int, Connection] = {}
"""Per number of threads, the database that small tasks share."""
_keeping = threading.Lock()


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
    return _settled(duckdb.connect(place, config=config))


def _settled(opened: Connection) -> Connection:
    opened.execute("SET TimeZone = 'UTC'")
    opened.execute("SET enable_progress_bar = false")  # it would print one in a notebook
    return opened


@contextmanager
def connection(size: int) -> Iterator[Connection]:
    """A database for one task on so many bytes, empty and closed after it.

    Opening one takes longer than many a small task, so these share one that stays open and see
    nothing of each other. Closing one gives its buffers back: large tasks have their own.
    """
    opened = _shared() if size <= SMALL else _fresh()
    try:
        with interruptible():
            yield opened
    except Exception:
        _kept.clear()  # some errors leave a database that answers nothing any more
        raise
    finally:
        opened.close()


def _fresh() -> Connection:
    # People's rows are never spilled to a disk, where a crash would leave them, nor kept.
    plain = {"preserve_insertion_order": True, "temp_directory": ""}
    config = {**settings(), **plain, "enable_external_file_cache": False}
    return connected(":memory:", config)


def _shared() -> Connection:
    with _keeping:
        found = _kept.get(workers()) or _fresh()
        _kept[workers()] = found
        return _settled(found.cursor())


def _forget() -> None:
    """A child has no threads of its parent's database, and may not close it either."""
    global _keeping
    _left_alone.append(dict(_kept))
    _kept.clear()
    _keeping = threading.Lock()


_left_alone: list[dict[int, Connection]] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


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
