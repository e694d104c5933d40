"""No process stays behind: neither when a test fails nor when the tests themselves are killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.spark.cluster import MARK, require_java
from tests.spark.processes import command, marked, until_gone

ROOT = Path(__file__).parents[2]
SMALL = """
from tests.spark.cluster import running

def test_that_fails(tmp_path):
    with running(tmp_path, workers=1) as cluster:
        print("MARK", cluster.mark, flush=True)
        {then}
"""
WHOLE = """
import time
from tests.spark.conftest import cluster, session

def test_that_fails(session, cluster):
    print("MARK", cluster.mark, flush=True)
    session.map("t", "SELECT id FROM range(8)", lambda batch: batch, {schema})
    {then}
"""
FAILS, HANGS = "assert False", "import time; time.sleep(600)"


@pytest.mark.parametrize(
    ("text", "then"),
    [
        (SMALL, FAILS),
        (SMALL, HANGS),
        pytest.param(WHOLE, FAILS, marks=pytest.mark.thorough),
        pytest.param(WHOLE, HANGS, marks=pytest.mark.thorough),
    ],
    ids=["fails", "killed", "fails with executors", "killed with executors"],
)
def test_no_process_is_left(tmp_path: Path, text: str, then: str) -> None:
    require_java()
    schema = "__import__('pyarrow').schema([('id', 'int64')])"
    file = tmp_path / "test_inner.py"
    file.write_text(text.format(then=then, schema=schema))
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    arguments = ["-q", "-s", "-p", "no:cacheprovider", f"--rootdir={tmp_path}"]
    arguments += [f"--basetemp={tmp_path / 'base'}", str(file)]
    inner = subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=tmp_path,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert inner.stdout is not None
    try:
        lines = iter(inner.stdout.readline, "")
        said = next((line for line in lines if line.startswith("MARK")), None)
        assert said is not None, "the inner test did not begin"
        mark = said.split()[1]
        started = _when_up(mark, executors=text is WHOLE) if then == HANGS else []
        if then == HANGS:
            inner.send_signal(signal.SIGKILL)
        inner.wait(120)
        left = until_gone([*started, *marked(MARK, mark)])
        assert not left, [command(pid) for pid in left]
        assert inner.returncode == (-signal.SIGKILL if then == HANGS else 1)
    finally:
        inner.kill()
        inner.wait()
        inner.stdout.close()


def _when_up(mark: str, executors: bool) -> list[int]:
    """The processes of the cluster, when all are there that must be."""
    wanted = ["master.Master", "worker.Worker"]
    wanted += ["CoarseGrainedExecutorBackend", "pyspark.daemon", "SparkSubmit"] if executors else []
    end = time.monotonic() + 60
    while True:
        found = marked(MARK, mark)
        commands = [command(pid) for pid in found]
        if all(any(one in each for each in commands) for one in wanted):
            return found
        assert time.monotonic() < end, commands
        time.sleep(0.1)
