"""A limit of memory is for the whole process, not for its database alone."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from shoal.engines.sessions import database_limit, open_session


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ("2GB", 1_000_000_000),
        ("4 GB", 3_000_000_000),
        ("1.5GiB", 805_306_368),
        ("512MB", 256_000_000),
        ("1TB", 999_000_000_000),
    ],
)
def test_what_is_left_for_the_database(asked: str, left: int) -> None:
    told = database_limit(asked)
    assert told.endswith("KB")
    assert abs(int(told.removesuffix("KB")) * 1000 - left) < 1000
    assert duckdb.connect(config={"memory_limit": told}).sql("SELECT 1").fetchall() == [(1,)]


RUN = """
import json, sys
from pathlib import Path
import pyarrow.parquet as pq
import shoal
from shoal.sample.census import census

folder = Path(sys.argv[1])
(folder / "in").mkdir()
for i in range(4):
    pq.write_table(census(100_000, seed=i), folder / "in" / f"{i}.parquet")
columns = {"age": "quasi", "sex": "quasi", "zip": {"role": "quasi", "kind": "unordered"}}
others = ("race", "marital_status", "education", "workclass", "nationality", "hours", "salary", "weight")
columns |= dict.fromkeys(others, "plain")
policy = {"columns": columns | {"disease": "sensitive"}, "constraints": [{"k": 5}]}
release = shoal.run(folder / "in", policy, folder / "out.parquet", memory="1GB")
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([release.verified, release.rows, int(peak.split()[1]) * 1024]))
"""


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read from /proc")
def test_the_process_stays_under_its_limit(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path)], capture_output=True, text=True, check=True
    )
    verified, rows, peak = json.loads(done.stdout)
    assert verified
    assert rows == 400_000
    assert peak < 1_000_000_000


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_rows_behind(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = signal.signal(number, signal.SIG_DFL)  # nohup would have it ignored

    def interrupted() -> None:
        with open_session("local", "500MB") as session:
            schema = pa.schema([("p0", pa.int32())])
            session.map("rows", "SELECT 1 AS p0", lambda batch: batch, schema)
            assert list(tmp_path.rglob("*.parquet"))
            assert signal.getsignal(number) is not signal.SIG_DFL
            os.kill(os.getpid(), number)

    try:
        with pytest.raises(SystemExit):
            interrupted()
    finally:
        signal.signal(number, before)
    assert not list(tmp_path.iterdir())
