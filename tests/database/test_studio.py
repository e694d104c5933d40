"""The studio on a server: a table is opened, its release written beside it, and verified there."""

import subprocess
import sys
from pathlib import Path

from shoal.studio.screens.release import database_target
from shoal.studio.session import Session
from shoal.studio.tasks import Order, write_release
from tests.database.server import Server
from tests.studio.test_session import in_session, settled


def test_from_a_table_to_a_verified_table(visits: Server, policy: Path, tmp_path: Path) -> None:
    target = database_target(visits.address("published"), tmp_path)
    order = Order(
        policy=str(policy),
        target=target,
        report=str(tmp_path / "report.html"),
        external_report=None,
        key=None,
        seed_file=None,
        force=False,
    )

    async def work(session: Session) -> None:
        await session.open(visits.address("visits"), policy)
        await settled(session)
        assert session.live.state == "verified", session.live.error
        assert session.table_name == "table=visits"
        written = await session.whole.call(write_release, order)
        assert (written.verified, written.rows) == (True, 400)
        assert written.files[0] == target

    in_session(tmp_path, work)
    assert visits.tables() == {"public.visits", "public.published"}
    command = [sys.executable, "-m", "shoal.cli.app", "verify", target, policy]
    assert subprocess.run(command, capture_output=True).returncode == 0
    # one row more that stands out, and the command line says so
    visits.run(
        "UPDATE published SET age = '[30~31]' WHERE ctid = (SELECT min(ctid) FROM published)"
    )
    assert subprocess.run(command, capture_output=True).returncode == 4
    assert "erified" in (tmp_path / "report.html").read_text(encoding="utf-8")
