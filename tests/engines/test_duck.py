"""Our DuckDB stays on this machine, and within it."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest

from shoal.engines.duck import connection, file_literal, name, text
from shoal.threads import workers


def setting(con: duckdb.DuckDBPyConnection, key: str) -> object:
    found = con.execute("SELECT current_setting(?)", [key]).fetchone()
    assert found
    return found[0]


def test_no_more_threads_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOAL_THREADS", raising=False)
    with connection() as con:
        assert setting(con, "threads") == workers() <= len(os.sched_getaffinity(0))


def test_fewer_threads_if_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_THREADS", "1")
    with connection() as con:
        assert setting(con, "threads") == 1


def test_nothing_is_fetched_from_the_network_or_spilled() -> None:
    with connection() as con:
        assert setting(con, "autoinstall_known_extensions") is False
        assert setting(con, "autoload_known_extensions") is False
        assert setting(con, "temp_directory") == ""
        assert setting(con, "preserve_insertion_order") is True
        with pytest.raises(duckdb.Error):
            con.execute("SELECT * FROM read_csv('https://example.org/x.csv')")


def test_it_is_closed_after_an_error() -> None:
    def work() -> duckdb.DuckDBPyConnection:
        with connection() as con:
            kept.append(con)
            raise KeyError

    kept: list[duckdb.DuckDBPyConnection] = []
    with pytest.raises(KeyError):
        work()
    with pytest.raises(duckdb.ConnectionException):
        kept[0].execute("SELECT 1")


def test_in_several_threads_at_once() -> None:
    found: list[object] = []

    def work() -> None:
        with connection() as con:
            found.append(con.execute("SELECT 1").fetchone())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(1,)] * 4


READER = """
import sys
from pathlib import Path
from shoal.engines.local import LocalEngine
from shoal.io.atomic import replacing
path = Path(sys.argv[1])
path.write_text("a,b,c\\n" + "one,two,three\\n" * 300_000)
try:
    with replacing(path.with_name("out.csv"), force=False):
        print("reading", flush=True)
        for _ in range(1000):
            LocalEngine().read(path)
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
