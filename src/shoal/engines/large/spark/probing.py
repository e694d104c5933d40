"""A tiny job that tells, before any work, whether the executors are there and know shoal."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pyarrow as pa

from shoal.engines.large.spark.failures import understood
from shoal.engines.large.spark.launching import within
from shoal.errors import InputError

WAIT_SECONDS = 120.0
"""How long a cluster may take until the first executors have answered."""
NEEDED = ("shoal", "numpy", "numba", "duckdb", "pyarrow")


def probe(spark: Any, place: str, tasks: int, seconds: float = WAIT_SECONDS) -> None:
    """Raise an InputError unless executors answer, and with our own version of shoal."""

    def ask() -> pa.Table:
        with understood(place):
            frame = spark.range(0, tasks, 1, tasks).mapInArrow(
                _look(), "missing string, version string"
            )
            return frame.toArrow()

    ended, found = within(seconds, ask, spark.interruptAll)
    if not ended:
        raise InputError(
            f"{place} gave no executor within {seconds:.0f} s. Are its workers up, and have they "
            "cores and memory free (spark.executor.memory)?"
        )
    # by its name: an import of the whole package would be one of the rooms above this one
    ours = import_module("shoal").__version__
    missing = sorted({name for name in found["missing"].to_pylist() if name})
    if missing:
        raise InputError(
            f"The executors of {place} cannot import {missing[0]}. Install shoal {ours} "
            "there with what it needs, for the Python that PYSPARK_PYTHON names; it must be set "
            "before the session is opened."
        )
    others = sorted({v for v in found["version"].to_pylist() if v != ours})
    if others:
        raise InputError(
            f"The executors of {place} have shoal {others[0]}, here it is {ours}. "
            "Install the same version everywhere, so that every row is treated alike."
        )


def _look() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Made inside a function, so that it travels by value and needs no shoal on the other side."""
    needed = NEEDED

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import importlib
        import importlib.util

        import pyarrow

        for _ in batches:
            missing = [name for name in needed if importlib.util.find_spec(name) is None]
            known = "shoal" not in missing
            version = importlib.import_module("shoal").__version__ if known else ""
            first = missing[0] if missing else ""
            yield pyarrow.record_batch({"missing": [first], "version": [version]})

    return look
