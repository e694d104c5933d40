"""DuckDB databases of our own: in memory, without network access, on no more cores than allowed."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from shoal.interruption import interrupting
from shoal.threads import workers

Connection = Any
"""duckdb.DuckDBPyConnection, which has no type annotations."""
SMALL = 1 << 23
"""Bytes of a task that may share a database with others."""

_shared_databases: list[Connection] = []
"""The database that small tasks share, once there is one."""
_shared_lock = threading.Lock()


def settings(threads: int | None = None) -> dict[str, Any]:
    """The configuration of every database: no downloads, and no more threads than allowed."""
    config: dict[str, Any] = {
        "threads": workers() if threads is None else threads,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    if int(duckdb.__version__.split(".")[0]) >= 2:
        config["async_threads"] = 0
    return config


def connect(place: str, config: dict[str, Any]) -> Connection:
    """A database in which times in UTC are the same on every machine."""
    opened = _configured(duckdb.connect(place, config=config))
    # what was begun in a user's own database is undone by further queries
    if place == ":memory:":
        interrupting(opened)
    return opened


def cursor(opened: Connection) -> Connection:
    """Another connection to a database in memory, which is interrupted by itself."""
    found = opened.cursor()
    interrupting(found)
    return found


def _configured(opened: Connection) -> Connection:
    opened.execute("SET TimeZone = 'UTC'")
    opened.execute("SET enable_progress_bar = false")  # it would appear in a notebook
    return opened


@contextmanager
def connection(size: int) -> Iterator[Connection]:
    """An empty database for one task on so many bytes, closed after it.

    Opening a database takes longer than most small tasks, so these share one that stays open, each with
    tables of its own. It has no threads but those of its tasks: others, when they have nothing to do,
    give all memory that is free in this process back to the system, which `allocation.py` keeps. Closing
    a database frees its buffers, so large tasks have one of their own.
    """
    opened = _shared() if size <= SMALL else _fresh()
    try:
        with interruptible():
            yield opened
    except Exception:
        _shared_databases.clear()  # some errors leave a database that is unusable
        raise
    finally:
        opened.close()


def _fresh(threads: int | None = None) -> Connection:
    # rows are never spilled to disk, where a crash would leave them, nor cached
    plain = {"preserve_insertion_order": True, "temp_directory": ""}
    config = {**settings(threads), **plain, "enable_external_file_cache": False}
    return connect(":memory:", config)


def _shared() -> Connection:
    with _shared_lock:
        found = next(iter(_shared_databases), None) or _fresh(threads=1)
        _shared_databases[:] = [found]
        return _configured(cursor(found))


def _forget() -> None:
    """Forget the databases of the parent process: a forked child has no threads for them."""
    global _shared_lock
    _parent_databases.extend(_shared_databases)
    _shared_databases.clear()
    _shared_lock = threading.Lock()


_parent_databases: list[Connection] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `KeyboardInterrupt` where DuckDB replaced it by an error of its own."""
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
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
    """A file to read, as SQL text; wildcards in its name are literal."""
    return text(re.sub(r"([*?\[])", r"[\1]", path.absolute().as_posix()))
