"""Opening a Spark session: one of our own for a run, or that of the user's frame.

A small job checks before any work that the executors answer and have the same version of shoal.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from shoal.engines.spark.failures import FRAME_SESSION, quiet, translated_errors
from shoal.engines.spark.launch import CLUSTER, LOCAL, call_with_timeout, launch, master_addresses
from shoal.engines.spark.session import SparkTables
from shoal.errors import InputError

WAIT_SECONDS = 120.0
"""How long a cluster may take until the first executors have answered."""
NEEDED = ("shoal", "numpy", "numba", "duckdb", "pyarrow")
NO_SETTINGS: Mapping[str, str] = {}


def open_spark(
    where: str = LOCAL,
    settings: Mapping[str, str] = NO_SETTINGS,
    cores: int | None = None,
    wait_seconds: float = WAIT_SECONDS,
) -> SparkTables:
    """A session of our own: on this machine ("spark") or on a cluster ("spark://host:7077").

    `settings` are Spark's, added to ours; `cores` are of this machine, all if not given. On a cluster
    `shoal` must be installed for the executors' Python: the one at the path of ours, or the one that
    PYSPARK_PYTHON names. Close it after use.
    """
    _require_pyspark()
    _require_free(where)
    if where == LOCAL:
        place, master = "Spark on this machine", f"local[{cores or '*'}]"
    elif where.startswith(CLUSTER):
        master_addresses(where)
        place, master = f"the Spark cluster at {where}", where
    else:
        raise InputError(
            f"'{where}' is not a Spark engine. Allowed: '{LOCAL}' (this machine) or a master's address "
            f"like {CLUSTER}host:7077."
        )
    launched = launch(master, settings)
    try:
        parts = int(launched.spark.sparkContext.defaultParallelism)
        probe(launched.spark, place, parts, wait_seconds)
    except BaseException:
        with quiet():
            launched.end()
        raise
    return SparkTables(launched.spark, place, parts, launched)


def open_frame(frame: Any, wait_seconds: float = WAIT_SECONDS) -> SparkTables:
    """The session of the user's frame. It stays open, and its settings are not changed, except while a
    table is being kept (`tables.without_adaptive_plans`)."""
    if type(frame).__module__.startswith("pyspark.sql.connect"):
        raise InputError(
            "The frame is of Spark Connect, which is not supported. Write it to Parquet and run with "
            "--engine (in Python engine=), or make the frame in a classic session, with "
            "spark.api.mode=classic."
        )
    spark = frame.sparkSession
    place = FRAME_SESSION
    parts = int(spark.sparkContext.defaultParallelism)
    probe(spark, place, min(parts, 8), wait_seconds)
    return SparkTables(spark, place, parts, None)


def _require_pyspark() -> None:
    try:
        with quiet():
            import pyspark.sql  # noqa: F401
    except ImportError:
        raise InputError(
            "Running on Spark needs pyspark, which is not installed. Run: pip install 'shoal[spark]'"
        ) from None


def _require_free(where: str) -> None:
    """One process can use one Spark at a time."""
    from pyspark import SparkContext

    active = SparkContext._active_spark_context
    if active is not None:
        raise InputError(
            f"A Spark session ({active.master}) is open in this Python already, so none can be opened "
            f"for '{where}'. Pass a frame of that session, or stop it first."
        )


def probe(spark: Any, place: str, tasks: int, seconds: float = WAIT_SECONDS) -> None:
    """Raise `InputError` unless executors answer with our version of shoal."""

    context, tag = spark.sparkContext, f"shoal-{uuid.uuid4().hex}"

    def answers() -> list[tuple[str, str]]:
        with translated_errors(place):
            context.addJobTag(tag)  # of this thread alone
            found: list[tuple[str, str]] = (
                context.parallelize(range(tasks), tasks).mapPartitions(_versions()).collect()
            )
            return found

    ended, found = call_with_timeout(seconds, answers, lambda: context.cancelJobsWithTag(tag))
    if not ended:
        raise InputError(
            f"{place} provided no executor within {seconds:.0f} s. Are its workers up, and have they "
            "cores and memory free (spark.executor.memory)?"
        )
    # by its name: the package itself is a layer above this one
    ours = import_module("shoal").__version__
    missing = sorted({name for name, _ in found if name})
    if missing:
        raise InputError(
            f"The executors of {place} cannot import {missing[0]}. Install shoal {ours} "
            "there with what it needs, for the Python that PYSPARK_PYTHON names; it must be set "
            "before the session is opened."
        )
    others = sorted({version for _, version in found if version != ours})
    if others:
        raise InputError(
            f"The executors of {place} have shoal {others[0]}, here it is {ours}. "
            "Install the same version everywhere, so that every row is treated alike."
        )


def _versions() -> Callable[[Iterator[int]], Iterator[tuple[str, str]]]:
    """Finds missing packages and the version of shoal in an executor.

    A nested function is sent by value, so it needs no shoal there.
    """
    needed = NEEDED

    def versions(_: Iterator[int]) -> Iterator[tuple[str, str]]:
        import importlib
        import importlib.util

        missing = [name for name in needed if importlib.util.find_spec(name) is None]
        known = "shoal" not in missing
        version = importlib.import_module("shoal").__version__ if known else ""
        yield (missing[0] if missing else "", version)

    return versions
