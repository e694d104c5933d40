"""A Spark of our own: its Java process started quietly, on this machine or for a cluster, and ended."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO

from shoal.engines.spark.failures import quiet
from shoal.engines.table_size import machine_memory
from shoal.errors import InputError

LOCAL = "spark"
CLUSTER = "spark://"
LOOPBACK = "127.0.0.1"
REACH_SECONDS = 10.0
"""How long a master may take to answer at all."""
BATCH_ROWS = 50_000
END_SECONDS = 20.0
"""How long Java may take to end."""
DRIVER_MEMORY = "SPARK_DRIVER_MEMORY"
JAVA_OPTIONS = "JDK_JAVA_OPTIONS"
"""Options that every Java of version 9 or later takes first: those that Spark is configured with win."""
QUICK_COMPILATION = "-XX:+IgnoreUnrecognizedVMOptions -XX:TieredStopAtLevel=1"
"""Java's best compiler costs more than it saves where Java moves rows without opening them."""
DAEMON = "shoal.engines.spark.daemon"
"""What forks the Python processes of a Spark on this machine, in the place of Spark's own."""
SOCKET_NAME = len("/.00000000-0000-0000-0000-000000000000.sock")
MAX_SOCKET_PATH = 100
"""Characters that a socket's path may have, a few less than any system allows."""
MIN_MEMORY, MAX_MEMORY = 1024, 8192
"""Megabytes. The least is Spark's default, too little for tens of millions of rows."""


class Launched:
    """A Spark session that we started, with its Java process."""

    def __init__(self, spark: Any, gateway: Any, files: ExitStack) -> None:
        """files: closed, or removed, once Java has ended."""
        self.spark = spark
        self._gateway = gateway
        self._files = files

    def end(self) -> None:
        """Stop the session and its Java, and wait until the process has ended."""
        from py4j.protocol import Py4JError

        try:
            with suppress(
                Py4JError, ConnectionError
            ):  # of a Java that died nothing is left to stop
                self.spark.stop()
        finally:
            end_java(self._gateway)
            self._files.close()


def launch(master: str, settings: Mapping[str, str]) -> Launched:
    """Start Java and open a session with the master.

    Raises
    ------
    InputError
        Where Java does not start, or the master cannot be reached.
    """
    with quiet():
        from py4j.protocol import Py4JError
        from pyspark import SparkConf, SparkContext
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession

    if master.startswith(CLUSTER):
        require_reachable(master)
    require_java()
    with ExitStack() as files:
        # Java's output goes to an unnamed file: it may quote rows
        log = files.enter_context(tempfile.TemporaryFile())
        folder = files.enter_context(
            tempfile.TemporaryDirectory(prefix="shoal-spark-", ignore_cleanup_errors=True)
        )
        conf = SparkConf(loadDefaults=False).setMaster(master).setAppName("shoal")
        conf.setAll([*_settings(master, Path(folder)).items(), *settings.items()])
        try:
            with (
                quick_compilation(),
                nullcontext() if master.startswith(CLUSTER) else java_memory(),
            ):
                gateway = start_java(conf, log)
        except (PySparkRuntimeError, OSError):
            raise no_java() from None
        try:
            with quiet(), keep_sigint_handler():
                configured = SparkConf(_jvm=gateway.jvm)
                for name, value in preferences(master, Path(folder)).items():
                    if not configured.contains(name) and name not in settings:
                        conf.set(name, value)
                context = SparkContext(conf=conf, gateway=gateway)
                context.pythonExec = _python()
                # it would print a traceback where Java ends early
                context._accumulatorServer.handle_error = lambda *_: None
                return Launched(SparkSession(context), gateway, files.pop_all())
        except BaseException as error:
            # Spark gives up by itself after a minute, in the middle of this or after it
            with suppress(Exception):
                if SparkContext._active_spark_context is not None:
                    SparkContext._active_spark_context.stop()
            end_java(gateway)
            if isinstance(error, Py4JError):
                raise unreachable(master) from None
            raise


def _python() -> str:
    return os.environ.get("PYSPARK_PYTHON", sys.executable)


def _settings(master: str, folder: Path) -> dict[str, str]:
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
        # Spark creates it when it looks up a table; no table is saved there
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        # a lost executor takes its tasks with it, which counts as a failure of theirs
        "spark.task.maxFailures": "8",
        # as many tasks run at once as there are cores
        "spark.executorEnv.SHOAL_THREADS": "1",
        "spark.pyspark.python": _python(),
    }
    if not master.startswith(CLUSTER) or is_loopback(master):
        settings["spark.driver.host"] = LOOPBACK
        settings["spark.driver.bindAddress"] = LOOPBACK
    return settings


def preferences(master: str, folder: Path) -> dict[str, str]:
    """Settings that the user's own take the place of. folder: one that only this user may enter."""
    found = {
        # packages are read again from the disk of the executor that wrote them
        "spark.rdd.compress": "false",
    }
    if not master.startswith(CLUSTER):
        # nothing is sent to other machines
        found["spark.shuffle.compress"] = "false"
        found["spark.shuffle.spill.compress"] = "false"
        if _python() == sys.executable:
            found["spark.python.daemon.module"] = DAEMON
        if len(str(folder)) + SOCKET_NAME <= MAX_SOCKET_PATH and hasattr(socket, "AF_UNIX"):
            # by these Java and Python pass each other all rows with less work than by the network
            found["spark.python.unix.domain.socket.enabled"] = "true"
            found["spark.python.unix.domain.socket.dir"] = str(folder)
    return found


def master_addresses(master: str) -> list[tuple[str, int]]:
    """The hosts and ports of a master's address; several may stand by for each other."""
    found = []
    for each in master.removeprefix(CLUSTER).split(","):
        host, _, port = each.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
            raise InputError(
                f"'{master}' is not the address of a Spark master, such as spark://host:7077."
            )
        found.append((host.strip("[]"), int(port)))
    return found


def is_loopback(master: str) -> bool:
    """Whether the master is on this machine and not reachable from others."""
    return all(
        host == "localhost" or host.startswith("127.") for host, _ in master_addresses(master)
    )


def require_reachable(master: str) -> None:
    """Raise `InputError` unless a master listens there; Spark itself would try for minutes."""
    for address in master_addresses(master):
        try:
            socket.create_connection(address, REACH_SECONDS).close()
        except OSError:
            continue
        return
    raise unreachable(master)


def unreachable(master: str) -> InputError:
    """The error for a master that cannot be reached."""
    return InputError(
        f"The Spark master at {master} cannot be reached, or it runs another version of Spark than "
        "the pyspark here. Check that it is running, that the address is the one on its own page, and "
        "that no firewall blocks it."
    )


def call_with_timeout(
    seconds: float, call: Callable[[], Any], late: Callable[[], None]
) -> tuple[bool, Any]:
    """Whether a call ended in time, and its result; `late` ends one that did not."""
    results: list[Any] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # raised again in the waiting thread
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


def start_java(conf: Any, log: BinaryIO) -> Any:
    """Start Java; an interruption leaves no process behind."""
    from pyspark import java_gateway

    started: list[subprocess.Popen[bytes]] = []

    class RecordedPopen(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            started.append(self)
            super().__init__(*args, **kwargs)

    usual = java_gateway.Popen
    java_gateway.Popen = RecordedPopen
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
def keep_sigint_handler() -> Iterator[None]:
    """Restore the handler of Ctrl-C: Spark's own calls Java in the middle of another call."""
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
    with suppress(Exception):  # Java may be gone already
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
    """Raise `InputError` where there is no Java at all."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=None if home is None else str(Path(home, "bin"))) is None:
        raise no_java()


def no_java() -> InputError:
    """The error for a machine on which Java does not start."""
    return InputError(
        "Spark could not start: it needs Java 17 or later. Install one, and let JAVA_HOME name it if "
        "it is not the 'java' of this shell."
    )


@contextmanager
def quick_compilation() -> Iterator[None]:
    """Let a Java that is started in the block compile quickly; options of the user's come after ours."""
    before = os.environ.get(JAVA_OPTIONS)
    os.environ[JAVA_OPTIONS] = " ".join(filter(None, (QUICK_COMPILATION, before)))
    try:
        yield
    finally:
        if before is None:
            del os.environ[JAVA_OPTIONS]
        else:
            os.environ[JAVA_OPTIONS] = before


@contextmanager
def java_memory() -> Iterator[None]:
    """Give a Java that is started in the block a quarter of the memory, unless the user configured it.

    Spark reads this variable last, after `spark.driver.memory` wherever that may be set.
    """
    if DRIVER_MEMORY in os.environ:
        yield
        return
    os.environ[DRIVER_MEMORY] = f"{java_megabytes(machine_memory())}m"
    try:
        yield
    finally:
        del os.environ[DRIVER_MEMORY]


def java_megabytes(available: int) -> int:
    """Megabytes for Java on a machine with so many bytes."""
    return min(max(MIN_MEMORY, available // 4 >> 20), MAX_MEMORY)
