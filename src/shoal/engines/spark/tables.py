"""The named tables of a Spark session, and the frames that come from them."""

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from shoal.engines.spark.failures import quiet

ADAPTIVE = "spark.sql.adaptive.enabled"
Frame = Any
"""pyspark.sql.DataFrame, of the classic kind."""


class Tables:
    """Named frames, kept by Spark in memory and on its disks.

    Each is counted at once, so it has been computed in full and its sources may be dropped. If an
    executor is lost, Spark computes its share again from the files, by the same pure steps.
    """

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        # the user's own views of the same names are not replaced
        self._prefix = f"shoal_{uuid.uuid4().hex[:12]}_"
        self._frames: dict[str, Frame] = {}
        self._kept: dict[str, Frame] = {}
        """Frames whose rows Spark keeps."""
        self._rows: dict[str, int] = {}
        self._sources: dict[str, tuple[str, ...]] = {}
        """Tables that others are computed from, and that are dropped with them."""
        self._deferred: dict[str, tuple[Callable[[], Frame], bool]] = {}
        """What makes the frames of tables that no query has used yet, and whether these are kept."""

    def query(self, sql: str) -> Frame:
        """The result of a query on the tables, not computed yet."""
        for name in [name for name in self._deferred if _mentions(sql, name)]:
            self._show(name)
        used = [name for name in self._frames if _mentions(sql, name)]
        views = ", ".join(f"{name} AS (SELECT * FROM {self._prefix}{name})" for name in used)
        text = sql.strip()
        if views and text[:5].upper() == "WITH ":
            text = f"WITH {views}, {text[5:]}"
        elif views:
            text = f"WITH {views} {text}"
        return self._spark.sql(text)

    def keep(self, name: str, frame: Frame, again: bool = False) -> int:
        """Compute the frame and keep it under the name; returns the number of rows.

        again: whether it comes from a kept table, and others will come from it in turn.
        """
        from pyspark import StorageLevel

        # read back from disk row by row; the serialised level takes a whole part into memory at once
        level = StorageLevel.MEMORY_AND_DISK_DESER
        with without_adaptive_plans(self._spark) if again else nullcontext():
            kept = frame.persist(level)
        try:
            rows = int(kept.count())
        except BaseException:
            with quiet():
                kept.unpersist()
            raise
        self.drop(name)
        without_lineage(self._spark, kept).createOrReplaceTempView(self._prefix + name)
        self._frames[name] = self._kept[name] = kept
        self._rows[name] = rows
        return rows

    def rows(self, name: str) -> int:
        """The number of rows of a kept table."""
        return self._rows[name]

    def columns(self, name: str) -> list[str]:
        """The columns of a table."""
        return list(self._frames[name].columns)

    def rename(self, name: str, new: str) -> None:
        """Give a kept table another name."""
        self.drop(new)
        self._spark.table(self._prefix + name).createOrReplaceTempView(self._prefix + new)
        self._spark.catalog.dropTempView(self._prefix + name)
        self._frames[new], self._rows[new] = self._frames.pop(name), self._rows.pop(name)
        self._kept[new] = self._kept.pop(name)

    def name(self, name: str, frame: Frame, sources: tuple[str, ...] = ()) -> None:
        """Give a frame a name without keeping its rows: every query computes it again.

        sources: tables that are dropped together with it.
        """
        self.drop(name)
        frame.createOrReplaceTempView(self._prefix + name)
        self._frames[name], self._sources[name] = frame, sources

    def defer(self, name: str, make: Callable[[], Frame], keep: bool) -> None:
        """Give a frame a name that is made when a query uses it; keep: Spark then keeps its rows."""
        self.drop(name)
        self._deferred[name] = make, keep

    def _show(self, name: str) -> None:
        """Make the frame of a table that is used for the first time."""
        from pyspark import StorageLevel

        make, keep = self._deferred.pop(name)
        frame = make()
        if not keep:
            self.name(name, frame)
            return
        with without_adaptive_plans(self._spark):
            kept = frame.persist(StorageLevel.MEMORY_AND_DISK_DESER)
        without_lineage(self._spark, kept).createOrReplaceTempView(self._prefix + name)
        self._frames[name] = self._kept[name] = kept

    def pin(self, name: str, frame: Frame) -> None:
        """Compute the frame and keep these very rows: if some are lost, reading them is an error.

        Rows that are only kept would be computed again, from a frame of the user's that may return
        other rows than those that were verified.
        """
        pinned = frame.localCheckpoint(eager=True)
        self.name(name, pinned)

    def drop(self, name: str) -> None:
        """Drop a table, if it exists."""
        self._deferred.pop(name, None)
        frame = self._frames.pop(name, None)
        if frame is None:
            return
        self._spark.catalog.dropTempView(self._prefix + name)
        self._rows.pop(name, None)
        if (kept := self._kept.pop(name, None)) is not None:
            kept.unpersist()
        for source in self._sources.pop(name, ()):
            self.drop(source)

    def release(self, name: str) -> Frame:
        """The frame of a table, which is then the caller's and not dropped here."""
        frame = self._frames.pop(name)
        self._rows.pop(name, None)
        self._kept.pop(name, None)
        self._spark.catalog.dropTempView(self._prefix + name)
        return frame

    def clear(self) -> None:
        """Drop all tables."""
        for name in [*self._frames, *self._deferred]:
            self.drop(name)


def _mentions(sql: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", sql) is not None


@contextmanager
def without_adaptive_plans(spark: Any) -> Iterator[None]:
    """Plan what is kept in the block once, without adaptive execution.

    Spark writes out the plan of every query together with the plans of all kept tables below it, and of
    an adaptive plan both the first and the last version: for a table that was derived from itself twelve
    times, four thousand plans, for minutes, until Java runs out of memory. No other query runs in the
    block, and the session's setting is restored.
    """
    before = spark.conf.get(ADAPTIVE)
    spark.conf.set(ADAPTIVE, "false")
    try:
        yield
    finally:
        spark.conf.set(ADAPTIVE, before)


def without_lineage(spark: Any, kept: Frame) -> Frame:
    """The same kept rows in a frame whose plan begins with them.

    Otherwise a table that is derived from itself again and again keeps all its earlier plans, and Spark
    searches them at every new query. Spark still knows how to compute lost rows again. Spark Connect
    offers no way to do this, and correctness does not need it.
    """
    plans = getattr(kept, "_jdf", None)
    if plans is None:
        return kept
    plan = plans.queryExecution().withCachedData()
    if plan.getClass().getSimpleName() != "InMemoryRelation":
        return kept
    dataset = spark._jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, plan)
    return type(kept)(dataset, spark)
