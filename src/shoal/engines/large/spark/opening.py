"""Opening a session: a Spark of our own for the time of a run, or the one that the user has."""

from collections.abc import Mapping
from typing import Any

from shoal.engines.large.spark.failures import quiet
from shoal.engines.large.spark.launching import CLUSTER, LOCAL, hosts, launch
from shoal.engines.large.spark.probing import WAIT_SECONDS, probe
from shoal.engines.large.spark.session import SparkTables
from shoal.errors import InputError

NOTHING: Mapping[str, str] = {}


def open_spark(
    where: str = LOCAL,
    settings: Mapping[str, str] = NOTHING,
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
        hosts(where)
        place, master = f"the Spark cluster at {where}", where
    else:
        raise InputError(
            f"'{where}' is no place to run. Allowed: '{LOCAL}' (this machine) or a master's address "
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
    """The session of a frame of the user's. It stays open, and its settings as they are (but for the
    moment in which a table is kept, see `tables.fixed_plan`)."""
    spark = frame.sparkSession
    place = "the Spark session of the frame"
    try:
        parts = int(spark.sparkContext.defaultParallelism)
    except Exception:  # over Spark Connect there is no context to ask
        parts = int(spark.conf.get("spark.sql.shuffle.partitions"))
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
    """One process can talk to one Spark at a time."""
    from pyspark import SparkContext

    active = SparkContext._active_spark_context
    if active is not None:
        raise InputError(
            f"A Spark session ({active.master}) is open in this Python already, so none can be opened "
            f"for '{where}'. Pass a frame of that session, or stop it first."
        )
