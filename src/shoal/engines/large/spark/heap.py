"""How much memory Java gets in a Spark on this machine, which holds its executors too."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ASKED = "SPARK_DRIVER_MEMORY"
LEAST, MOST = 1024, 8192
"""Megabytes. The least is what Spark takes by itself, too little for tens of millions of rows."""
CONTAINER = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


@contextmanager
def a_share_for_java() -> Iterator[None]:
    """Let a Java that is started in the block have a quarter of the memory, if nobody told it else.

    Spark looks at this variable last, after `spark.driver.memory` wherever that may be set.
    """
    if ASKED in os.environ:
        yield
        return
    os.environ[ASKED] = f"{megabytes(memory())}m"
    try:
        yield
    finally:
        del os.environ[ASKED]


def megabytes(there: int) -> int:
    """Of so many bytes."""
    return min(max(LEAST, there // 4 >> 20), MOST)


def memory() -> int:
    """The bytes that this machine has, or the container around us allows; 0 if nobody knows."""
    try:
        found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):
        return 0
    for file in CONTAINER:
        try:
            text = file.read_text().strip()
        except (OSError, ValueError):
            continue
        if text.isdigit():
            found.append(int(text))
    return min(found)
