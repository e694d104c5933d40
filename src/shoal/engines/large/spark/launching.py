"""A Spark of our own: its Java started quietly, bound to this machine where that is enough."""

import os
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO

from shoal.engines.large.spark.failures import quiet
from shoal.engines.large.spark.heap import a_share_for_java
from shoal.engines.large.spark.java import (
    END_SECONDS,
    ctrl_c_as_before,
    end_java,
    no_java,
    require_java,
    start_java,
)
from shoal.errors import InputError

LOCAL = "spark"
CLUSTER = "spark://"
LOOPBACK = "127.0.0.1"
REACH_SECONDS = 10.0
"""How long a master may take to answer at all."""
BATCH_ROWS = 50_000


class Launched:
    """A Spark session that we started, with its Java process."""

    def __init__(self, spark: Any, gateway: Any, log: BinaryIO) -> None:
        self.spark = spark
        self._gateway = gateway
        self._log = log

    def end(self) -> None:
        """Stop the session and its Java, and wait until that is gone."""
        try:
            self.spark.stop()
        finally:
            end_java(self._gateway)
            self._log.close()
            shutil.rmtree(_warehouse(), ignore_errors=True)


def launch(master: str, settings: Mapping[str, str]) -> Launched:
    """Start Java and open a session with the master; an InputError where that cannot be."""
    with quiet():
        from py4j.protocol import Py4JError
        from pyspark import SparkConf, SparkContext
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession

    if master.startswith(CLUSTER):
        require_answer(master)
    require_java()
    conf = SparkConf(loadDefaults=False).setMaster(master).setAppName("shoal")
    conf.setAll([*_settings(master).items(), *settings.items()])
    # Java's own words go to a file without a name: they may quote rows, and nobody asked for them.
    log = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as Java
    try:
        with nullcontext() if master.startswith(CLUSTER) else a_share_for_java():
            gateway = start_java(conf, log)
    except (PySparkRuntimeError, OSError):
        log.close()
        raise no_java() from None
    try:
        with quiet(), ctrl_c_as_before():
            context = SparkContext(conf=conf, gateway=gateway)
            context.pythonExec = _python()
            # it would print a traceback where Java ends before its time
            context._accumulatorServer.handle_error = lambda *_: None
            return Launched(SparkSession(context), gateway, log)
    except BaseException as error:
        # Spark gives up by itself after a minute, in the middle of this or after it
        with suppress(Exception):
            if SparkContext._active_spark_context is not None:
                SparkContext._active_spark_context.stop()
        end_java(gateway)
        log.close()
        if isinstance(error, Py4JError):
            raise unreachable(master) from None
        raise


def _warehouse() -> Path:
    """A folder that Spark makes when it looks for a table; none is ever saved there."""
    return Path(tempfile.gettempdir(), f"shoal-warehouse-{os.getpid()}")


def _python() -> str:
    return os.environ.get("PYSPARK_PYTHON", sys.executable)


def _settings(master: str) -> dict[str, str]:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "WARN",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.caseSensitive": "true",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(_warehouse()),
        # a lost executor takes its tasks with it; that must not count as their fault too soon
        "spark.task.maxFailures": "8",
        # as many tasks run beside each other as there are cores
        "spark.executorEnv.SHOAL_THREADS": "1",
        "spark.pyspark.python": _python(),
    }
    if not master.startswith(CLUSTER) or is_loopback(master):
        settings["spark.driver.host"] = LOOPBACK
        settings["spark.driver.bindAddress"] = LOOPBACK
    return settings


def hosts(master: str) -> list[tuple[str, int]]:
    """The hosts and ports of a master's address; several may stand by for each other."""
    found = []
    for each in master.removeprefix(CLUSTER).split(","):
        host, _, port = each.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
            raise InputError(
                f"'{master}' is no address of a Spark master. It must be like spark://host:7077."
            )
        found.append((host.strip("[]"), int(port)))
    return found


def is_loopback(master: str) -> bool:
    """Whether the master is on this machine and speaks to nobody else."""
    return all(host == "localhost" or host.startswith("127.") for host, _ in hosts(master))


def require_answer(master: str) -> None:
    """Raise an InputError unless somebody listens there; Spark itself would try for minutes."""
    for address in hosts(master):
        try:
            socket.create_connection(address, REACH_SECONDS).close()
        except OSError:
            continue
        return
    raise unreachable(master)


def unreachable(master: str) -> InputError:
    """The error for a master that cannot be reached."""
    return InputError(
        f"The Spark master at {master} cannot be reached, or it is of another version of Spark than "
        "the pyspark here. Is it up, is the address the one that it shows itself, and does no "
        "firewall stand between?"
    )


def within(seconds: float, call: Callable[[], Any], late: Callable[[], None]) -> tuple[bool, Any]:
    """(whether it ended in time, its result) of a call; `late` is called to end one that did not."""
    results: list[Any] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # raised again by the one who waits
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True, name="shoal-waits")
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        late()
        thread.join(END_SECONDS)
        return False, None
    if failures:
        raise failures[0]
    return True, results[0]
