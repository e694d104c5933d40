"""A file is whole under its name, or it is not there, whatever ends the work."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.io.commit import check_target, replacing


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_committed(tmp_path: Path) -> None:
    target = tmp_path / "t.csv.gz"
    with replacing(target, force=False) as place:
        assert place.path.parent == tmp_path
        assert place.path.name.endswith(".shoal-tmp.csv.gz")
        assert place.path.name.startswith(f".t.csv.gz.{os.getpid()}.")
        place.path.write_text("whole")
        assert not target.exists()
        place.commit()
        assert target.read_text() == "whole"
    assert names(tmp_path) == ["t.csv.gz"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("force", [False, True])
def test_an_error_leaves_what_was_there(
    tmp_path: Path, error: type[BaseException], force: bool
) -> None:
    target = tmp_path / "t.csv"
    if force:
        target.write_text("before")

    def work() -> None:
        with replacing(target, force) as place:
            place.path.write_text("half")
            raise error

    with pytest.raises(error):
        work()
    assert names(tmp_path) == (["t.csv"] if force else [])
    assert not force or target.read_text() == "before"


def test_no_commit_no_file(tmp_path: Path) -> None:
    with replacing(tmp_path / "t.csv", force=False) as place:
        place.path.write_text("unwanted")
    assert names(tmp_path) == []


def test_an_error_after_commit_keeps_the_file(tmp_path: Path) -> None:
    def work() -> None:
        with replacing(tmp_path / "t.csv", force=False) as place:
            place.path.write_text("whole")
            place.commit()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert names(tmp_path) == ["t.csv"]


def test_an_existing_file_needs_force(tmp_path: Path) -> None:
    target = tmp_path / "t.csv"
    target.write_text("before")
    with pytest.raises(InputError, match=r"exists already. Pass --force"), replacing(target, False):
        pass
    with replacing(target, force=True) as place:
        place.path.write_text("after")
        place.commit()
    assert target.read_text() == "after"
    assert names(tmp_path) == ["t.csv"]


def test_a_file_that_came_meanwhile_stays(tmp_path: Path) -> None:
    target = tmp_path / "t.csv"
    with replacing(target, force=False) as place:
        place.path.write_text("ours")
        target.write_text("theirs")
        with pytest.raises(InputError, match="exists already"):
            place.commit()
    assert target.read_text() == "theirs"
    assert names(tmp_path) == ["t.csv"]


def test_a_disk_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Path) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", refuse)
    test_committed(tmp_path)


def test_a_name_too_long(tmp_path: Path) -> None:
    target = tmp_path / ("x" * 250)
    with pytest.raises(InputError, match="cannot be written: File name too long"):
        replacing(target, force=False).__enter__()


def test_targets_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "in.csv").write_text("a\n")
    (tmp_path / "same.csv").hardlink_to(tmp_path / "in.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "in.csv")
    source = tmp_path / "in.csv"
    for target, message in [
        (tmp_path / "no" / "t.csv", r"no does not exist. Create it first"),
        (tmp_path / "file" / "t.csv", "file is not a folder"),
        (tmp_path, "is a directory. Name a file"),
        (source, "is the input itself. Write to another file"),
        (tmp_path / "same.csv", "is the input itself"),
        (tmp_path / "link.csv", "is the input itself"),
    ]:
        with pytest.raises(InputError, match=message):
            check_target(target, force=True, source=source)
    check_target(tmp_path / "new.csv", force=False, source=source)
    assert source.read_text() == "a\n"


def test_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    link = tmp_path / "t.csv"
    link.symlink_to(tmp_path / "far" / "real.csv")
    with replacing(link, force=True) as place:
        place.path.write_text("whole")
        place.commit()
    assert link.is_symlink()
    assert (tmp_path / "far" / "real.csv").read_text() == "whole"
    assert names(tmp_path / "far") == ["real.csv"]


def test_handlers_are_put_back_and_those_of_others_left_alone(tmp_path: Path) -> None:
    def theirs(*_: object) -> None:
        pass

    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    with replacing(tmp_path / "t.csv", force=False):
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    before = signal.signal(signal.SIGTERM, theirs)
    try:
        with replacing(tmp_path / "t.csv", force=False):
            assert signal.getsignal(signal.SIGTERM) is theirs
    finally:
        signal.signal(signal.SIGTERM, before)


def test_in_another_thread(tmp_path: Path) -> None:
    def work() -> None:
        with replacing(tmp_path / "t.csv", force=False) as place:
            place.path.write_text("whole")
            place.commit()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert names(tmp_path) == ["t.csv"]


WRITER = """
import signal, sys, time
from pathlib import Path
import pyarrow as pa
from shoal.engines.files import LocalFiles
from shoal.io.commit import replacing
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs these tests may ignore these
signal.signal(signal.SIGINT, signal.default_int_handler)
engine = LocalFiles()
table = pa.table({"a": pa.array(["x" * 100]).take(pa.array([0] * 200_000))})
with replacing(Path(sys.argv[1]), force=True) as place:
    engine.write(table, place.path)
    print("writing", flush=True)
    for _ in range(1000):
        {work}
    place.commit()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("work", ["time.sleep(0.1)", "engine.write(table, place.path)"])
def test_killed_in_the_middle(tmp_path: Path, number: signal.Signals, work: str) -> None:
    """Both while Python works and while the database does."""
    target = tmp_path / "t.csv"
    target.write_text("before")
    with subprocess.Popen(
        [sys.executable, "-c", WRITER.replace("{work}", work), target],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as child:
        assert child.stdout
        assert child.stdout.readline() == "writing\n"
        assert len(names(tmp_path)) == 2
        child.send_signal(number)
        try:
            assert child.wait(timeout=60) != 0
        finally:
            child.kill()
    assert names(tmp_path) == ["t.csv"]
    assert target.read_text() == "before"
