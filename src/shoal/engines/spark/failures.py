"""Errors of Spark: those of ours that were raised in an executor, and known failures in plain words.

Spark's own messages may quote rows, so no part of them is passed on.
"""

import json
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal import errors
from shoal.errors import InputError, ShoalError

FRAME_SESSION = "the Spark session of the frame"
"""How the session of a user's frame is called in messages."""
OURS = re.compile(r"[/\\\\]shoal[/\\\\]\w+[/\\\\.]")
"""A file of ours in a traceback."""
CONDITION = re.compile(r"\[([A-Z][A-Z_]+(?:\.[A-Z_]+)*)\]")
PYTHON_ERROR = re.compile(r"^(\w*(?:Error|Exception))\b", re.M)
"""The kinds of an error of Spark and of Python in a message, without what they say."""
FRAME = "shoal-says:"
PACKED = re.compile(rf'{FRAME}(\[".*?"\]):{FRAME}')
UNREADABLE = (
    "A file of the table could not be read by {place}. Is it whole, and on storage that every worker "
    "and this machine share under the same path?"
)
KNOWN_FAILURES = (
    (
        r"No module named '(?:shoal|numba|duckdb|pyarrow|pandas|numpy)\b",
        "The executors of {place} cannot import shoal and what it needs. Install it there in the "
        "same version, and let PYSPARK_PYTHON name the Python that has it, before a session is opened.",
    ),
    (
        r"PYTHON_VERSION_MISMATCH",
        "The executors of {place} run another version of Python than this process. Install the "
        "same one there, and name it with PYSPARK_PYTHON.",
    ),
    (
        r"Cannot run program",
        "The executors of {place} have no Python under the configured path. Name theirs "
        "with PYSPARK_PYTHON.",
    ),
    (
        r"No space left on device",
        "A disk of {place} is full. Spark keeps what does not fit into memory in spark.local.dir.",
    ),
    (
        r"FAILED_READ_FILE|CANNOT_READ_FILE_FOOTER|is not a Parquet file|FileNotFoundException",
        UNREADABLE,
    ),
    (
        r"maxResultSize",
        "An answer is too large for this machine (spark.driver.maxResultSize). Give the policy "
        "columns with fewer distinct values.",
    ),
    (
        r"OutOfMemoryError|MemoryError",
        "{place} ran out of memory. Give its executors more (spark.executor.memory; on one machine "
        "spark.driver.memory).",
    ),
    (
        r"SparkContext was shut down|stopped SparkContext|All masters are unresponsive|Master removed"
        r"|Answer from Java side is empty|Connection refused|Py4JNetworkError|ConnectionResetError"
        r"|BrokenPipeError|does not exist in the JVM",
        "{place} stopped responding. Often its memory ran out: give it more "
        "(spark.executor.memory; on one machine spark.driver.memory). Otherwise check that "
        "the cluster is still running.",
    ),
    (
        r"ExecutorLostFailure|Job aborted due to stage failure.*(?:exited|Lost executor)",
        "{place} lost its executors repeatedly. Their logs have the reason; often it is too "
        "little memory.",
    ),
)


def packed(error: ShoalError) -> str:
    """An error of ours as a text that can be sent from an executor to the driver."""
    return f"{FRAME}{json.dumps([type(error).__name__, str(error)])}:{FRAME}"


def unpack_error(text: str) -> ShoalError | None:
    """The error of ours in a message of Spark, if there is one."""
    found = PACKED.search(text)
    if not found:
        return None
    kind, message = json.loads(found[1])
    error: ShoalError = getattr(errors, kind, InputError)(message)
    return error


def unreadable_file(place: str) -> InputError:
    """The error for a file that an executor cannot read."""
    return InputError(UNREADABLE.format(place=place))


def known_failure(text: str, place: str) -> ShoalError | None:
    """An error that says what to do, if the message of Spark is of a known kind."""
    for pattern, message in KNOWN_FAILURES:
        if re.search(pattern, text):
            return InputError(message.format(place=place))
    return None


@contextmanager
def translated_errors(place: str) -> Iterator[None]:
    """Raise known failures of Spark as errors of ours."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with quiet():
        try:
            yield
        except (PySparkException, Py4JError, ConnectionError) as error:
            if interrupted(error):
                raise KeyboardInterrupt from None
            text = f"{type(error).__name__}: {error}"
            ours = unpack_error(text) or known_failure(text, place)
            if ours is None and place == FRAME_SESSION:
                ours = failure_of_frame(text)
            if ours is None:
                raise
            raise ours from None


def failure_of_frame(text: str) -> ShoalError | None:
    """The error for a frame that Spark cannot compute, where nothing of ours is in the message."""
    if OURS.search(text):
        return None
    condition, kind = CONDITION.search(text), PYTHON_ERROR.findall(text)
    what = kind[-1] if kind else condition[1] if condition else "no reason is named"
    return InputError(
        f"Spark could not compute the frame: a step by which it was made failed ({what}). Spark's own "
        "message may quote rows and is not repeated; `frame.count()` shows it. Correct that step, or "
        "write the frame to files first."
    )


def interrupted(error: BaseException) -> bool:
    """Whether it was raised while Ctrl-C was being handled: the cleanup may fail in turn."""
    while error.__context__ is not None:
        error = error.__context__
        if isinstance(error, KeyboardInterrupt):
            return True
    return False


@contextmanager
def quiet() -> Iterator[None]:
    """Silence what PySpark prints beside its errors.

    It warns about the version of pandas, though no pandas frame is used, and both it and py4j log errors
    in full, perhaps with rows in them, that are raised as well.
    """
    logger, talking = logging.getLogger("SQLQueryContextLogger"), logging.getLogger("py4j")
    root = logging.getLogger()
    before, level = logger.disabled, talking.level
    logger.disabled = True
    talking.setLevel(logging.CRITICAL + 1)
    root.addFilter(_is_not_of_py4j)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
            yield
    finally:
        logger.disabled = before
        talking.setLevel(level)
        root.removeFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts
