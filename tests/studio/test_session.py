"""The session without a browser: checks, previews, cancelling, and workers that die."""

import asyncio
import os
import pickle
import re
import signal
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from shoal import api
from shoal.errors import InputError
from shoal.kernels.jit import on_compile
from shoal.progress import ProgressCallback, ProgressEvent
from shoal.studio import workers
from shoal.studio.constraints import constraints_in, figure_step, with_figure
from shoal.studio.figures import Figures
from shoal.studio.local_files import files_in, named_copy
from shoal.studio.remedies import NAMELESS
from shoal.studio.session import Session
from shoal.studio.tasks import PolicyText, Written, page_of_rows, whole_figures
from shoal.studio.worker import Tables
from shoal.studio.workers import WorkerFailedError

PATIENCE = 180.0
"""Seconds that a check may take, on a busy machine and where loops are compiled: no more is a hang."""


def wait_for_ever(tables: Tables, report: ProgressCallback) -> None:
    """A task that never ends by itself."""
    del tables
    for i in range(10**6):
        time.sleep(0.01)
        report(ProgressEvent("group", i / 10**6))


def answer(tables: Tables, report: ProgressCallback, value: str) -> str:
    """A task that ends at once."""
    del report
    return f"{value} of {tables.place is not None}"


def sleep_for_long(tables: Tables, report: ProgressCallback) -> None:
    """A task that does not report, and so does not notice that it is cancelled."""
    del tables, report
    time.sleep(600)


def compile_for_long(tables: Tables, report: ProgressCallback) -> None:
    """A task in which a loop is compiled for longer than a cancelled task may take."""
    del tables, report
    for announce in on_compile:
        announce()
    time.sleep(1.0)


def fail(tables: Tables, report: ProgressCallback) -> None:
    """A task with a bug, whose text has a value of the table."""
    del tables, report
    raise KeyError("secret value")


def in_session(folder: Path, work: Callable[[Session], Awaitable[None]]) -> None:
    async def run() -> None:
        session = Session(folder)
        try:
            await asyncio.wait_for(work(session), 600)
        finally:
            session.close()

    # a browser of other tests has an event loop in this thread
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(run())).result()


async def settled(session: Session) -> None:
    began = time.monotonic()
    while session.live.state not in ("verified", "failed"):
        assert time.monotonic() - began < PATIENCE, f"{session.live.state}, {session.live.step}"
        await asyncio.sleep(0.01)


def set_k(session: Session, figure: int, *likely: int) -> None:
    assert session.workspace is not None
    one = constraints_in(session.workspace.text)[0]
    then = tuple(with_figure(one, later) for later in likely)
    session.edit(figure_step(one, figure), with_figure(one, figure), then)


async def idle(session: Session) -> None:
    while session.whole.is_busy:
        await asyncio.sleep(0.01)


@pytest.fixture
def sample(tmp_path: Path) -> "api.SamplePaths":
    found = api.write_sample(tmp_path, rows=300)
    text = found.policy.read_text(encoding="utf-8")
    text = re.sub(r"^method: [a-z-]+", "method: least-loss-partition", text, flags=re.MULTILINE)
    found.policy.write_text(text, encoding="utf-8")
    return found


def test_a_worker_that_dies_is_started_again(sample: "api.SamplePaths", tmp_path: Path) -> None:
    async def work(session: Session) -> None:
        await session.open(str(sample.table), sample.policy)
        await settled(session)
        assert session.live.state == "verified"
        first = session.whole.process_id
        assert first is not None
        long = asyncio.ensure_future(session.whole.call(wait_for_ever))
        await asyncio.sleep(0.2)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(WorkerFailedError, match="Nothing is lost"):
            await long
        set_k(session, 7)
        await settled(session)
        assert session.live.state == "verified", session.live.error
        assert session.live.figures is not None
        assert session.live.figures.guarantees[0].asked == 7
        assert session.whole.process_id not in (None, first)

    in_session(tmp_path, work)


def test_a_call_is_cancelled_and_the_table_stays_encoded(
    sample: "api.SamplePaths", tmp_path: Path
) -> None:
    async def work(session: Session) -> None:
        await session.open(str(sample.table), sample.policy)
        await settled(session)
        process = session.whole.process_id
        long = asyncio.ensure_future(session.whole.call(wait_for_ever))
        await asyncio.sleep(0.2)
        assert await session.whole.call(answer, "quick", at_once=True) == "quick of True"
        long.cancel()
        for figure in (6, 7, 8):  # the last one wins
            set_k(session, figure)
        await settled(session)
        assert session.live.figures is not None
        assert session.live.figures.guarantees[0].asked == 8
        assert session.live.figures.encodings == 1
        assert session.whole.process_id == process
        session.check()
        session.cancel()
        assert session.live.state == "failed"
        assert "You stopped" in session.live.error

    in_session(tmp_path, work)


def test_what_was_looked_at_ahead_or_undone_is_not_computed_again(
    sample: "api.SamplePaths", tmp_path: Path
) -> None:
    async def work(session: Session) -> None:
        seen: list[str] = []

        def note() -> None:
            if session.live.step is not None:
                seen.append(session.live.step.step)

        async def steps_of(change: Callable[[], None]) -> set[str]:
            """The steps of the check that a change brings about."""
            await idle(session)
            seen.clear()
            change()
            assert session.live.state == "checking"  # grey, however soon it is green again
            await settled(session)
            assert session.live.state == "verified", session.live.error
            return set(seen) - {"start"}

        await session.open(str(sample.table), sample.policy)
        await settled(session)
        session.step_changed.subscribe(note)
        assert "group" in await steps_of(lambda: set_k(session, 6, 7))
        assert await steps_of(lambda: set_k(session, 7)) == set()
        assert session.live.figures is not None
        ahead = session.live.figures
        assert ahead.guarantees[0].asked == 7
        assert await steps_of(session.undo) == set()
        assert await steps_of(session.redo) == set()
        assert {"group", "write", "verify"} <= await steps_of(lambda: session.check(again=True))
        assert replace(session.live.figures, seconds=0.0) == replace(ahead, seconds=0.0)
        # where the thumb rests, the whole table is checked before it is let go
        assert session.workspace is not None
        one = constraints_in(session.workspace.text)[0]
        session.preview(with_figure(one, 9))
        assert session.live.trying  # at once, not only when the figures are there
        assert not session.may_be_written
        while session.live.preview is None:
            await asyncio.sleep(0.01)
        assert await steps_of(lambda: set_k(session, 9)) == set()
        # a wrong guess is given up, and the right one is computed
        await idle(session)
        set_k(session, 10, 11, 12, 13)
        await settled(session)
        set_k(session, 3)
        await settled(session)
        assert session.live.figures.guarantees[0].asked == 3

    in_session(tmp_path, work)


def test_a_table_that_cannot_be_opened_leaves_the_one_that_is_open(
    sample: "api.SamplePaths", tmp_path: Path
) -> None:
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"no table")

    async def work(session: Session) -> None:
        await session.open(str(sample.table), sample.policy)
        await settled(session)
        with pytest.raises(InputError, match="broken"):
            await session.open(str(broken))
        assert session.place == str(sample.table)
        assert session.opened is not None
        await settled(session)
        assert session.live.state == "verified", session.live.error
        rows = await session.whole.call(page_of_rows, 0, 2, at_once=True)
        assert len(rows) == 2
        assert set(rows[0]) == set(session.opened.columns)
        set_k(session, 6)
        await settled(session)
        assert session.live.state == "verified", session.live.error

    in_session(tmp_path, work)


def test_workers_get_the_policy_that_its_text_says(
    sample: "api.SamplePaths", tmp_path: Path
) -> None:
    async def work(session: Session) -> None:
        await session.open(str(sample.table), sample.policy)
        set_k(session, 6)
        sent = pickle.loads(pickle.dumps(session.policy_text()))
        assert sent.known is not None
        assert sent.read() == replace(sent, known=None).read()
        assert session.policy_text("another").known is None
        await settled(session)

    in_session(tmp_path, work)


def test_a_file_of_groups_that_changed_is_read_again(tmp_path: Path) -> None:
    """What is known of a policy holds only as long as the files that it names are the same."""
    (tmp_path / "towns.csv").write_text("Ath,west\nMons,west\nHuy,east\n")
    (tmp_path / "table.csv").write_text("town\n" + "Ath\nMons\nHuy\nHuy\n" * 6)
    text = "columns: {town: {role: quasi, hierarchy: towns.csv}}\nconstraints: [{k: 8}]\nseed: 0\n"
    tables = Tables(place=str(tmp_path / "table.csv"))
    policy = PolicyText(text, "policy.yaml", str(tmp_path))

    def figures() -> Figures:
        return whole_figures(tables, lambda _: None, policy)

    first = figures()
    assert figures() is first
    (tmp_path / "towns.csv").write_text("Ath,west\nMons,east\nHuy,east\n")
    assert figures().columns != first.columns


def test_one_that_does_not_notice_is_ended_and_the_next_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "PATIENCE", 0.3)

    async def work(session: Session) -> None:
        heard: list[str] = []
        compiling = asyncio.ensure_future(
            session.whole.call(compile_for_long, progress=lambda event: heard.append(event.step))
        )
        while "compile" not in heard:
            await asyncio.sleep(0.01)
        first = session.whole.process_id
        compiling.cancel()
        # what compiles is not ended, however long that takes
        assert await session.whole.call(answer, "next") == "next of False"
        assert session.whole.process_id == first
        deaf = asyncio.ensure_future(session.whole.call(sleep_for_long))
        await asyncio.sleep(0.1)
        behind = asyncio.ensure_future(session.whole.call(answer, "behind"))
        await asyncio.sleep(0.1)
        deaf.cancel()
        assert await behind == "behind of False"
        assert session.whole.process_id != first

    in_session(tmp_path, work)


def test_a_bug_in_a_task_tells_no_value(tmp_path: Path) -> None:
    async def work(session: Session) -> None:
        with pytest.raises(WorkerFailedError) as raised:
            await session.whole.call(fail)
        assert "KeyError" in str(raised.value)
        assert "secret" not in str(raised.value)

    in_session(tmp_path, work)


def test_the_policy_lies_beside_its_table(tmp_path: Path) -> None:
    folder = tmp_path / "a.folder"
    folder.mkdir()
    (folder / "visits.csv.gz").write_text("")
    place = str(folder / "visits.csv.gz")
    assert api.policy_beside(place) == folder / "visits.policy.yaml"
    address = "postgresql://host.name/d?table=t"
    assert api.policy_beside(address, tmp_path) == tmp_path / "policy.yaml"


def test_every_sheet_of_a_workbook_has_its_policy(tmp_path: Path) -> None:
    book = tmp_path / "book.xlsx"
    with pd.ExcelWriter(book) as writer:
        for name in ("people", "my notes"):
            frame = pd.DataFrame({"age": range(40), "town": ["Ath", "Huy"] * 20})
            frame.to_excel(writer, sheet_name=name, index=False)

    async def work(session: Session) -> None:
        (tmp_path / "policy.yaml").write_text("another table's")
        await session.open(f"{book}#my notes")
        assert session.table_name == "book.xlsx#my notes"
        assert session.workspace is not None
        assert session.workspace.policy_file == tmp_path / "book-my_notes.policy.yaml"
        assert "age" in session.workspace.text

    in_session(tmp_path, work)


def test_what_was_written_is_known_after_a_restart(
    sample: "api.SamplePaths", tmp_path: Path
) -> None:
    release, outside = tmp_path / "release.csv", tmp_path.parent / "outside.csv"
    written = Written((str(release),), (), 300, True, (), (), ("0" * 64,))

    async def write(session: Session) -> None:
        await session.open(str(sample.table), sample.policy)
        assert session.written_before is None
        assert session.written_file("release.csv") is None
        session.keep_written(written, session.policy_text().text)
        assert session.written_file("release.csv") == release

    async def look(session: Session) -> None:
        await session.open(str(sample.table), sample.policy)
        before = session.written_before
        assert before is not None
        assert before.written == written
        assert before.is_of_this_policy
        assert session.written_file("release.csv") is None  # until it is known to be the same
        set_k(session, 6)
        assert session.written_before is not None
        assert not session.written_before.is_of_this_policy
        session.keep_written(replace(written, files=(str(outside),)), "")
        assert session.written_before is None  # no file outside the folder of the policy
        assert session.workspace is not None
        for broken in ({}, {"when": "", "policy": ""}, {"when": "", "policy": "", "files": 1}):
            session.workspace.keep_written(broken)
            assert session.written_before is None

    in_session(tmp_path, write)
    in_session(tmp_path, look)


def test_no_file_outside_the_folder(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "outside.csv").write_text("a\n1\n")
    (inside / "table.csv").write_text("a\n1\n")
    (inside / "link.csv").symlink_to(tmp_path / "outside.csv")
    session = Session(inside)
    assert session.file_in_folder("table.csv") == inside.resolve() / "table.csv"
    for name in ("../outside.csv", str(tmp_path / "outside.csv"), "link.csv", "none.csv", "."):
        with pytest.raises(InputError, match="shoal studio TABLE"):
            session.file_in_folder(name)
    assert session.written_file("table.csv") is None
    assert files_in(inside) == ["table.csv"]  # a link is not even offered


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'"","age"\r\n', b'row,"age"\r\n'),
        (b",age\n", b"row,age\n"),
        (b"\xef\xbb\xbf;age\n", b"\xef\xbb\xbfrow;age\n"),
        (b'" "\tage\n', b"row\tage\n"),
    ],
)
def test_a_first_column_without_a_name_gets_one_in_a_copy(
    tmp_path: Path, head: bytes, expected: bytes
) -> None:
    separator = next(one for one in b",;\t" if one in head)
    end = head[head.index(b"age") :].strip(b'age"')
    lines = b"".join(b"%d%c%d" % (i, separator, 20 + i) + end for i in range(3))
    table = tmp_path / "from-r.csv"
    table.write_bytes(head + lines)
    with pytest.raises(InputError) as refused:
        api.prepare(table).table()
    assert NAMELESS.search(str(refused.value))
    copy = named_copy(tmp_path, table)
    dropped = copy.with_name("dropped.csv")
    dropped.write_bytes(head + lines)
    assert named_copy(tmp_path, dropped) == dropped
    assert copy.read_bytes() == dropped.read_bytes() == expected + lines
    assert oct(copy.stat().st_mode & 0o777) == "0o600"
    assert api.prepare(copy).table().column_names == ["row", "age"]
    assert table.read_bytes() == head + lines  # the user's own file stays as it is


def test_a_name_that_another_column_has_is_not_given_twice(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(",Row\n1,2\n")
    first, other = named_copy(tmp_path, table).read_text().splitlines()[0].split(",")
    assert first.startswith("row_")
    assert other == "Row"
    table.write_text("a,,b\n1,2,3\n")
    with pytest.raises(InputError, match="no name"):
        named_copy(tmp_path, table)
    assert len(list((tmp_path / "shoal-studio").iterdir())) == 1


def test_the_key_of_a_release_is_no_table(tmp_path: Path) -> None:
    for name in (
        "a-release.csv",
        "a-release-key.csv",
        "b.parquet",
        "b-key.parquet",
        "house-key.csv",
    ):
        (tmp_path / name).write_text("")
    assert files_in(tmp_path) == ["a-release.csv", "b.parquet", "house-key.csv"]
