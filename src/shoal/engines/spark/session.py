"""Which rows of a frame work together, and how their groups are spread over tasks."""

import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.engines.base import BatchFunction, Listener, TableFunction, Transfer, no_listener
from shoal.engines.spark.executor import SLOT, over_batches, over_groups
from shoal.engines.spark.failures import understood
from shoal.engines.spark.files import no_rows, read_frame, require_columns, write_folder
from shoal.engines.spark.launch import Launched
from shoal.engines.spark.tables import PLAIN, Frame, Tables, carried, refused
from shoal.errors import InputError, listed
from shoal.io.csv_dialect import CsvOptions

TASK_ROWS = 250_000
"""Rows that one task takes, about: a group is never split."""
MOST_TASKS = 1_000
EXCHANGED = "spark.sql.shuffle.partitions"
LEAST_PARTS, MOST_PARTS = 6, 4_000
PART_ROWS = 500_000
"""Rows of a part after an exchange, about: some of them must fit into an executor beside each other."""


def exchanged_parts(rows: int, cores: int) -> int:
    """Into how many parts an exchange of all rows should put them.

    Spark's own 200 cost more than the work of most rounds; with so many as there are cores the parts of
    a long table would not fit into memory.
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


# Asks our own Spark now and then how many tasks of what it works on are done.


PAUSE = 1.0
END_SECONDS = 5.0


class Poller:
    """A thread that tells as long as Spark works; nothing is told while it is idle."""

    def __init__(self, tracker: Any, listener: Listener, pause: float = PAUSE) -> None:
        """tracker: a `pyspark.StatusTracker`."""
        self._tracker = tracker
        self._listener = listener
        self._pause = pause
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="shoal-polls")
        self._thread.start()

    def end(self) -> None:
        """Ask no more; to be called before Spark is stopped."""
        self._ended.set()
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        try:
            while not self._ended.wait(self._pause):
                transfer = tasks_of(self._tracker)
                if transfer is not None and not self._ended.is_set():
                    self._listener(transfer)
        except Exception:  # Spark went away, or whoever watches did: the work itself tells
            return


def tasks_of(tracker: Any) -> Transfer | None:
    """The tasks of all stages that run just now; None where none does."""
    found = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    running = [info for info in found if info is not None and info.numTasks]
    if not running:
        return None
    done = sum(info.numCompletedTasks for info in running)
    return Transfer(tasks=done, of_tasks=sum(info.numTasks for info in running))


# The session: tables that live in Spark, questions in SQL, functions that run in its executors.


class SparkTables:
    """Tables in Spark; see `shoal.engines.base.Session` for what each call does.

    `write` makes a folder. It is written in place: give it a hidden name, look at it, then move it
    (`shoal.io.commit.replacing_folder`).
    """

    def __init__(self, spark: Any, place: str, parts: int, launched: Launched | None) -> None:
        self._spark = spark
        self._place = place
        self._parts = parts
        self._launched = launched
        self._tables = Tables(spark)
        self._listener: Listener = no_listener
        self._poller: Poller | None = None

    @property
    def listener(self) -> Listener:
        """Called now and then, from another thread, while our own Spark works; else never."""
        return self._listener

    @listener.setter
    def listener(self, listener: Listener) -> None:
        self._listener = listener
        if self._launched is not None and self._poller is None and listener is not no_listener:
            self._poller = Poller(self._spark.sparkContext.statusTracker(), self._tell)

    def _tell(self, transfer: Transfer) -> None:
        self._listener(transfer)

    def read(
        self, name: str, sources: Sequence[Path], columns: Sequence[str], options: CsvOptions
    ) -> pa.Schema:
        """Make a table of the named columns of some files or folders of files."""
        with understood(self._place):
            found = read_frame(self._spark, sources, columns, options, self._parts)
            rows = found.rows
            if rows is not None:
                self._tables.name(name, found.frame)
            elif rows := self._tables.keep(name, found.frame):
                self._listener(Transfer(rows))
            else:
                self._tables.drop(name)
                raise no_rows(listed([str(source) for source in sources], 3))
            self.spread(rows)
        return found.schema

    def spread(self, rows: int) -> None:
        """Let a Spark of ours exchange so many rows in fitting parts, unless its user told it how."""
        if self._launched is not None and not self._spark.sparkContext.getConf().contains(
            EXCHANGED
        ):
            self._spark.conf.set(EXCHANGED, str(exchanged_parts(rows, self._parts)))

    def adopt(self, name: str, frame: Frame, columns: Sequence[str]) -> pa.Schema:
        """Make a table of the named columns of the user's frame, called p0, p1, ..."""
        with understood(self._place):
            names = list(frame.columns)
            doubled = [name for name, times in Counter(names).items() if times > 1]
            if doubled:
                raise InputError(
                    f"The Spark frame has more than one column named {listed(doubled)}. Rename them "
                    "first."
                )
            require_columns("The Spark frame", columns, names)
            plain = frame.toDF(*(f"x{i}" for i in range(len(names))))
            places = [names.index(column) for column in columns]
            for column, at in zip(columns, places, strict=True):
                kind = frame.schema[at].dataType.simpleString()
                if not PLAIN.fullmatch(kind):
                    raise refused("The Spark frame", column, kind)
            chosen = [plain[f"x{at}"].alias(f"p{i}") for i, at in enumerate(places)]
            table = plain.select(*chosen)
            # kept, since a frame may give other rows each time it is asked
            if not self._tables.keep(name, table):
                self._tables.drop(name)
                raise no_rows("The Spark frame")
            return table.limit(0).toArrow().schema

    def rows(self, name: str) -> int:
        """How many rows a table has that is kept."""
        return self._tables.rows(name)

    def query(self, sql: str) -> pa.Table:
        """A small answer."""
        with understood(self._place):
            return self._tables.answer(sql).toArrow()

    def keep(self, name: str, sql: str) -> None:
        """Make a table of an answer."""
        with understood(self._place):
            self._tables.keep(name, self._tables.answer(sql), again=True)

    def map(
        self, name: str, sql: str, function: BatchFunction, schema: pa.Schema, once: bool = False
    ) -> None:
        """Make a table of an answer, each batch of which has gone through a function."""
        with understood(self._place):
            held = carried(schema)
            frame = self._tables.answer(sql).mapInArrow(over_batches(function, held), _struct(held))
            self._make(name, frame, once)

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
        """Make a table of an answer, the rows of each key having gone through a function together."""
        with understood(self._place):
            held = carried(schema)
            frame = slotted(self._tables.answer(sql), key, sizes, self._parts)
            # the slot is in front, so that Spark sees each key's rows together and moves none again
            groups = frame.groupBy(SLOT, key)
            made = groups.applyInArrow(over_groups(function, held), _struct(held))
            self._make(name, made, once)

    def _make(self, name: str, frame: Frame, once: bool) -> None:
        if once:
            self._tables.name(name, frame)
        else:
            self._tables.keep(name, frame)

    def drop(self, name: str) -> None:
        """Forget a table."""
        with understood(self._place):
            self._tables.drop(name)

    def write(
        self,
        sql: str,
        target: Path,
        names: Sequence[str],
        order: Sequence[str],
        options: CsvOptions,
        rows: int,
    ) -> None:
        """Write an answer to a folder of part files that is not there yet."""
        with understood(self._place):
            write_folder(self._tables.answer(sql), target, names, order, options, rows)

    def pin(self, name: str, sql: str) -> None:
        """Make a table of an answer that is never computed again, whatever is lost."""
        with understood(self._place):
            self._tables.pin(name, self._tables.answer(sql))

    def frame(self, name: str, names: Sequence[str]) -> Frame:
        """Hand a table that was kept or pinned to the user: Spark keeps it also after `close`."""
        with understood(self._place):
            return self._tables.release(name).toDF(*names)

    def close(self) -> None:
        """Forget all tables; end Spark too if it is ours."""
        if self._poller is not None:
            self._poller.end()
        with understood(self._place):
            if self._launched is None:
                self._tables.clear()
            else:
                self._launched.end()


def _struct(schema: pa.Schema) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
