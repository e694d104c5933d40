"""What a place must offer in which tables too large for memory live."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from shoal.io.csv_dialect import CsvOptions

BatchFunction = Callable[[pa.RecordBatch], pa.RecordBatch]
"""Rows in, rows out, wherever the rows are: pure, and able to travel to another process."""
TableFunction = Callable[[pa.Table], pa.Table]
"""The same for all rows of one group."""


@dataclass(frozen=True)
class Moved:
    """How far a call is that takes long."""

    rows: int | None = None
    """Rows that have gone through, where they are counted."""
    tasks: int | None = None
    """Tasks that are done, of so many that are known just now, where tasks do the work."""
    of_tasks: int | None = None


Told = Callable[[Moved], None]


def untold(moved: Moved) -> None:
    """Tells nobody."""


class Session(Protocol):
    """Tables with names, and questions in SQL about them.

    Only answers that are small by nature come here. Everything else stays where the rows are; what a
    function gives back for the same rows is the same, however often and wherever it is called.
    """

    told: Told
    """Called now and then while a call goes on, perhaps from another thread; `untold` at first."""

    def read(
        self, name: str, sources: Sequence[Path], columns: Sequence[str], options: CsvOptions
    ) -> pa.Schema:
        """Make a table of the named columns of some files, called p0, p1, ... in this order; gives
        their types. Columns of CSV files are text."""

    def ask(self, sql: str) -> pa.Table:
        """A small answer, brought here, in any order."""

    def keep(self, name: str, sql: str) -> None:
        """Make a table of an answer; it may replace one of the same name that it was made from."""

    def map(
        self, name: str, sql: str, function: BatchFunction, schema: pa.Schema, once: bool = False
    ) -> None:
        """Make a table of an answer, each batch of which has gone through a function.

        once: it will be asked once, and what it comes from stays until then, so it need not be kept.
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
        """Make a table of an answer, the rows of each key having gone through a function together.

        Rows come to the function in any order. sizes: of the keys 0, 1, ..., how many rows each has,
        about; there is no other key.
        """

    def drop(self, name: str) -> None:
        """Forget a table."""

    def write(
        self,
        sql: str,
        target: Path,
        names: Sequence[str],
        order: Sequence[str],
        options: CsvOptions,
        rows: int,
    ) -> None:
        """Write an answer to a file or folder, its columns renamed, rows ordered by some of them.

        rows: how many there are.
        """

    def close(self) -> None:
        """End the session and leave nothing behind."""
