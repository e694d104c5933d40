"""A Spark on this machine alone, as `--engine spark` opens and ends it: in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow.parquet as pq
import pytest

import shoal
from tests.out_of_core.patients import patients
from tests.spark.cases import FIRST, policy_of, read_all, rows_of
from tests.spark.cluster import MARK, QUICK_JAVA, START_SECONDS, require_java
from tests.spark.processes import command, kill, marked, until_gone

# the parent process may ignore Ctrl-C
CODE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from shoal.cli.app import main
main()
"""
ARGUMENTS = "run table.parquet policy.yaml -o there.parquet --engine spark --json --progress json"
SETTINGS = {
    "spark.driver.extraJavaOptions": QUICK_JAVA,
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
POLICY = policy_of(FIRST[1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    require_java()
    pq.write_table(patients(300), tmp_path / "table.parquet")
    (tmp_path / "policy.yaml").write_text(POLICY.to_yaml())
    lines = (f"{name} {value}\n" for name, value in SETTINGS.items())
    (tmp_path / "spark-defaults.conf").write_text("".join(lines))
    return tmp_path


@pytest.fixture
def temporary() -> Iterator[Path]:
    """An empty folder for temporary files, with a path short enough for sockets."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@contextmanager
def started(folder: Path, temporary: Path, mark: str) -> Iterator[subprocess.Popen[str]]:
    """The command; it and all that it started are ended, whatever happens."""
    try:
        with subprocess.Popen(
            [sys.executable, "-c", CODE, *ARGUMENTS.split()],
            cwd=folder,
            env={**os.environ, "SPARK_CONF_DIR": str(folder), "TMPDIR": str(temporary), MARK: mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()
    finally:
        kill(marked(MARK, mark))


def names_in(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def test_a_run_with_a_spark_on_this_machine(folder: Path, temporary: Path) -> None:
    mark, before = uuid.uuid4().hex, names_in(folder)
    with started(folder, temporary, mark) as process:
        wait_for_process("shoal.engines.spark.daemon", mark)
        output, progress = process.communicate()
        assert until_gone(marked(MARK, mark)) == []
    assert process.returncode == 0, progress
    assert names_in(temporary) == set()
    assert {json.loads(line)["stage"] for line in progress.splitlines()} >= {"start", "verify"}
    assert names_in(folder) == before | {"there.parquet"}
    alone = shoal.run(folder / "table.parquet", POLICY, folder / "alone.parquet")
    there, one = (read_all(folder / f"{name}.parquet") for name in ("there", "alone"))
    assert rows_of(there) == rows_of(one)
    assert json.loads(output)["groups"] == alone.groups


@pytest.mark.parametrize(
    "stage", ["start", *(pytest.param(s, marks=pytest.mark.thorough) for s in ("encode", "write"))]
)
def test_ctrl_c(folder: Path, temporary: Path, stage: str) -> None:
    mark, before = uuid.uuid4().hex, names_in(folder)
    with started(folder, temporary, mark) as process:
        assert process.stderr is not None
        wait_for(stage, process.stderr, mark)
        process.send_signal(signal.SIGINT)
        output, rest = process.communicate()
        assert until_gone(marked(MARK, mark)) == []
    assert (process.returncode, output) == (130, "")
    said = [line for line in rest.splitlines() if not line.startswith("{")]
    assert said == ["Interrupted: no incomplete file is left behind."]
    assert names_in(folder) == before
    assert names_in(temporary) == set()


def wait_for(stage: str, progress: IO[str], mark: str) -> None:
    """Until a line tells that the stage begins, and there is a Java."""
    assert any(json.loads(line)["stage"] == stage for line in progress)
    wait_for_process("java", mark)


def wait_for_process(name: str, mark: str) -> None:
    """Until there is a process with this in its command."""
    end = time.monotonic() + START_SECONDS
    while not any(name in command(pid) for pid in marked(MARK, mark)):
        assert time.monotonic() < end
        time.sleep(0.05)
