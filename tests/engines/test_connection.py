"""Our DuckDB stays on this machine, and within it."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from shoal.engines.duckdb.connection import SMALL, connection, file_literal, name, text
from shoal.engines.files import LocalFiles
from shoal.threads import workers

each_size = pytest.mark.parametrize("size", [0, SMALL, SMALL + 1], ids=["none", "small", "large"])
"""A database that is shared, and one of its own."""


def setting(con: duckdb.DuckDBPyConnection, key: str) -> object:
    found = con.execute("SELECT current_setting(?)", [key]).fetchone()
    assert found
    return found[0]


def test_no_more_threads_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOAL_THREADS", raising=False)
    with connection(SMALL + 1) as con:
        assert setting(con, "threads") == workers() <= len(os.sched_getaffinity(0))
    with connection(SMALL) as con:  # one that stays open has no thread that would be idle
        assert setting(con, "threads") == 1


@each_size
def test_fewer_threads_if_configured(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setenv("SHOAL_THREADS", "1")
    with connection(size) as con:
        assert setting(con, "threads") == 1


@each_size
def test_nothing_is_fetched_from_the_network_or_spilled(size: int) -> None:
    with connection(size) as con:
        assert setting(con, "autoinstall_known_extensions") is False
        assert setting(con, "autoload_known_extensions") is False
        assert setting(con, "temp_directory") == ""
        assert setting(con, "preserve_insertion_order") is True
        assert setting(con, "enable_external_file_cache") is False
        with pytest.raises(duckdb.Error):
            con.execute("SELECT * FROM read_csv('https://example.org/x.csv')")


@each_size
def test_the_database_is_closed_after_an_error(size: int) -> None:
    def work() -> duckdb.DuckDBPyConnection:
        with connection(size) as con:
            kept.append(con)
            raise KeyError

    kept: list[duckdb.DuckDBPyConnection] = []
    with pytest.raises(KeyError):
        work()
    with pytest.raises(duckdb.ConnectionException):
        kept[0].execute("SELECT 1")


@each_size
def test_in_several_threads_at_once(size: int) -> None:
    found: list[object] = []
    together = threading.Barrier(4)

    def work(number: int) -> None:
        with connection(size) as con:
            con.register("published", pa.table({"n": [number]}))
            together.wait()
            found.append((number, con.execute("SELECT n FROM published").fetchall()))

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(number, [(number,)]) for number in range(4)]  # type: ignore[type-var]


@each_size
def test_tasks_do_not_see_each_other(size: int) -> None:
    with connection(size) as con:
        con.register("published", pa.table({"n": [1]}))
        con.execute("CREATE TEMP TABLE seen AS FROM published")
    with connection(size) as con:
        assert con.execute("SHOW ALL TABLES").fetchall() == []
        assert con.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchone() == (0,)


def test_a_broken_database_is_not_used_again() -> None:
    def work() -> None:
        with connection(0) as con:
            con.execute("CREATE TABLE left_over AS SELECT 1 AS n")
            con.execute("SELECT error('stop')")

    with pytest.raises(duckdb.Error):
        work()
    with connection(0) as con:
        assert con.execute("SHOW ALL TABLES").fetchall() == []


def test_the_same_name_for_another_file_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for said in ("one", "two"):
        path.write_text(f"a,b\n{said},x\n")
        assert LocalFiles().read(path).to_pylist() == [{"a": said, "b": "x"}]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_works_and_so_does_its_parent_after_it() -> None:
    code = """
import os
from shoal.engines.duckdb.connection import connection
def ask():
    with connection(0) as con:
        assert con.execute("SELECT sum(range) FROM range(100000)").fetchone() == (4999950000,)
ask()
child = os.fork()
if child == 0:
    ask()
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
ask()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


READER = """
import sys
from pathlib import Path
from shoal.engines.files import LocalFiles
from shoal.io.commit import replacing
path = Path(sys.argv[1])
path.write_text("a,b,c\\n" + "one,two,three\\n" * 300_000)
try:
    with replacing(path.with_name("out.csv"), force=False):
        print("reading", flush=True)
        for _ in range(1000):
            LocalFiles().read(path)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_query_as_it_ends_python(tmp_path: Path, number: signal.Signals) -> None:
    """130 where the database was at work, else what Python makes of the signal; never an error."""
    child = subprocess.Popen(
        [sys.executable, "-c", READER, tmp_path / "t.csv"], stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout
        assert child.stdout.readline() == "reading\n"
        time.sleep(0.5)
        child.send_signal(number)
        try:
            assert child.wait(timeout=60) in (130, 128 + number)
        finally:
            child.kill()


def test_literals() -> None:
    assert text("it's") == "'it''s'"
    assert name('a"b') == '"a""b"'
    assert file_literal(Path("/x/a*[b]?.csv")) == "'/x/a[*][[]b][?].csv'"
