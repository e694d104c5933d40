"""A Spark session: named tables, SQL queries on them, and functions that run in its executors."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import Ints
from shoal.engines.database.staging import StagedTable, Stored
from shoal.engines.duckdb.parts import BATCH
from shoal.engines.queries import Described, NumberedRows, Selection, rows_without, select
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
    SQL_TYPES,
    Accumulator,
    Errors,
    schema_in_spark,
    unsupported_type,
)
from shoal.engines.spark.failures import quiet, translated_errors, unpack_error
from shoal.engines.spark.files import ParquetTable, no_rows, read_files, require_columns
from shoal.engines.spark.folders import write_folder
from shoal.engines.spark.key_counts import (
    KEYS_TOGETHER,
    CountKnown,
    keying,
    uniqueness,
    uniqueness_of,
)
from shoal.engines.spark.launch import Launched
from shoal.engines.spark.packages import (
    PackedTable,
    Rdd,
    ScannedTable,
    Source,
    Without,
    decoded,
    exchanged,
    opened,
    read_groups,
    rows_of,
    unpacking,
)
from shoal.engines.spark.row_work import (
    Among,
    Placed,
    as_they_are,
    counting,
    first_of,
    grouping,
    mapping,
    numbering,
    placing,
    repeated,
    rows_where,
)
from shoal.engines.spark.tables import Frame, Tables
from shoal.engines.spark.value_counts import (
    Combined,
    adding_up,
    at_most,
    combining,
    forms_together,
    sizes_of,
    summing_forms,
    valuing,
)
from shoal.errors import InputError, listed
from shoal.io.arrow import one_chunk
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
SIZES = pa.schema([("size", pa.int64()), ("times", pa.int64())])
POLL_SECONDS = 1.0
END_SECONDS = 5.0


class SparkTables:
    """Tables in Spark; see `shoal.engines.sessions.Session` for what each call does.

    `write` creates a folder of part files under the name it is given: write to a hidden name, check
    the result, then move it (`shoal.io.commit`).
    """

    walks = True

    def __init__(self, spark: Any, place: str, parts: int, launched: Launched | None) -> None:
        self._spark = spark
        self._place = place
        self._parts = parts
        self._launched = launched
        self._tables = Tables(spark)
        self._packed: dict[str, PackedTable] = {}
        """Tables that Java does not open; they become frames where SQL is asked."""
        self._scans: dict[str, ScannedTable] = {}
        """Tables that Arrow reads from Parquet files."""
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
            found = read_files(self._spark, files, columns, options, self._parts)
            if isinstance(found, ParquetTable):
                self._forget(name)
                self._tables.defer(name, found.make, keep=False)
                rows, stored = found.rows, schema_in_spark(found.schema)
                self._scans[name] = ScannedTable(found.scan, stored, rows)
            else:
                rows = self._keep(name, found.packages, found.schema)
                if not rows:
                    self.drop(name)
                    raise no_rows(listed([str(source) for source in sources], 3))
                self._listener(Transfer(rows))
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
            found = self._answer(sql)
            return self._tables.query(sql).toArrow() if found is None else found

    def tally(self, sql: str, count: CountFunction, size: int) -> Ints:
        """What a function counts of all rows; each task has counts of its own, added up at the end."""
        with self._translated_errors():
            assert isinstance(sql, Selection)
            self._narrow(sql)
            return self._tally(sql, count, size)

    def _tally(self, sql: Selection, count: CountFunction, size: int) -> Ints:
        totals = np.zeros(size, np.int64)
        counted = self._source(sql).run(counting(count, size), self._parts)
        for package in counted.toLocalIterator():
            rows = rows_of(package)
            totals[rows.column("at").to_numpy()] += rows.column("n").to_numpy()
        return totals

    def _uniqueness(self, sql: Described, table: PackedTable, rows: int) -> pa.Table:
        """How many different keys sets of columns of hashes have, and how many occur once."""
        slots = max(self._parts, -(-rows * len(sql.sets) // KEYS_TOGETHER))
        source = table.source(sql.columns, coded=False)
        sent = source.run(keying(sql.sets, sql.missing, slots))
        together = Source(exchanged(sent, slots), opened(None, coded=False))
        return uniqueness_of(together.run(uniqueness).collect(), len(sql.sets))

    def _narrow(self, sql: Selection) -> None:
        """Keep some columns of a packed table apart, which are read again and again."""
        table = self._packed.get(sql.table)
        if table is None or not table.is_kept or sql.columns in table.narrow:
            return
        schema = pa.schema([table.schema.field(name) for name in sql.columns])
        rdd = table.source(sql.columns, coded=True).run(mapping(_same, schema))
        table.narrow[sql.columns] = rdd.persist(_on_disk())

    def keep(self, name: str, sql: str) -> None:
        """Create a table from a query."""
        with self._translated_errors():
            if isinstance(sql, Described) and sql.asked == "repeated" and self._knows(sql.table):
                source = self._source(select(sql.table, sql.columns))
                schema = pa.schema([(sql.columns[0], pa.int64())])
                self._keep(name, repeated(source, self._parts), schema)
                return
            self._tables.keep(name, self._tables.query(sql), again=True)
            self._forget(name)

    def map(
        self, name: str, sql: str, function: BatchFunction, schema: pa.Schema, once: bool = False
    ) -> None:
        """Create a table from a query, each batch of which has passed through a function."""
        with self._translated_errors():
            stored = schema_in_spark(schema)
            source = self._source(sql, getattr(function, "reads_codes", False))
            self._create(name, source.run(mapping(function, stored)), stored, once)

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
            stored = schema_in_spark(schema)
            bounds = slot_bounds(sizes, slots_for(sizes, self._parts))
            prepare, rows = decoded, sql
            if (
                isinstance(sql, Described)
                and sql.asked == "combinations"
                and self._knows(sql.table)
            ):
                prepare, rows = Combined(sql.columns), select(sql.table, sql.columns)
            coded = before is None or getattr(before, "reads_codes", False)
            place = Placed(key, np.array(bounds, np.int64), before)
            sent = self._source(rows, coded).run(placing(place, len(bounds) + 1))
            together = Source(exchanged(sent, len(bounds) + 1), opened(None, coded=True))
            found = together.run(grouping(function, key, stored, prepare))
            self._create(name, found, stored, once)

    def _create(self, name: str, rdd: Rdd, schema: pa.Schema, once: bool) -> None:
        if not once:
            self._keep(name, rdd, schema)
            return
        self._forget(name)
        self._packed[name] = PackedTable(rdd, schema, None)
        self._tables.defer(name, lambda: self._frame(rdd, schema), keep=False)

    def _keep(self, name: str, rdd: Rdd, schema: pa.Schema) -> int:
        """Compute packages and keep them under the name; an error in one of them is raised. Returns the
        number of rows."""
        kept = rdd.persist(_on_disk())
        try:
            found = kept.map(lambda package: (package[1], package[3])).collect()
            if said := [error for _, error in found if error is not None]:
                raise unpack_error(min(said)) or RuntimeError(min(said))
        except BaseException:
            with quiet():
                kept.unpersist()
            raise
        self._forget(name)
        total = sum(rows for rows, _ in found)
        self._packed[name] = PackedTable(kept, schema, total)
        self._tables.defer(name, lambda: self._frame(kept, schema), keep=True)
        return total

    def _forget(self, name: str) -> None:
        """Forget the packages of a table that is dropped or replaced."""
        self._scans.pop(name, None)
        if (table := self._packed.pop(name, None)) is not None:
            table.forget()

    def _knows(self, name: str) -> bool:
        """Whether a table can be read without SQL."""
        return name in self._packed or name in self._scans

    def _source(self, sql: str, coded: bool = False) -> Source:
        """The rows of a query, by SQL only where it takes some. coded: texts may be codes."""
        if isinstance(sql, Described) and sql.asked == "combinations" and self._knows(sql.table):
            return self._combinations(sql, decoded)
        if isinstance(sql, NumberedRows) and (found := self._numbered(sql)) is not None:
            return found
        if isinstance(sql, Selection) and sql.table in self._packed:
            return self._packed[sql.table].source(self._types(sql).names, coded)
        if isinstance(sql, Selection) and sql.table in self._scans:
            table = self._scans[sql.table]
            groups = table.scan.row_groups(list(dict.fromkeys(sql.columns)), BATCH, coded)
            if groups is not None:
                tasks = max(self._parts, -(-table.rows // TASK_ROWS))
                rdd = self._spark.sparkContext.parallelize(groups, min(len(groups), tasks))
                return Source(rdd, read_groups(self._place))
        return Source(None, frame=self._tables.query(sql))

    def _numbered(self, sql: NumberedRows) -> Source | None:
        """Rows with a key that repeats, numbered; None where there are too many keys."""
        table, values = self._packed.get(sql.table), self._packed.get(sql.values)
        if table is None or values is None or not 0 <= (values.rows or 0) <= FEW_ROWS:
            return None
        keys = self._rows(values.source([sql.key], coded=False), values.schema).column(sql.key)
        # rows with a key are together, however many they are
        slots = max(self._parts, -(-(table.rows or 0) // TASK_ROWS))
        among = Among(sql.key, one_chunk(keys), slots)
        sent = table.source(sql.columns, coded=True).run(placing(among, slots))
        together = Source(exchanged(sent, slots), opened(None, coded=True))
        return Source(together.run(numbering(sql.alike, sql.by)), opened(None, coded=False))

    def _combinations(self, sql: Described, then: TableFunction) -> Source:
        """The combinations of columns; then: what those of each part of them pass through."""
        needed = dict.fromkeys((*sql.columns, *([sql.kept] if sql.kept else [])))
        source, slots = self._source(select(sql.table, list(needed)), coded=True), self._parts
        sent = source.run(combining(sql.columns, slots, sql.kept))
        together = Source(exchanged(sent, slots), opened(None, coded=True))
        return Source(together.run(adding_up(sql.columns, then)), opened(None, coded=False))

    def _answer(self, sql: str) -> pa.Table | None:
        """The result of a query that needs no SQL; None of any other."""
        if isinstance(sql, Selection) and sql.table in self._packed:
            return self._rows(self._source(sql), self._types(sql))
        if not isinstance(sql, Described) or not self._knows(sql.table):
            return None
        table = self._packed.get(sql.table)
        if sql.asked == "count":
            rows = self._scans[sql.table].rows if table is None else table.rows
            return None if rows is None else pa.table({"n": [rows]})
        if sql.asked == "class sizes":
            found = self._rows(self._combinations(sql, sizes_of), SIZES)
            return found.group_by("size").aggregate([("times", "sum")]).rename_columns(SIZES.names)
        if sql.asked == "values":
            return self._values(sql)
        if table is None:
            return None
        if sql.asked == "first":
            return self._first(sql)
        if sql.asked in ("alone", "squares") and table.rows is not None:
            return self._uniqueness(sql, table, table.rows)
        if sql.asked == "known" and sql.missing is not None:
            n = self._tally(
                select(sql.table, list(dict.fromkeys(sql.columns))),
                CountKnown(sql.columns, sql.missing),
                len(sql.columns),
            )
            return pa.table({f"n{i}": [one] for i, one in enumerate(n.tolist())})
        if sql.asked == "forms":
            summed = table.source(sql.columns, coded=False).run(summing_forms)
            form, size, _, low, high = self._types(sql)
            counts = [pa.field("n_rows", pa.int64()), pa.field("n_labels", pa.int64())]
            types = pa.schema([form, size, *counts, low, high])
            found = self._rows(Source(summed, opened(None, coded=False)), types)
            return forms_together(found, more=True)
        if sql.asked == "present":
            source = table.source(sql.columns, coded=False)
            found = source.run(rows_where(_is_present, sql.columns))
            return self._rows(Source(found, opened(None, coded=False)), self._types(sql))
        return None

    def _types(self, sql: Selection | Described) -> pa.Schema:
        """The types of columns of a table that is read without SQL."""
        packed = sql.table in self._packed
        schema = (self._packed if packed else self._scans)[sql.table].schema
        if sql.columns == ("*",):
            return schema
        return pa.schema([schema.field(name) for name in sql.columns])

    def _values(self, sql: Described) -> pa.Table:
        """The values of columns, and how often each occurs."""
        assert sql.limit is not None
        source = self._source(select(sql.table, sql.columns), coded=True)
        sent = source.run(valuing(sql.columns, self._parts))
        together = Source(exchanged(sent, self._parts), opened(None, coded=False))
        found = together.run(adding_up(("i", "v"), at_most(sql.limit)))
        types = pa.schema([("i", pa.int32()), ("v", self._types(sql).types[0]), ("n", pa.int64())])
        return self._rows(Source(found, opened(None, coded=False)), types).slice(0, sql.limit)

    def _first(self, sql: Described) -> pa.Table:
        """Any rows of a packed table; part after part is read until there are enough."""
        assert sql.limit is not None
        source, types = self._packed[sql.table].source(sql.columns, coded=False), self._types(sql)
        found, left = [types.empty_table()], sql.limit
        for package in source.run(first_of(sql.limit)).toLocalIterator():
            found.append(rows_of(package).slice(0, left).cast(types))
            left -= len(found[-1])
            if left <= 0:
                break
        return pa.concat_tables(found)

    def _rows(self, source: Source, schema: pa.Schema) -> pa.Table:
        """All rows of a source, here."""
        found = map(rows_of, source.run(as_they_are).collect())
        tables = [decoded(rows).cast(schema) for rows in found if len(rows)]
        return pa.concat_tables([schema.empty_table(), *tables])

    def _frame(self, rdd: Rdd, schema: pa.Schema) -> Frame:
        """Packages as a frame that SQL can use."""
        packages = rdd.map(lambda package: (package[2], package[3]))
        frame = self._spark.createDataFrame(packages, "data binary, error string")
        return frame.mapInArrow(unpacking(schema, self._errors), _struct(schema))

    def substitute(self, name: str, other: str, key: str) -> None:
        """Put the rows of another table in the place of those with the same key.

        Where these are few, they are sorted out whenever the table is read, and nothing is stored again.
        """
        with self._translated_errors():
            if name in self._packed and other in self._packed:
                self._substitute(name, other, key)
                return
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

    def _substitute(self, name: str, other: str, key: str) -> None:
        """The same where both are packed: the keys are sent to all executors if they are few."""
        table, more = self._packed[name], self._packed[other]
        if table.replaced is None and more.rows is not None and more.rows <= FEW_ROWS:
            found = self._rows(more.source([key], coded=False), self._types(select(other, [key])))
            without = Without(key, one_chunk(found.column(key)).unique())
            del self._packed[other]
            self._tables.drop(other)
            for rdd in table.narrow.values():
                rdd.unpersist()
            both = replace(table, rows=None, narrow={}, replaced=(without, more.rdd))
            self._packed[name] = both
            source = both.source(table.schema.names, coded=True)
            rdd = source.run(mapping(_same, table.schema))
            self._tables.defer(name, lambda: self._frame(rdd, table.schema), keep=True)
            return
        columns = table.schema.names
        kept = rows_without(name, columns, key, other)
        frame = self._tables.query(f"{kept} UNION ALL {select(other, columns)}")
        # what it is made of is needed until it has been computed
        del self._packed[name]
        self._keep(name, Source(None, frame=frame).run(mapping(_same, table.schema)), table.schema)
        table.forget()
        self.drop(other)

    def drop(self, name: str) -> None:
        """Drop a table."""
        with self._translated_errors():
            self._tables.drop(name)
            self._forget(name)

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
            if isinstance(sql, Described) and sql.asked == "rows" and sql.table in self._packed:
                kept, columns = sql.kept, sql.columns
                needed = list(dict.fromkeys((*columns, *([kept] if kept else []))))
                source, types = self._packed[sql.table].source(needed, coded=True), self._types(sql)
                kinds: Callable[[], Sequence[pa.DataType]] = lambda: types.types  # noqa: E731
            else:
                frame = self._tables.query(sql)
                source, columns, kept = Source(None, frame=frame), tuple(frame.columns), None
                kinds = lambda: frame.limit(0).toArrow().schema.types  # noqa: E731
            write_folder(source, columns, kinds, kept, target, names, order, options, rows)

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
                for name in list(self._packed):
                    self._forget(name)
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


def slots_for(sizes: Sequence[int], parts: int) -> int:
    """Into how many slots keys go; `sizes` are the rows of the keys 0, 1, ..., about."""
    tasks = max(parts, -(-sum(sizes) // TASK_ROWS))
    return max(1, min(tasks, len(sizes), MOST_TASKS))


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


def _same(rows: pa.RecordBatch) -> pa.RecordBatch:
    return rows


def _is_present(rows: pa.Table) -> pa.ChunkedArray:
    return rows.column(0).is_valid()


def _on_disk() -> Any:
    """Where packages are kept: Java reads them from there as fast as it moves them, and its memory is
    for its own work."""
    from pyspark import StorageLevel

    return StorageLevel.DISK_ONLY


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
