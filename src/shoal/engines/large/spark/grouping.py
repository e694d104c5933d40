"""Which rows of a frame work together, and how their groups are spread over tasks."""

from collections.abc import Sequence
from typing import Any

from shoal.engines.large.spark.tables import Frame
from shoal.engines.large.spark.travelling import SLOT

TASK_ROWS = 250_000
"""Rows that one task takes, about: a group is never split."""
MOST_KEYS = 100_000
"""With more keys than this their rows are not counted first: many keys spread well by themselves."""
MOST_TASKS = 1_000


def slotted(frame: Frame, key: str, parts: int) -> Frame:
    """The frame with each key's rows in one of several slots of about equal size.

    The slot is a pure function of the key. Hashing keys instead leaves some tasks without work and
    gives others twice as much.
    """
    from pyspark.sql import functions as f

    counted = frame.groupBy(key).agg(f.count("*").alias("n")).limit(MOST_KEYS + 1).toArrow()
    tallies = sorted(
        (value, n)
        for value, n in zip(counted[key].to_pylist(), counted["n"].to_pylist(), strict=True)
        if value is not None
    )
    rows = sum(n for _, n in tallies)
    slots = max(1, min(max(parts, -(-rows // TASK_ROWS)), len(tallies), MOST_TASKS))
    if counted.num_rows > MOST_KEYS:
        slot = f.pmod(f.xxhash64(f.col(key)), f.lit(MOST_TASKS)).cast("int")
        return frame.withColumn(SLOT, slot).repartitionById(MOST_TASKS, SLOT)
    bounds = slot_bounds(tallies, slots)
    slot = _search(f, f.col(key), bounds, 0, len(bounds))
    return frame.withColumn(SLOT, slot).repartitionById(len(bounds) + 1, SLOT)


def slot_bounds(tallies: Sequence[tuple[Any, int]], slots: int) -> list[Any]:
    """The first keys of all slots but the first; `tallies` are (key, rows) in the order of keys."""
    total = sum(n for _, n in tallies)
    bounds: list[Any] = []
    before = 0
    for i, (key, n) in enumerate(tallies):
        # a slot begins where its share of the rows does, and has at least one key
        middle = 2 * before + n
        if i and len(bounds) + 1 < slots and middle * slots >= 2 * total * (len(bounds) + 1):
            bounds.append(key)
        before += n
    return bounds


def _search(f: Any, key: Any, bounds: list[Any], low: int, high: int) -> Any:
    """How many of the bounds[low:high] are at most the key, plus `low`, by halving."""
    if low == high:
        return f.lit(low)
    middle = (low + high) // 2
    below = _search(f, key, bounds, low, middle)
    above = _search(f, key, bounds, middle + 1, high)
    return f.when(key < f.lit(bounds[middle]), below).otherwise(above)
