"""Freed memory is kept while a large run lasts, and given back afterwards."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal import allocation
from shoal.allocation import LARGE, reusing

MEASURED = """
import sys, threading, time
import numpy as np
from shoal.allocation import LARGE, reusing, share_one_arena

def resident():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024

def take():
    np.ones(25_000_000)  # 200 MB

def work():
    take()
    before = resident()
    with reusing(LARGE - 1 if sys.argv[1] == "small" else LARGE):
        take()
        inside = resident()
        take()
        again = resident()
        if sys.argv[1] == "database":
            with connection(0) as opened:
                opened.execute("SELECT 1")
            time.sleep(1.5)  # a thread of the database without work would have trimmed the memory
            again = resident()
    print(inside - before, again - before, resident() - before)

if sys.argv[1] == "thread":
    share_one_arena()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
else:
    if sys.argv[1] == "database":
        from shoal.engines.duckdb.connection import connection
    work()
"""


def _measure(how: str, **variables: str) -> list[float]:
    known = {
        name: value for name, value in os.environ.items() if not name.startswith(allocation.OURS)
    }
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, how],
        check=True,
        capture_output=True,
        text=True,
        env=known | variables,
    )
    return [float(word) for word in done.stdout.split()]


needs_glibc = pytest.mark.skipif(
    not sys.platform.startswith("linux") or allocation._library() is None,
    reason="only glibc can be told",
)


@needs_glibc
@pytest.mark.parametrize("how", ["large", "thread"])
def test_freed_memory_stays_and_goes_back_at_the_end(how: str) -> None:
    inside, again, after = _measure(how)
    assert inside > 150, "freed, but kept"
    assert again < inside + 50, "what was freed is used again"
    assert after < 50


@needs_glibc
def test_the_database_that_stays_open_leaves_freed_memory_alone() -> None:
    inside, again, after = _measure("database")
    assert inside > 150
    assert again > 150, "freed, and still kept"
    assert after < inside - 100, "given back at the end, but for what the database holds"


@needs_glibc
@pytest.mark.parametrize(
    ("how", "variables"),
    [("small", {}), ("large", {"MALLOC_TOP_PAD_": "1000000"})],
    ids=["a small table", "set by the user"],
)
def test_it_is_left_alone(how: str, variables: dict[str, str]) -> None:
    assert max(_measure(how, **variables)) < 50


@needs_glibc
def test_the_last_run_puts_arrows_memory_back(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(allocation.OURS)]:
        monkeypatch.delenv(name)
    monkeypatch.delenv(allocation.ARROWS, raising=False)
    before = pa.default_memory_pool().backend_name
    with suppress(ValueError), reusing(LARGE):
        with reusing(LARGE):
            assert pa.default_memory_pool().backend_name == "system"
        assert pa.default_memory_pool().backend_name == "system"
        raise ValueError
    assert pa.default_memory_pool().backend_name == before
    monkeypatch.setenv(allocation.ARROWS, before)
    with reusing(LARGE):
        assert pa.default_memory_pool().backend_name == before


def test_a_release_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shoal.write_sample(tmp_path / "sample", rows=400)
    source, policy = tmp_path / "sample" / "hospital.csv", tmp_path / "sample" / "policy.yaml"
    shoal.run(source, policy, tmp_path / "plain.csv", seed_file=tmp_path / "seed")
    used: list[int] = []
    begin = allocation._begin
    monkeypatch.setattr(allocation, "LARGE", 0)

    def noted(library: Any) -> None:
        used.append(1)
        begin(library)

    monkeypatch.setattr(allocation, "_begin", noted)
    shoal.run(source, policy, tmp_path / "reusing.csv", seed_file=tmp_path / "seed")
    assert (tmp_path / "reusing.csv").read_bytes() == (tmp_path / "plain.csv").read_bytes()
    assert bool(used) == (allocation._library() is not None)
