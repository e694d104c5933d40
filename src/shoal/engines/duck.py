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


@contextmanager
def connection() -> Iterator[Connection]:
    """A fresh database for one task. Closing it gives its buffers back; a kept one would not."""
    config: dict[str, Any] = {
        "threads": workers(),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "preserve_insertion_order": True,
        # People's rows are never spilled to a disk, where a crash would leave them.
        "temp_directory": "",
    }
    if int(duckdb.__version__.split(".")[0]) >= 2:
        config["async_threads"] = 0
    opened = duckdb.connect(":memory:", config=config)
    try:
        yield opened
    except RuntimeError as error:
        # DuckDB swallows the exception of a signal's handler and says this instead.
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        raise
    finally:
        opened.close()


def text(value: str) -> str:
    """An SQL text literal."""
    return "'" + value.replace("'", "''") + "'"


def name(value: str) -> str:
    """An SQL name."""
    return '"' + value.replace('"', '""') + '"'


def file_literal(path: Path) -> str:
    """A file to read, as SQL text. Wildcards in its name are meant as they stand."""
    return text(re.sub(r"([*?\[])", r"[\1]", path.absolute().as_posix()))
