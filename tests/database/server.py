"""A PostgreSQL server on loopback, in a temporary folder, ended by its process id."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

OWNER, CLERK, GUEST = "owner", "clerk", "guest"
PASSWORDS = {OWNER: "Geheim-7f3", CLERK: "Clerk:pass/word@1", GUEST: "guest-pass"}
SKIPPED = "so nothing was tested on PostgreSQL"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "40",
    "log_min_messages": "fatal",
}


def programs() -> Path:
    """The folder of the server's programs; skips the test where there is none."""
    found = shutil.which("postgres")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    pytest.skip(f"PostgreSQL is not installed, {SKIPPED}")


def as_ordinary_user() -> dict[str, Any]:
    """How to start a program that refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    return {"user": "nobody", "group": "nogroup", "extra_groups": []}


class Server:
    """A server with the database `office`, which belongs to an ordinary user."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data, self._bin = folder, folder / "data", programs()
        self.process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def create(self) -> None:
        secret = self.folder / "secret"
        secret.write_text(PASSWORDS[OWNER])
        if os.geteuid() == 0:
            for place in (self.folder, secret):
                shutil.chown(place, "nobody", "nogroup")
        command = [self._bin / "initdb", "-D", self.data, "-U", OWNER, "--pwfile", secret]
        options = ["--auth=scram-sha-256", "--no-sync", "-E", "UTF8", "--locale=C"]
        done = subprocess.run(
            [*command, *options], capture_output=True, cwd=self.folder, **as_ordinary_user()
        )
        assert done.returncode == 0, done.stderr.decode()
        secret.unlink()

    def start(self) -> None:
        settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        command = [self._bin / "postgres", "-D", self.data, "-p", str(self.port), "-k", self.folder]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *settings], stdout=log, stderr=log, cwd=self.folder, **as_ordinary_user()
            )
        ended = time.monotonic() + 30
        while True:
            try:
                with self.connect(OWNER, "postgres"):
                    return
            except Exception:
                assert time.monotonic() < ended, (self.folder / "log").read_text()
                time.sleep(0.05)

    def stop(self, number: int = signal.SIGINT) -> None:
        """End it: SIGINT disconnects everybody, SIGQUIT ends it as a crash does."""
        if self.process is not None:
            self.process.send_signal(number)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def uri(self, user: str = CLERK, database: str = "office", port: int | None = None) -> str:
        return f"postgresql://{user}@127.0.0.1:{port or self.port}/{database}"

    def address(self, table: str, user: str = CLERK, port: int | None = None) -> str:
        return f"{self.uri(user, port=port)}?table={table}"

    def query(self, sql: str, user: str = CLERK) -> str:
        return f"{self.uri(user)}?query={sql}"

    @contextlib.contextmanager
    def connect(self, user: str = CLERK, database: str = "office") -> Iterator[Any]:
        """A cursor; what it did is committed at the end."""
        with self.connection(user, database) as connection, connection.cursor() as cursor:
            yield cursor
            connection.commit()

    def connection(self, user: str, database: str = "office", autocommit: bool = False) -> Any:
        """A connection of the tests themselves, whatever the environment says."""
        from adbc_driver_postgresql import dbapi

        secret = f"{user}:{quote(PASSWORDS[user], safe='')}@"
        return dbapi.connect(
            self.uri(user, database).replace(f"{user}@", secret), autocommit=autocommit
        )

    def run(self, *statements: str, user: str = CLERK) -> None:
        with self.connect(user) as cursor:
            for statement in statements:
                cursor.execute(statement)

    def run_alone(self, statement: str, database: str = "office") -> None:
        """Run a statement that cannot be part of a transaction."""
        with (
            self.connection(OWNER, database, autocommit=True) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)

    def rows(self, sql: str, user: str = CLERK) -> list[tuple[Any, ...]]:
        with self.connect(user) as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def tables(self) -> set[str]:
        """Everything that the users' schemas hold."""
        found = self.rows(
            "SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n "
            "ON n.oid = c.relnamespace WHERE n.nspname !~ '^(pg_|information_schema)' "
            "AND c.relkind IN ('r', 'v', 'm')",
            OWNER,
        )
        return {row[0] for row in found}

    def wait_until(self, condition: str, seconds: float = 30) -> None:
        """Wait until a query returns something true."""
        ended = time.monotonic() + seconds
        while not self.rows(f"SELECT {condition}", OWNER)[0][0]:
            assert time.monotonic() < ended, f"waited for {condition}"
            time.sleep(0.02)


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """A server with its users; their passwords are in a file that PGPASSFILE names."""
    programs()
    pytest.importorskip("adbc_driver_postgresql", reason=f"ADBC is not installed, {SKIPPED}")
    folder = Path(tempfile.mkdtemp(prefix="shoal-postgresql-"))
    server = Server(folder)
    before = {name: os.environ.get(name) for name in ("PGPASSFILE", "PGPASSWORD")}
    passes = Path(tempfile.mkdtemp(prefix="shoal-pgpass-")) / "pgpass"
    passes.write_text(
        "".join(
            f"127.0.0.1:*:*:{user}:{secret.replace(':', chr(92) + ':')}\n"
            for user, secret in PASSWORDS.items()
        )
    )
    passes.chmod(0o600)
    try:
        os.environ["PGPASSFILE"] = str(passes)
        os.environ.pop("PGPASSWORD", None)
        server.create()
        server.start()
        with server.connect(OWNER, "postgres") as cursor:
            for user in (CLERK, GUEST):
                cursor.execute(f"CREATE ROLE {user} LOGIN PASSWORD '{PASSWORDS[user]}'")
        server.run_alone(f"CREATE DATABASE office OWNER {CLERK}", "postgres")
        server.run(f"ALTER SCHEMA public OWNER TO {CLERK}", user=OWNER)
        yield server
    finally:
        server.stop()
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(passes.parent, ignore_errors=True)
