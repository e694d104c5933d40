"""A Spark session: named tables, SQL queries on them, and functions that run in its executors."""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.arrays import Ints
from shoal.engines.database.staging import StagedTable, Stored
from shoal.engines.queries import rows_without, select
from shoal.engines.sessions import (
    BatchFunction,
    CountFunction,
    Listener,
    TableFunction,
    Transfer,
    TypedFunction,
    no_listener,
)
from shoal.engines.spark.arrow import (
    SLOT,
    SQL_TYPES,
    Accumulator,
    Errors,
    over_batches,
    over_groups,
    schema_in_spark,
    unsupported_type,
    with_errors,
)
from shoal.engines.spark.failures import translated_errors, unpack_error
from shoal.engines.spark.files import no_rows, read_frame, require_columns, write_folder
from shoal.engines.spark.launch import Launched
from shoal.engines.spark.tables import Frame, Tables
from shoal.errors import InputError, listed
from shoal.io.csv_dialect import CsvOptions

TASK_ROWS = 250_000
"""Rows of one task, about: a group is never split."""
MOST_TASKS = 4_000
"""As many as there are fragments: the rows of a task are in memory together."""
SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
LEAST_PARTS, MOST_PARTS = 6, 4_000
PART_ROWS = 500_000
"""Rows of a part after a shuffle, about: an executor works on several parts at once."""
FEW_ROWS = 100_000
"""Rows that every executor may hold."""
POLL_SECONDS = 1.0
END_SECONDS = 5.0


class SparkTables:
    """Tables in Spark; see `shoal.engines.sessions.Session` for what each call does.

    `write` creates a folder of part files under the name it is given: write to a hidden name, check
    the result, then move it (`shoal.io.commit`).
    """

    walks = False

    def __init__(self, spark: Any, place: str, parts: int, launched: Launched | None) -> None:
        self._spark = spark
        self._place = place
        self._parts = parts
        self._launched = launched
        self._tables = Tables(spark)
        self._listener: Listener = no_listener
        self._poller: Poller | None = None
        self._errors: Accumulator = spark.sparkContext.accumulator([], Errors())

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Raise errors of ours for known failures of Spark, and those that our functions had."""
        try:
            with translated_errors(self._place):
                yield
        except Exception:
            self._raise_error()  # what came of it is of no interest
            raise
        self._raise_error()

    def _raise_error(self) -> None:
        said = self._errors.value
        if said:
            self._errors.value = []
            raise unpack_error(min(said)) or RuntimeError(min(said)) from None

    @property
    def listener(self) -> Listener:
        """Called now and then, from another thread, while a Spark of ours works."""
        return self._listener

    @listener.setter
    def listener(self, listener: Listener) -> None:
        self._listener = listener
        if self._launched is not None and self._poller is None and listener is not no_listener:
            self._poller = Poller(self._spark.sparkContext.statusTracker(), self._report)

    def _report(self, transfer: Transfer) -> None:
        self._listener(transfer)

    def read(
        self,
        name: str,
        sources: Sequence[Stored],
        columns: Sequence[str],
        options: CsvOptions,
    ) -> pa.Schema:
        """Create a table of the named columns of some files or folders of files."""
        with self._translated_errors():
            files = [place for place in sources if isinstance(place, Path)]
            assert len(files) == len(sources), "see `check_spark_files`"
            found = read_frame(self._spark, files, columns, options, self._parts)
            rows = found.rows
            if rows is not None:
                self._tables.name(name, found.frame)
            elif rows := self._tables.keep(name, found.frame):
                self._listener(Transfer(rows))
            else:
                self._tables.drop(name)
                raise no_rows(listed([str(source) for source in sources], 3))
            self.set_shuffle_partitions(rows)
        return found.schema

    def set_shuffle_partitions(self, rows: int) -> None:
        """Shuffle a table of so many rows in parts of a fitting size, in a Spark of ours, unless the
        user has configured it."""
        if self._launched is not None and not self._spark.sparkContext.getConf().contains(
            SHUFFLE_PARTITIONS
        ):
            self._spark.conf.set(SHUFFLE_PARTITIONS, str(shuffle_partitions(rows, self._parts)))

    def adopt(self, name: str, frame: Frame, columns: Sequence[str]) -> pa.Schema:
        """Create a table of the named columns of the user's frame, called p0, p1, ..."""
        with self._translated_errors():
            names = list(frame.columns)
            duplicates = [name for name, times in Counter(names).items() if times > 1]
            if duplicates:
                raise InputError(
                    f"The Spark frame has more than one column named {listed(duplicates)}. Rename "
                    "them first."
                )
            require_columns("The Spark frame", columns, names)
            plain = frame.toDF(*(f"x{i}" for i in range(len(names))))
            places = [names.index(column) for column in columns]
            for column, at in zip(columns, places, strict=True):
                kind = frame.schema[at].dataType.simpleString()
                if not SQL_TYPES.fullmatch(kind):
                    raise unsupported_type("The Spark frame", column, kind)
            chosen = [plain[f"x{at}"].alias(f"p{i}") for i, at in enumerate(places)]
            table = plain.select(*chosen)
            # kept, since a frame may compute other rows each time
            if not self._tables.keep(name, table):
                self._tables.drop(name)
                raise no_rows("The Spark frame")
            return table.limit(0).toArrow().schema

    def types(self, frame: Frame, columns: Sequence[str]) -> dict[str, pa.DataType]:
        """The types of some columns of the user's frame, without those that Spark does not store
        exactly."""
        with self._translated_errors():
            kinds = {field.name: field.dataType.simpleString() for field in frame.schema}
            exact = [name for name in columns if SQL_TYPES.fullmatch(kinds[name])]
            if not exact:
                return {}
            names = list(frame.columns)
            plain = frame.toDF(*(f"x{i}" for i in range(len(names))))
            found = plain.select(*(f"x{names.index(name)}" for name in exact)).limit(0).toArrow()
            return dict(zip(exact, found.schema.types, strict=True))

    def rows(self, name: str) -> int:
        """The number of rows of a kept table."""
        return self._tables.rows(name)

    def query(self, sql: str) -> pa.Table:
        """The result of a small query."""
        with self._translated_errors():
            return self._tables.query(sql).toArrow()

    def tally(self, sql: str, count: CountFunction, size: int) -> Ints:
        """Not done here: cuts are chosen by SQL."""
        raise NotImplementedError

    def keep(self, name: str, sql: str) -> None:
        """Create a table from a query."""
        with self._translated_errors():
            self._tables.keep(name, self._tables.query(sql), again=True)

    def map(
        self, name: str, sql: str, function: BatchFunction, schema: pa.Schema, once: bool = False
    ) -> None:
        """Create a table from a query, each batch of which has passed through a function."""
        with self._translated_errors():
            stored = self._schema(schema, once)
            frame = self._tables.query(sql).mapInArrow(
                over_batches(function, stored, self._errors), _struct(stored)
            )
            self._create(name, frame, once)

    def map_groups(
        self,
        name: str,
        sql: str,
        key: str,
        function: TableFunction,
        schema: pa.Schema,
        sizes: Sequence[int],
        once: bool = False,
        before: TypedFunction | None = None,
    ) -> None:
        """Create a table from a query, the rows of each key having passed through a function."""
        with self._translated_errors():
            stored = self._schema(schema, once)
            frame = self._tables.query(sql)
            if before is not None:
                found = schema_in_spark(before.schema)
                frame = frame.mapInArrow(over_batches(before, found, self._errors), _struct(found))
            frame = slotted(frame, key, sizes, self._parts).drop(SLOT)
            run = over_groups(function, key, stored, self._errors)
            self._create(name, frame.mapInArrow(run, _struct(stored)), once)

    def _schema(self, schema: pa.Schema, once: bool) -> pa.Schema:
        """What a function returns: also errors, where all its rows are looked at once."""
        stored = schema_in_spark(schema)
        return stored if once else with_errors(stored)

    def _create(self, name: str, frame: Frame, once: bool) -> None:
        if once:
            self._tables.name(name, frame)
        else:
            self._tables.keep(name, frame)

    def substitute(self, name: str, other: str, key: str) -> None:
        """Put the rows of another table in the place of those with the same key.

        Where these are few, they are sorted out whenever the table is read, and nothing is stored again.
        """
        with self._translated_errors():
            few, whole = self._tables.rows(other) <= FEW_ROWS, f"{name}_whole"
            columns = self._tables.columns(name)
            self._tables.rename(name, whole)
            kept = rows_without(whole, columns, key, other)
            frame = self._tables.query(f"{kept} UNION ALL {select(other, columns)}")
            if few:
                self._tables.name(name, frame, (whole, other))
            else:
                self._tables.keep(name, frame, again=True)
                for source in (whole, other):
                    self._tables.drop(source)

    def drop(self, name: str) -> None:
        """Drop a table."""
        with self._translated_errors():
            self._tables.drop(name)

    def write(
        self,
        sql: str,
        target: Path | StagedTable,
        names: Sequence[str],
        order: Sequence[str],
        options: CsvOptions,
        rows: int,
    ) -> None:
        """Write the result of a query to a folder of part files that does not exist yet."""
        with self._translated_errors():
            assert isinstance(target, Path), "see `SparkEngine.check_target`"
            write_folder(self._tables.query(sql), target, names, order, options, rows, self._errors)

    def pin(self, name: str, sql: str) -> None:
        """Create a table from a query that is never computed again, whatever is lost."""
        with self._translated_errors():
            self._tables.pin(name, self._tables.query(sql))

    def frame(self, name: str, names: Sequence[str]) -> Frame:
        """A kept or pinned table as a frame for the user: Spark keeps it also after `close`."""
        with self._translated_errors():
            return self._tables.release(name).toDF(*names)

    def close(self) -> None:
        """Drop all tables; end Spark too if it is ours."""
        if self._poller is not None:
            self._poller.end()
        with translated_errors(self._place):
            if self._launched is None:
                self._tables.clear()
            else:
                self._launched.end()


def _struct(schema: pa.Schema) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def shuffle_partitions(rows: int, cores: int) -> int:
    """Into how many parts a shuffle should put a table.

    Spark's default of 200 costs more than the work of most rounds; with as many as there are cores, the
    parts of a long table would not fit into memory.
    """
    return min(max(LEAST_PARTS, 3 * cores, -(-rows // PART_ROWS)), MOST_PARTS)


def slotted(frame: Frame, key: str, sizes: Sequence[int], parts: int) -> Frame:
    """The frame with each key's rows in one of several slots of about equal size.

    `sizes` are the rows of the keys 0, 1, ..., about. The slot is a pure function of the key. Hashing
    keys instead leaves some tasks without work and gives others twice as much.
    """
    from pyspark.sql import functions as f

    tasks = max(parts, -(-sum(sizes) // TASK_ROWS))
    bounds = slot_bounds(sizes, max(1, min(tasks, len(sizes), MOST_TASKS)))
    slot = _search(f, f.col(key), bounds, 0, len(bounds))
    return frame.withColumn(SLOT, slot).repartitionById(len(bounds) + 1, SLOT)


def slot_bounds(sizes: Sequence[int], slots: int) -> list[int]:
    """The first keys of all slots but the first; `sizes` are the rows of the keys 0, 1, ..."""
    total = sum(sizes)
    bounds: list[int] = []
    before = 0
    for key, n in enumerate(sizes):
        # a slot begins where its share of the rows does, and has at least one key
        middle = 2 * before + n
        if key and len(bounds) + 1 < slots and middle * slots >= 2 * total * (len(bounds) + 1):
            bounds.append(key)
        before += n
    return bounds


def _search(f: Any, key: Any, bounds: list[int], low: int, high: int) -> Any:
    """How many of the bounds[low:high] are at most the key, plus `low`, by halving."""
    if low == high:
        return f.lit(low)
    middle = (low + high) // 2
    below = _search(f, key, bounds, low, middle)
    above = _search(f, key, bounds, middle + 1, high)
    return f.when(key < f.lit(bounds[middle]), below).otherwise(above)


class Poller:
    """A thread that reports the tasks of a Spark of ours as long as it works."""

    def __init__(self, tracker: Any, listener: Listener, pause: float = POLL_SECONDS) -> None:
        """tracker: a `pyspark.StatusTracker`."""
        self._tracker = tracker
        self._listener = listener
        self._pause = pause
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="shoal-polls")
        self._thread.start()

    def end(self) -> None:
        """Stop; to be called before Spark is stopped."""
        self._ended.set()
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        try:
            while not self._ended.wait(self._pause):
                transfer = tasks_of(self._tracker)
                if transfer is not None and not self._ended.is_set():
                    self._listener(transfer)
        except Exception:  # Spark is gone, or the listener failed: the work itself raises errors
            return


def tasks_of(tracker: Any) -> Transfer | None:
    """The tasks of all stages that are running; None where none is."""
    found = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    running = [info for info in found if info is not None and info.numTasks]
    if not running:
        return None
    done = sum(info.numCompletedTasks for info in running)
    return Transfer(tasks=done, of_tasks=sum(info.numTasks for info in running))
