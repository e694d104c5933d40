"""Whatever ends a run: the old release is there, or the new one, never neither."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import shoal
from shoal.engines.files import LocalFiles
from shoal.errors import InputError
from shoal.io.address import place_of
from shoal.verification.digest import digest_of
from tests.database.server import CLERK, OWNER, Server

WAITING = "EXISTS (SELECT FROM pg_locks WHERE NOT granted AND mode = 'ShareRowExclusiveLock')"
IDLE = "NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'shoal')"


@pytest.fixture
def released(visits: Server, policy: Path) -> Server:
    """The server with a release, of which people have one set of labels."""
    shoal.run(visits.address("visits"), policy, visits.address("pub"), k=3)
    return visits


def state(server: Server) -> tuple[str, set[str], list]:
    """What users see: the rows, the tables, and comments and grants."""
    rows = LocalFiles().read(place_of(server.address("pub")))
    about = "SELECT obj_description(oid), relacl::text FROM pg_class WHERE relname = 'pub'"
    return digest_of(rows), server.tables(), server.rows(about)


@contextlib.contextmanager
def reading(server: Server) -> Iterator[list]:
    """A transaction that lets nobody change the release, and has not ended."""
    connection = server.connection(CLERK)
    cursor = connection.cursor()
    try:
        cursor.execute("LOCK TABLE pub IN SHARE MODE")
        yield [cursor, connection]
    finally:
        released_by([cursor, connection])


def released_by(reader: list) -> None:
    """End the transaction of a reader."""
    for part in reader:
        with contextlib.suppress(Exception):  # the server may be gone
            part.close()


@contextlib.contextmanager
def replacing(server: Server, policy: Path) -> Iterator[subprocess.Popen]:
    """A process that replaces the release, at the moment when all is written and verified: it waits
    for a reader."""
    command = [sys.executable, "-m", "shoal.cli.app", "run", server.address("visits"), str(policy)]
    with reading(server) as reader:
        process = subprocess.Popen(
            [*command, "-o", server.address("pub"), "--force", "--quiet"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with process:
            server.wait_until(WAITING)
            yield process
            released_by(reader)
            process.wait(60)


def failure_of_replacing(
    server: Server, policy: Path, harm: Callable[[], object], port: int | None = None
) -> str:
    """The error of a run that replaces the release, and is harmed at that same moment."""
    failed: list[InputError] = []

    def replace() -> None:
        try:
            shoal.run(
                server.address("visits"), policy, server.address("pub", port=port), force=True
            )
        except InputError as error:
            failed.append(error)

    with reading(server):
        run = threading.Thread(target=replace)
        run.start()
        server.wait_until(WAITING)
        harm()
    run.join(60)
    (error,) = failed
    assert "\n" not in str(error)
    return str(error)


def test_a_client_that_is_killed_changes_nothing(released: Server, policy: Path) -> None:
    before = state(released)
    with replacing(released, policy) as process:
        process.kill()
    released.wait_until(IDLE)
    assert state(released) == before


@pytest.mark.long
def test_a_backend_that_ends_changes_nothing(released: Server, policy: Path) -> None:
    before = state(released)
    found = "pid IN (SELECT pid FROM pg_locks WHERE NOT granted)"
    end = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {found}"
    said = failure_of_replacing(released, policy, lambda: released.rows(end, OWNER))
    assert "the connection to the server was lost" in said
    assert state(released) == before


def test_a_server_that_crashes_keeps_the_old_release(released: Server, policy: Path) -> None:
    before = state(released)
    try:
        # an immediate end: no transaction is finished
        said = failure_of_replacing(released, policy, lambda: released.stop(signal.SIGQUIT))
    finally:
        released.start()
    assert "the connection to the server was lost" in said
    assert state(released) == before


class Proxy:
    """Forwards connections to a server until they are cut, perhaps at a certain word."""

    def __init__(self, port: int, cut_after: re.Pattern[bytes] | None = None) -> None:
        self._port, self._cut_after = port, cut_after
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(("127.0.0.1", self._port))
                self._sockets += [client, server]
                for one, other in ((client, server), (server, client)):
                    is_client = one is client
                    threading.Thread(
                        target=self._forward, args=(one, other, is_client), daemon=True
                    ).start()

    def _forward(self, one: socket.socket, other: socket.socket, is_client: bool) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(1 << 16):
                if is_client and self._cut_after and self._cut_after.search(data):
                    self._cut_after = None
                    one.shutdown(socket.SHUT_RDWR)  # the client gets no answer
                    other.sendall(data)
                    return
                other.sendall(data)
        with contextlib.suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        for each in (self._listening, *self._sockets):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@pytest.mark.long
def test_a_lost_connection_changes_nothing(released: Server, policy: Path) -> None:
    before = state(released)
    proxy = Proxy(released.port)
    said = failure_of_replacing(released, policy, proxy.cut, proxy.port)
    assert "the connection to the server was lost" in said
    released.wait_until(IDLE)
    assert state(released) == before


def test_a_commit_without_an_answer_is_looked_up(released: Server, policy: Path) -> None:
    before = state(released)
    proxy = Proxy(released.port, cut_after=re.compile(b"COMMIT(?!TED)"))
    target = released.address("pub", port=proxy.port)
    try:
        shoal.run(released.address("visits"), policy, target, force=True)
    finally:
        proxy.cut()
    after = state(released)
    assert after[0] != before[0]
    assert after[0] in after[2][0][0]


def test_a_concurrent_reader_finds_the_old_release_or_the_new_one(
    released: Server, policy: Path
) -> None:
    sql = "SELECT count(*), md5(string_agg(t::text, '' ORDER BY t::text)) FROM pub AS t"
    seen: list[tuple] = []
    done = threading.Event()

    def read() -> None:
        opened = released.connection(CLERK, autocommit=True)
        with opened as connection, connection.cursor() as cursor:
            while not done.is_set():
                cursor.execute(sql)
                seen.extend(cursor.fetchall())

    wanted = set(released.rows(sql))
    reader = threading.Thread(target=read)
    reader.start()
    try:
        for k in (6, 3, 9):
            shoal.run(released.address("visits"), policy, released.address("pub"), k=k, force=True)
            wanted |= set(released.rows(sql))
    finally:
        done.set()
        reader.join()
    assert len(wanted) == 3
    assert len(seen) > 3
    assert set(seen) <= wanted


@pytest.mark.long
def test_a_reader_who_does_not_end_is_not_waited_for_forever(
    released: Server, policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.engines.database.postgresql.PATIENCE", "100ms")
    before = state(released)
    source, target = released.address("visits"), released.address("pub")
    with reading(released), pytest.raises(InputError, match="others used the table"):
        shoal.run(source, policy, target, force=True)
    assert state(released) == before


def test_a_table_that_appears_meanwhile_stays(
    visits: Server, policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.engines.database.staging import StagedTable

    write = StagedTable.write

    def write_late(*arguments: object) -> None:
        write(*arguments)  # type: ignore[arg-type]
        visits.run("CREATE TABLE pub (mine int)")

    monkeypatch.setattr(StagedTable, "write", write_late)
    with pytest.raises(InputError, match="exists already"):
        shoal.run(visits.address("visits"), policy, visits.address("pub"))
    assert visits.tables() == {"public.visits", "public.pub"}
    assert visits.rows("SELECT * FROM pub") == []


@pytest.mark.parametrize("memory", [None, pytest.param("500MB", marks=pytest.mark.long)])
def test_a_full_disk_changes_nothing(released: Server, policy: Path, memory: str | None) -> None:
    with small_tablespace(released):
        before = state(released)
        with pytest.raises(InputError, match="is full") as error:
            shoal.run(
                released.query("SELECT v.* FROM visits v, generate_series(1, 60)"),
                policy,
                released.address("pub"),
                force=True,
                memory=memory,
            )
        assert "\n" not in str(error.value)
        assert state(released) == before


@contextlib.contextmanager
def small_tablespace(server: Server) -> Iterator[None]:
    """New tables get a disk of half a megabyte; where none can be mounted, an error in its place."""
    folder = Path(tempfile.mkdtemp(prefix="shoal-small-"))
    size = "size=512k,mode=0777"
    mount = ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0
    try:
        if mounted:
            (folder / "space").mkdir()
            shutil.chown(folder / "space", "nobody", "nogroup")
            server.run_alone(f"CREATE TABLESPACE small OWNER {CLERK} LOCATION '{folder}/space'")
            server.run(f"ALTER ROLE {CLERK} SET default_tablespace = small", user=OWNER)
        else:
            print("no small disk can be mounted here; the server raises its error instead")
            server.run(
                "CREATE FUNCTION full_disk() RETURNS event_trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE 'full' USING ERRCODE = 'disk_full'; END $$",
                "CREATE EVENT TRIGGER full_disk ON ddl_command_end WHEN TAG IN ('CREATE TABLE') "
                "EXECUTE FUNCTION full_disk()",
                user=OWNER,
            )
        yield
    finally:
        if mounted:
            server.run(f"ALTER ROLE {CLERK} RESET default_tablespace", user=OWNER)
            server.run_alone("DROP TABLESPACE small")
            subprocess.run(["umount", str(folder)], check=True)
        else:
            server.run("DROP EVENT TRIGGER IF EXISTS full_disk", user=OWNER)
        shutil.rmtree(folder, ignore_errors=True)
