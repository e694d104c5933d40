"""How much memory Java gets in a Spark on this machine, which holds its executors too."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO

from shoal.engines.spark.failures import quiet
from shoal.errors import InputError

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


# The Java process that Spark runs in: started so that none stays, whatever interrupts it, and ended.


END_SECONDS = 20.0


def start_java(conf: Any, log: BinaryIO) -> Any:
    """Start Java. If that is interrupted, no Java stays."""
    from pyspark import java_gateway

    started: list[subprocess.Popen[bytes]] = []

    class Seen(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            started.append(self)
            super().__init__(*args, **kwargs)

    usual = java_gateway.Popen
    java_gateway.Popen = Seen
    try:
        return java_gateway.launch_gateway(conf, {"stdout": log, "stderr": log})
    except BaseException:
        for process in started:
            if hasattr(process, "pid"):
                process.terminate()
                _wait(process)
        raise
    finally:
        java_gateway.Popen = usual


@contextmanager
def ctrl_c_as_before() -> Iterator[None]:
    """Leave Ctrl-C as it is. Spark's own answer to it talks to Java in the middle of another talk."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if main and before is not None:
            signal.signal(signal.SIGINT, before)


def end_java(gateway: Any) -> None:
    """End the Java process that a gateway talks to."""
    from pyspark import SparkContext

    process: subprocess.Popen[bytes] = gateway.proc
    with suppress(Exception):  # nobody may be there to answer
        gateway.shutdown()
    SparkContext._gateway = None
    SparkContext._jvm = None
    if process.stdin is not None:
        process.stdin.close()
    _wait(process)


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def require_java() -> None:
    """Raise an InputError where there is no Java at all."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=None if home is None else str(Path(home, "bin"))) is None:
        raise no_java()


def no_java() -> InputError:
    """The error for a machine on which Java does not start."""
    return InputError(
        "Spark could not start: it needs Java 17 or later. Install one, and let JAVA_HOME name it if "
        "it is not the 'java' of this shell."
    )


# A Spark of our own: its Java started quietly, bound to this machine where that is enough.


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
