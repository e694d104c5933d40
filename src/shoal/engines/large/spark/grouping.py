"""Which rows of a frame work together, and how their groups are spread over tasks."""

from collections.abc import Sequence
from typing import Any

from shoal.engines.large.spark.tables import Frame
from shoal.engines.large.spark.travelling import SLOT

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
