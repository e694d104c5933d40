"""A session on one machine: DuckDB with its tables in a private file, working out of core.

DuckDB keeps what fits under the memory limit and spills the rest beside its file. The folder is
readable by its owner alone and is removed when the session ends, however it ends.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.duck import connected, interruptible, settings
from shoal.engines.large.duck_files import read_into, write_from
from shoal.engines.large.private import private_folder
from shoal.engines.large.session import BatchFunction, Moved, TableFunction, Told, untold
from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions

BATCH = 1 << 17
"""Rows that go through a function at a time."""


class DuckSession:
    """Tables in a temporary database. Functions run in this process, one call at a time."""

    def __init__(self, memory: str | None = None, folder: Path | None = None) -> None:
        """memory: the most DuckDB may take ('2GB'); its own default if not given.

        folder: where the temporary files go; the system's place for them if not given.
        """
        self.told: Told = untold
        self._folder, self._remove = private_folder(self, folder)
        config = settings() | {
            "preserve_insertion_order": False,
            "temp_directory": str(self._folder / "spilled"),
        }
        if memory is not None:
            config["memory_limit"] = memory
        self._con: Any = connected(str(self._folder / "rows.duckdb"), config)

    def read(
        self, name: str, sources: Sequence[Path], columns: Sequence[str], options: CsvOptions
    ) -> pa.Schema:
        """Make a table of the named columns of some files; the types are those of the files, which
        the table may hold as wider ones."""
        with self._said():
            return read_into(self._con, name, sources, columns, options, self._through)

    def ask(self, sql: str) -> pa.Table:
        """A small answer."""
        with self._said():
            return self._con.sql(sql).to_arrow_table()

    def keep(self, name: str, sql: str) -> None:
        """Make a table of an answer."""
        with self._said():
            self._con.execute(f"CREATE OR REPLACE TABLE {name} AS {sql}")

    def map(
        self,
        name: str,
        sql: str,
        function: BatchFunction,
        schema: pa.Schema,
        once: bool = False,  # noqa: ARG002 - a table has to be made
    ) -> None:
        """Make a table of an answer, batch by batch through a function."""
        with self._said():
            self._fill(name, map(function, self._batches(sql)), schema)

    def map_groups(
        self,
        name: str,
        sql: str,
        key: str,
        function: TableFunction,
        schema: pa.Schema,
        sizes: Sequence[int],  # noqa: ARG002 - keys are treated one by one
        once: bool = False,  # noqa: ARG002
    ) -> None:
        """Make a table of an answer, key by key through a function; one key's rows are in memory."""
        with self._said(), self._ordered():
            ordered = self._batches(f"SELECT * FROM ({sql}) ORDER BY {key}")
            self._fill(name, map(function, _groups(ordered, key)), schema)

    def drop(self, name: str) -> None:
        """Forget a table."""
        self._con.execute(f"DROP TABLE IF EXISTS {name}")

    def write(
        self,
        sql: str,
        target: Path,
        names: Sequence[str],
        order: Sequence[str],
        options: CsvOptions,
        rows: int,  # noqa: ARG002 - they are written as they come
    ) -> None:
        """Write an answer to a file, rows in order."""
        with self._said(), self._ordered():
            write_from(self._con, sql, target, names, order, options, self._through)

    def close(self) -> None:
        """End the session and remove its files."""
        self._con.close()
        self._remove()

    def _batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """The rows of an answer as they come, never all at once."""
        cursor, rows = self._con.cursor(), 0
        try:
            for batch in cursor.sql(sql).to_arrow_reader(BATCH):
                yield batch
                rows += len(batch)
                self._through(rows)
        finally:
            cursor.close()

    def _through(self, rows: int) -> None:
        self.told(Moved(rows))

    def _fill(
        self, name: str, parts: Iterable[pa.RecordBatch | pa.Table], schema: pa.Schema
    ) -> None:
        """A table of these parts, under its name only when it is whole."""
        cursor, new = self._con.cursor(), f"{name}_new"
        try:
            # Each step for itself: where answers come in order, DuckDB 2.0 loses rows that are put
            # into a table of the same transaction.
            cursor.register("part", schema.empty_table())
            cursor.execute(f"CREATE OR REPLACE TABLE {new} AS SELECT * FROM part")
            for part in _gathered(parts, schema):
                cursor.register("part", part)
                cursor.execute(f"INSERT INTO {new} SELECT * FROM part")
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            cursor.execute(f"ALTER TABLE {new} RENAME TO {name}")
        except BaseException:
            cursor.execute(f"DROP TABLE IF EXISTS {new}")
            raise
        finally:
            cursor.close()

    @contextmanager
    def _ordered(self) -> Iterator[None]:
        """Let answers come in the order asked for: else DuckDB 2.0 hands out their parts in any."""
        self._con.execute("SET preserve_insertion_order = true")
        try:
            yield
        finally:
            self._con.execute("SET preserve_insertion_order = false")

    @contextmanager
    def _said(self) -> Iterator[None]:
        """DuckDB's limits in our words: its own may quote a row."""
        try:
            with interruptible():
                yield
        except duckdb.OutOfMemoryException:
            raise InputError(
                "The work does not fit under the memory limit, even with rows on disk. Raise the "
                "limit, or free space for temporary files."
            ) from None
        except duckdb.IOException:
            raise InputError(
                f"The temporary files in {self._folder.parent} could not be written. Is the disk "
                "full?"
            ) from None


def _groups(batches: Iterable[pa.RecordBatch], key: str) -> Iterator[pa.Table]:
    """The rows of each key together; they come ordered by it."""
    held: list[pa.RecordBatch] = []
    seen = set()
    for batch in batches:
        column = batch.column(key)
        changes = pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
        edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(batch)]
        for begin, end in pairwise(edges):
            if held and held[-1].column(key)[0] != column[begin]:
                yield pa.Table.from_batches(held)
                held = []
            if not held:
                value = column[begin].as_py()
                assert value not in seen, "the rows of a key come together"
                seen.add(value)
            held.append(batch.slice(begin, end - begin))
    if held:
        yield pa.Table.from_batches(held)


def _gathered(parts: Iterable[pa.RecordBatch | pa.Table], schema: pa.Schema) -> Iterator[pa.Table]:
    """The parts, small ones put together."""
    held: list[pa.Table] = []
    for part in parts:
        table = pa.Table.from_batches([part]) if isinstance(part, pa.RecordBatch) else part
        held.append(table.select(schema.names).cast(schema))
        if sum(map(len, held)) >= BATCH:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)
