"""A full disk, a killed worker and a policy edited elsewhere: nothing is lost, and it is reported."""

import asyncio
import errno
import os
import re
import resource
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from shoal import api
from shoal.errors import InputError, ShoalError
from shoal.progress import ProgressCallback
from shoal.studio.local_files import COPIES, keep_copy
from shoal.studio.session import Session
from shoal.studio.tasks import Order, write_release
from shoal.studio.worker import Tables
from shoal.studio.workspace import ELSEWHERE
from tests.studio.test_session import in_session, sample, set_k, settled

__all__ = ["sample"]
FULL = r"(?i)file too large|disk full"
PATIENCE = 30.0
"""Seconds within which a policy that was edited elsewhere is noticed, on a busy machine too."""


def limit_files(tables: Tables, report: ProgressCallback, size: int | None) -> None:
    """A task after which files of this worker cannot grow beyond a size, as on a full disk."""
    del tables, report
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most if size is None else size, most))


def order_in(folder: Path, policy: Path) -> Order:
    beside = folder / "hospital-release"
    return Order(
        policy=str(policy),
        target=f"{beside}.csv",
        report=f"{beside}-report.html",
        external_report=None,
        key=None,
        seed_file=None,
        force=False,
    )


async def until(happened: Callable[[], bool]) -> None:
    """Wait for what must happen by itself, but not for ever."""
    for _ in range(round(PATIENCE / 0.01)):
        if happened():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"it did not happen within {PATIENCE:g} seconds")


def listed(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.endswith(".steps")}


def test_a_full_disk_leaves_neither_release_nor_report(
    sample: "api.SamplePaths", tmp_path: Path
) -> None:
    order = order_in(tmp_path, sample.policy)

    async def work(session: Session) -> None:
        await session.open(str(sample.table), sample.policy)
        await settled(session)
        assert session.live.state == "verified", session.live.error
        before = listed(tmp_path)
        # neither the file nor the trial file of a check can be written
        await session.whole.call(limit_files, 4_000)
        with pytest.raises(ShoalError, match=FULL):
            await session.whole.call(write_release, order)
        assert listed(tmp_path) == before
        set_k(session, 6)
        await settled(session)
        assert session.live.state == "failed"
        assert re.search(FULL, session.live.error)
        assert "k: 6" in sample.policy.read_text(encoding="utf-8")  # the step is not lost
        # the release can be written, its report cannot
        await session.whole.call(limit_files, None)
        session.check()
        await settled(session)
        assert session.live.state == "verified", session.live.error
        written = await session.whole.call(write_release, order)
        size = Path(order.target).stat().st_size
        assert Path(str(order.report)).stat().st_size > size + 4_000
        for file in written.files:
            Path(file).unlink()
        await session.whole.call(limit_files, size + 2_000)
        with pytest.raises(ShoalError, match=FULL):
            await session.whole.call(write_release, order)
        assert listed(tmp_path) == before
        await session.whole.call(limit_files, None)
        assert (await session.whole.call(write_release, order)).verified

    in_session(tmp_path, work)


def test_a_worker_that_is_killed_during_a_check_is_reported_and_started_again(
    sample: "api.SamplePaths", tmp_path: Path
) -> None:
    async def work(session: Session) -> None:
        await session.open(str(sample.table), sample.policy)
        await settled(session)
        process = session.whole.process_id
        assert process is not None
        os.kill(process, signal.SIGSTOP)  # it cannot be done before it is killed
        set_k(session, 6)
        await asyncio.sleep(0.1)
        assert session.live.state == "checking"
        os.kill(process, signal.SIGKILL)
        await settled(session)
        assert session.live.state == "failed"
        assert "Nothing is lost" in session.live.error
        assert "k: 6" in sample.policy.read_text(encoding="utf-8")
        session.check()  # the button of the live panel
        await settled(session)
        assert session.live.state == "verified", session.live.error
        assert session.whole.process_id not in (None, process)

    in_session(tmp_path, work)


class Dropped:
    """A file from a browser that does not fit on the disk."""

    name = "visits.csv"

    async def save(self, path: Path) -> None:
        path.write_text("half of ", encoding="utf-8")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_half_of_a_dropped_file_is_not_left(tmp_path: Path) -> None:
    dropped: Any = Dropped()
    # in a thread of its own, since the browser's tests leave a loop running in theirs
    with ThreadPoolExecutor(1) as pool, pytest.raises(InputError, match="no space left"):
        pool.submit(lambda: asyncio.run(keep_copy(tmp_path, dropped))).result()
    assert list((tmp_path / COPIES).iterdir()) == []


def test_another_program_may_edit_the_policy_or_remove_it(
    sample: "api.SamplePaths", tmp_path: Path
) -> None:
    async def work(session: Session) -> None:
        await session.open(str(sample.table), sample.policy)
        watching = asyncio.ensure_future(session.watch())
        await settled(session)
        assert session.workspace is not None
        text = sample.policy.read_text(encoding="utf-8")
        sample.policy.write_text(text.replace("k: 5", "k: 9"), encoding="utf-8")
        await until(lambda: session.workspace is not None and session.workspace.position > 0)
        await settled(session)
        assert session.live.figures is not None
        assert session.live.figures.guarantees[0].asked == 9
        sample.policy.write_text(text.replace("k: 5", "k: none"), encoding="utf-8")  # a mistake
        await until(lambda: session.live.state == "failed")
        assert "policy.yaml:" in session.live.error
        sample.policy.unlink()
        session.undo()  # the step before is written again
        await settled(session)
        assert session.live.state == "verified", session.live.error
        assert "k: 9" in sample.policy.read_text(encoding="utf-8")
        # just before a step, which would be written over it
        sample.policy.write_text(text.replace("k: 5", "k: 7"), encoding="utf-8")
        session.edit("order", lambda policy: policy.update(order="kept"))
        assert [one.name for one in session.workspace.steps[-2:]] == [ELSEWHERE, "order"]
        assert "k: 7" in sample.policy.read_text(encoding="utf-8")
        assert "order: kept" in sample.policy.read_text(encoding="utf-8")
        sample.policy.write_text(text.replace("k: 5", "k: 6"), encoding="utf-8")
        session.undo()
        session.redo()
        assert session.workspace.text == text.replace("k: 5", "k: 6")
        watching.cancel()

    in_session(tmp_path, work)
