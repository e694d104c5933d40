"""A real standalone cluster on loopback: a master and two workers, each a process of its own.

Whatever happens, no process stays: all carry a mark in their environment by which they are found and
ended, and the kernel ends them if the tests themselves are killed.
"""

import ctypes
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conftest import NO_SPARK
from tests.spark.processes import alive, command, descendants, kill, marked, until_gone

MARK = "SHOAL_TEST_CLUSTER"
LOOPBACK = "127.0.0.1"
SOURCES = Path(__file__).parents[2] / "src"
START_SECONDS = 120.0
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
"""For processes that live for minutes: Java compiles quickly instead of well."""
DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""


def require_java() -> None:
    """Skip, and say so, where there is no Java to run Spark with."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java") if home is None else shutil.which("java", path=f"{home}/bin")
    if java is None:
        pytest.skip(f"there is no Java here, {NO_SPARK}")
    if not sys.platform.startswith("linux"):
        pytest.skip(f"processes are watched through /proc, which only Linux has, {NO_SPARK}")


@dataclass
class Cluster:
    """The running processes, and where they write."""

    folder: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    port: int = 0
    master: "subprocess.Popen[bytes] | None" = None
    workers: "list[subprocess.Popen[bytes]]" = field(default_factory=list)
    logs: dict[int, Path] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"spark://{LOOPBACK}:{self.port}"

    def start(self, workers: int = 2) -> None:
        self.port = _free_port()
        master = ["master.Master", "--host", LOOPBACK, "--port", str(self.port)]
        self.master = self._run("master", master)
        self._await(self.master, "I have been elected leader")
        for _ in range(workers):
            self._add_worker()
        for worker in self.workers:
            self._await(worker, "Successfully registered with master")

    def mend(self) -> None:
        """Put a new worker in the place of each that was killed."""
        dead = [worker for worker in self.workers if not alive(worker.pid)]
        for worker in dead:
            worker.wait()
            self.workers.remove(worker)
            self._add_worker()
        for worker in self.workers[-len(dead) :] if dead else []:
            self._await(worker, "Successfully registered with master")

    def busy(self) -> "list[subprocess.Popen[bytes]]":
        """The workers that have an executor with Python in it."""
        return [worker for worker in self.workers if len(family(worker)) > 2]

    def end(self) -> list[int]:
        """End everything; gives the processes that would not end, of which there must be none."""
        everyone = {
            pid for p in (self.master, *self.workers) if p for pid in (p.pid, *descendants(p.pid))
        }
        started = [process for process in (*self.workers, self.master) if process is not None]
        for process in started:
            process.terminate()
        for process in started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        until_gone(sorted(everyone), 5)
        kill(marked(MARK, self.mark))
        return until_gone([*everyone, *marked(MARK, self.mark)])

    @contextmanager
    def marks(self) -> Iterator[None]:
        """Let what is started in the block be one of the cluster's processes."""
        os.environ[MARK] = self.mark
        try:
            yield
        finally:
            del os.environ[MARK]

    def _add_worker(self) -> None:
        number = len(self.logs)
        place = [
            "--host",
            LOOPBACK,
            "--port",
            "0",
            "--work-dir",
            str(self.folder / f"work-{number}"),
        ]
        size = ["--cores", "1", "--memory", "2g"]
        worker = self._run(f"worker-{number}", ["worker.Worker", *place, *size, self.address])
        self.workers.append(worker)

    def _run(self, name: str, arguments: list[str]) -> "subprocess.Popen[bytes]":
        home = spark_home()
        env = os.environ | {
            MARK: self.mark,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": f"-Dspark.master.rest.enabled=false {QUICK_JAVA}",
            "SPARK_LAUNCHER_OPTS": QUICK_JAVA,
            # what `pip install shoal` on the workers would do
            "PYTHONPATH": str(SOURCES),
        }
        kind, *rest = [f"org.apache.spark.deploy.{arguments[0]}", *arguments[1:]]
        log = self.folder / f"{name}.log"
        with log.open("wb") as stream:
            process = subprocess.Popen(
                # no page of theirs is looked at, but a port must be given: any that is free
                [str(home / "bin" / "spark-class"), kind, "--webui-port", "0", *rest],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
                preexec_fn=_die_with_us,
            )
        self.logs[process.pid] = log
        return process

    def _await(self, process: "subprocess.Popen[bytes]", words: str) -> None:
        log = self.logs[process.pid]
        end = time.monotonic() + START_SECONDS
        while words not in log.read_text(errors="replace"):
            if process.poll() is not None or time.monotonic() > end:
                raise AssertionError(
                    f"{log.name}: no '{words}' in\n{log.read_text(errors='replace')}"
                )
            time.sleep(0.1)


def family(worker: "subprocess.Popen[bytes]") -> list[int]:
    """The executors of a worker and their Python processes."""
    return [
        pid
        for pid in descendants(worker.pid)
        if "CoarseGrainedExecutorBackend" in command(pid) or "pyspark.daemon" in command(pid)
    ]


def kill_worker(worker: "subprocess.Popen[bytes]") -> list[int]:
    """Kill -9 a worker, its executors and their Python processes, by number; gives the numbers."""
    pids = [worker.pid, *family(worker)]
    kill(pids)
    worker.wait()
    return pids


@contextmanager
def running(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster for the time of the block."""
    cluster = Cluster(folder)
    try:
        cluster.start(workers)
        yield cluster
    finally:
        left = cluster.end()
        assert not left, f"processes of the cluster are still there: {left}"


def spark_home() -> Path:
    """Where pyspark is, without importing it."""
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        return int(taken.getsockname()[1])


def _die_with_us() -> None:
    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
