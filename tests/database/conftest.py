"""One server for all tests of this folder, and a small table of people."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tests.database.people import POLICY, people
from tests.database.server import OWNER, Server, running


@pytest.fixture(scope="session")
def started() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture
def server(started: Server) -> Iterator[Server]:
    """The server with an empty database."""
    yield started
    started.run(
        'DROP SCHEMA IF EXISTS public, pub, "My Schema" CASCADE',
        "CREATE SCHEMA public AUTHORIZATION clerk",
        "GRANT USAGE ON SCHEMA public TO PUBLIC",
        user=OWNER,
    )


@pytest.fixture
def visits(server: Server) -> Server:
    """The server with the people in the table `visits`."""
    with server.connect() as cursor:
        cursor.adbc_ingest("visits", people(), mode="create")
    return server


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    return path


@pytest.fixture(scope="session")
def table() -> pa.Table:
    return people()
