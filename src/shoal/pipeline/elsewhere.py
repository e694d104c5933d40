"""Places for tables that no memory holds: sessions by their names, and frames that live in one."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shoal.engines.large.session import Session
from shoal.errors import InputError
from shoal.large.held import Held

RELEASE = "release"
LOCAL, SPARK = "local", "spark"


@contextmanager
def opened(engine: str, memory: str | None = None) -> Iterator[Session]:
    """A session by its name: `spark`, `spark://host:port`, or `local` under a memory limit."""
    session: Session
    if engine == LOCAL:
        from shoal.engines.large.duck import DuckSession

        session = DuckSession(memory)
    elif engine == SPARK or engine.startswith("spark://"):
        from shoal.engines.large.spark.opening import open_spark

        session = open_spark(engine)
    else:
        raise InputError(
            f"'{engine}' is no engine; allowed: local, spark, and the address of a Spark master, "
            "such as spark://host:7077."
        )
    try:
        yield session
    finally:
        session.close()


def check_memory(engine: str, memory: str) -> None:
    """Raise `InputError` unless it is a limit that can be set."""
    if engine != LOCAL:
        raise InputError(
            "--memory limits the local engine. Spark's memory is set where Spark is started "
            "(spark.executor.memory, spark.driver.memory)."
        )
    if not re.fullmatch(r"\d+(\.\d+)? ?([KMGT]i?B)", memory):
        raise InputError(f"--memory: found '{memory}'; it must be like 2GB, 512MB or 1.5GiB.")


def called(engine: str, memory: str | None) -> str:
    """The engine as a release tells it; which cluster it was is nobody's business."""
    if engine == LOCAL:
        return f"{LOCAL} --memory {memory}" if memory else LOCAL
    return SPARK


def is_spark(frame: Any) -> bool:
    """Whether it is a frame of Spark."""
    return type(frame).__module__.startswith("pyspark.")


@contextmanager
def held_frame(frame: Any) -> Iterator[Held]:
    """The rows of a Spark frame as a release in the session that the frame has."""
    from shoal.engines.large.spark.opening import open_frame

    session, names = open_frame(frame), tuple(frame.columns)
    try:
        yield Held(session, RELEASE, names, session.adopt(RELEASE, frame, names))
    finally:
        session.close()
