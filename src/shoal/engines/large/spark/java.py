"""The Java process that Spark runs in: started so that none stays, whatever interrupts it, and ended."""

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from shoal.errors import InputError

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
