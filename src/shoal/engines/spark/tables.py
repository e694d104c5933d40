"""Which types of columns Spark holds without changing a value, and what they come back as."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pyarrow as pa

from shoal.engines.spark.failures import quiet
from shoal.errors import InputError

PLAIN = re.compile(
    r"string|boolean|tinyint|smallint|int|bigint|float|double|date|timestamp|timestamp_ntz|binary"
    r"|decimal\(\d+,\d+\)"
)
"""Spark's own names of the types."""
SAME = frozenset(
    {
        *(pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()),
        *(pa.string(), pa.binary(), pa.date32()),
    }
)
OTHERS = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
    pa.date64(): pa.date32(),
}
UTC = ("UTC", "Etc/UTC", "+00:00", "Z")


def held(kind: pa.DataType) -> pa.DataType | None:
    """The type in which a Parquet column comes back from Spark; None where values would change."""
    if pa.types.is_dictionary(kind):
        return held(kind.value_type)
    if kind in SAME or (pa.types.is_decimal128(kind) and kind.scale >= 0):
        return kind
    if pa.types.is_timestamp(kind) and kind.unit != "ns" and kind.tz in (None, *UTC):
        return pa.timestamp("us", tz=None if kind.tz is None else "UTC")
    return OTHERS.get(kind)


def refused(where: str, column: str, kind: object) -> InputError:
    """The error for a column that Spark cannot hold as it is."""
    return InputError(
        f"{where}: column '{column}' is of type {kind}, which Spark does not hold as it is. Allowed "
        "are text, whole numbers, floats of 32 or 64 bits, decimals of at most 38 digits, booleans, "
        "dates, bytes, and dates with a time up to microseconds, without a zone or in UTC. Cast "
        "the column first, or run with the local engine."
    )


def fit(column: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """The column in the one type that Spark takes for it."""
    return column if column.type == kind else column.cast(kind)


def carried(schema: pa.Schema) -> pa.Schema:
    """The schema in the types in which Spark carries it."""
    fields = []
    for field in schema:
        kind = held(field.type)
        if kind is None:
            raise refused("A table", field.name, field.type)
        fields.append(pa.field(field.name, kind))
    return pa.schema(fields)


# The tables of a Spark session, and the answers that come from them.


ADAPTIVE = "spark.sql.adaptive.enabled"
Frame = Any
"""pyspark.sql.DataFrame, of the classic kind or over Spark Connect."""


class Tables:
    """Named frames, kept by Spark in memory and on its disks.

    Each is counted at once: what is kept was computed then, in full, and what it came from may go. If
    an executor is lost, Spark computes its share again from the files, by the same pure steps.
    """

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        # the user's own views of such names stay as they are
        self._prefix = f"shoal_{uuid.uuid4().hex[:12]}_"
        self._frames: dict[str, Frame] = {}
        self._rows: dict[str, int] = {}

    def answer(self, sql: str) -> Frame:
        """What the SQL asks of the tables, not yet computed."""
        used = [name for name in self._frames if re.search(rf"\b{re.escape(name)}\b", sql)]
        views = ", ".join(f"{name} AS (SELECT * FROM {self._prefix}{name})" for name in used)
        text = sql.strip()
        if views and text[:5].upper() == "WITH ":
            text = f"WITH {views}, {text[5:]}"
        elif views:
            text = f"WITH {views} {text}"
        return self._spark.sql(text)

    def keep(self, name: str, frame: Frame, again: bool = False) -> int:
        """Compute the frame and keep it under the name; gives how many rows it has.

        again: whether it comes from a table that is kept, and others will come from it in turn.
        """
        from pyspark import StorageLevel

        # read back from disk row by row; the serialised level takes a whole part into memory at once
        level = StorageLevel.MEMORY_AND_DISK_DESER
        with fixed_plan(self._spark) if again else nullcontext():
            kept = frame.persist(level)
        try:
            rows = int(kept.count())
        except BaseException:
            with quiet():
                kept.unpersist()
            raise
        self.drop(name)
        cut_short(self._spark, kept).createOrReplaceTempView(self._prefix + name)
        self._frames[name], self._rows[name] = kept, rows
        return rows

    def rows(self, name: str) -> int:
        """How many rows a table has that is kept."""
        return self._rows[name]

    def name(self, name: str, frame: Frame) -> None:
        """Give a frame a name without keeping its rows: it is read again when it is asked."""
        self.drop(name)
        frame.createOrReplaceTempView(self._prefix + name)
        self._frames[name] = frame

    def pin(self, name: str, frame: Frame) -> None:
        """Compute the frame and keep these very rows: if some are lost, asking for them is an error.

        What is only kept would be computed again then, from a frame of the user's that may give other
        rows than those that were verified.
        """
        pinned = frame.localCheckpoint(eager=True)
        self.name(name, pinned)

    def drop(self, name: str) -> None:
        """Forget a table; one that is not there is no matter."""
        frame = self._frames.pop(name, None)
        if frame is None:
            return
        self._spark.catalog.dropTempView(self._prefix + name)
        if self._rows.pop(name, None) is not None:
            frame.unpersist()

    def release(self, name: str) -> Frame:
        """Hand a table over to the caller: nothing here will end it."""
        frame = self._frames.pop(name)
        self._rows.pop(name, None)
        self._spark.catalog.dropTempView(self._prefix + name)
        return frame

    def clear(self) -> None:
        """Forget all tables."""
        for name in list(self._frames):
            self.drop(name)


@contextmanager
def fixed_plan(spark: Any) -> Iterator[None]:
    """Let what is told to be kept in the block be computed as it is planned at first.

    Spark puts the plan of every question into words, with the plans of all kept tables below it. Of a
    plan that may change on the way it tells the first and the last: a table that was made from itself
    twelve times would be told of four thousand times, for minutes, until Java's memory is full. No other
    question is asked meanwhile, and the session is as it was afterwards.
    """
    before = spark.conf.get(ADAPTIVE)
    spark.conf.set(ADAPTIVE, "false")
    try:
        yield
    finally:
        spark.conf.set(ADAPTIVE, before)


def cut_short(spark: Any, kept: Frame) -> Frame:
    """The same kept rows in a frame that begins with them.

    Else a table that is made from itself again and again drags all its earlier questions along, and
    Spark looks through them at every new one. How the rows came about stays known to Spark below that,
    for the case that some are lost. Over Spark Connect there is no way to this, and none is needed for
    the rows to be right.
    """
    plans = getattr(kept, "_jdf", None)
    if plans is None:
        return kept
    plan = plans.queryExecution().withCachedData()
    if plan.getClass().getSimpleName() != "InMemoryRelation":
        return kept
    made = spark._jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, plan)
    return type(kept)(made, spark)
