"""Two runs to one target never share a name, and only what is surely nobody's is removed."""

import os
import threading
from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.io import commit
from shoal.io.commit import replacing, replacing_folder

GONE = 2**22 + 1  # above any process number


def test_two_runs_in_one_process_commit_what_each_wrote(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    with replacing(target, force=True) as first:
        first.path.write_text("k=50")
        with replacing(target, force=True) as second:
            second.path.write_text("k=2")
            assert first.path.read_text() == "k=50"
        assert first.path.read_text() == "k=50"
        first.commit()
    assert target.read_text() == "k=50"
    assert list(tmp_path.iterdir()) == [target]


def test_two_folders_in_one_process(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    with replacing_folder(target, force=True) as first:
        first.path.mkdir()
        with replacing_folder(target, force=True) as second:
            assert first.path.exists()
            second.path.mkdir()
            (second.path / "second").touch()
            second.commit()
        (first.path / "first").touch()
        first.commit()
    assert [part.name for part in target.iterdir()] == ["first"]
    assert list(tmp_path.iterdir()) == [target]


def test_many_threads(tmp_path: Path) -> None:
    target, wrong = tmp_path / "out.csv", []
    together = threading.Barrier(8)

    def run(text: str) -> None:
        together.wait()
        for _ in range(20):
            with replacing(target, force=True) as place:
                place.path.write_text(text)
                if place.path.read_text() != text:
                    wrong.append(text)
                place.commit()

    threads = [threading.Thread(target=run, args=(str(i),)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_is_made_by_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit.secrets, "token_hex", lambda _: "0a")
    with replacing(tmp_path / "t.csv", force=False) as place:
        with pytest.raises(InputError, match="File exists"):
            replacing(tmp_path / "t.csv", force=False).__enter__()
        assert place.path.exists()


def left(target: Path, pid: int, where: str | None = None) -> list[Path]:
    """The names of a run that is over: the new one and the old one."""
    with commit.temporary_names(target) as names:
        mine = f".{os.getpid()}.{commit._host()}."
        theirs = f".{pid}.{where or commit._host()}."
        return [name.with_name(name.name.replace(mine, theirs)) for name in names]


@pytest.mark.parametrize("make", [replacing, replacing_folder])
def test_only_what_dead_processes_of_this_host_left_is_removed(tmp_path: Path, make: type) -> None:
    target = tmp_path / "t.csv"
    target.touch()
    others = left(tmp_path / "u.csv", GONE)  # of another run into the same folder
    stale = [*left(target, GONE), *left(target, os.getpid()), *others]
    stays = [
        *left(target, os.getppid()),
        *left(target, GONE, "another0"),
        *left(target, os.getpid(), "another0"),
    ]
    for path in stale + stays:
        path.touch()
    with make(target, force=True):
        pass
    assert sorted(tmp_path.iterdir()) == sorted([target, *stays])


def test_a_folder_that_a_killed_run_had_put_aside_is_back(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    for path, text in zip(left(target, GONE), ("new", "old"), strict=True):
        path.mkdir()
        (path / "part").write_text(text)
    with replacing_folder(target, force=True):
        assert (target / "part").read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_containers_of_one_host_name_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = set()
    for space in ("pid:[1]", "pid:[2]"):
        monkeypatch.setattr(Path, "readlink", lambda _, space=space: Path(space))
        hosts.add(commit._host.__wrapped__())
    assert len(hosts) == 2
