"""Whatever ends a commit at whatever step, the old release is there after it, or the new one."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from shoal.io.commit import replacing_all, replacing_folder
from tests.io.test_folder_and_files import held, make, write

OLD = ["out.parquet/part=old", "report.json=old"]
NEW = ["out.parquet/part=new", "report.json=new"]
MOVES = [(Path, "rename"), (Path, "replace"), (Path, "unlink"), (os, "link"), (os, "fsync")]


@pytest.fixture
def targets(tmp_path: Path) -> list[Path]:
    found = [tmp_path / "out.parquet", tmp_path / "report.json"]
    make(found, "old")
    return found


class Broken:
    """Raises before or after certain calls that change the disk."""

    def __init__(self, patch: pytest.MonkeyPatch, wanted: Callable[[int, str, Any], bool]) -> None:
        self.count, self.wanted = 0, wanted
        self.late, self.error = False, KeyboardInterrupt
        for owner, name in MOVES:
            patch.setattr(owner, name, self._broken(name, getattr(owner, name)))

    def _broken(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **keys: Any) -> Any:
            self.count += 1
            hit = self.wanted(self.count, name, args)
            if hit and not self.late:
                raise self.error
            answer = real(*args, **keys)
            if hit:
                raise self.error
            return answer

        return call


def commit(targets: list[Path], patch: pytest.MonkeyPatch, broken: dict[str, Any]) -> int:
    """Commit with calls that fail; how many there were."""
    with replacing_all(targets, force=True, folder=True) as places:
        write(places, "new")
        with patch.context() as inner:
            calls = Broken(inner, broken.pop("wanted"))
            vars(calls).update(broken)
            places.commit()
    return calls.count


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, OSError])
@pytest.mark.parametrize("late", [False, True])
def test_an_interrupt_at_every_step(
    targets: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    late: bool,
    error: type[BaseException],
) -> None:
    steps = commit(targets, monkeypatch, {"wanted": lambda *_: False})
    assert steps > 6
    for step in range(1, steps + 1):
        make(targets, "old", force=True)
        how = {"wanted": lambda n, *_, step=step: n == step, "late": late, "error": error}
        with suppress(error):
            commit(targets, monkeypatch, how)
        there = [each for each in held(tmp_path) if not each.startswith(".")]
        assert there in (OLD, NEW), step
        hidden = [each for each in held(tmp_path) if each.startswith(".")]
        # once all are there, the old ones may still be: the next run removes them
        assert there == NEW or not hidden, step


def test_an_interrupt_just_after_the_old_one_was_put_aside(
    targets: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def aside(_n: int, name: str, args: Any) -> bool:
        return name == "rename" and args[0] == targets[0]

    with pytest.raises(KeyboardInterrupt):
        commit(targets, monkeypatch, {"wanted": aside, "late": True})
    assert held(tmp_path) == OLD


@pytest.mark.parametrize("which", [0, 1])
def test_what_was_to_be_committed_has_vanished(
    targets: list[Path], tmp_path: Path, which: int
) -> None:
    with replacing_all(targets, force=True, folder=True) as places:
        write(places, "new")
        places.paths[which].rename(tmp_path / "lost")
        with pytest.raises(FileNotFoundError):
            places.commit()
    assert [each for each in held(tmp_path) if not each.startswith("lost")] == OLD


def test_a_file_of_others_stays_when_ours_has_vanished(tmp_path: Path) -> None:
    target = tmp_path / "t.csv"
    with replacing_all([target], force=True) as places:
        places.paths[0].unlink()
        target.write_text("theirs")
        with pytest.raises(FileNotFoundError):
            places.commit()
    assert target.read_text() == "theirs"


def test_one_undo_that_fails_stops_no_other(
    targets: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The move of a third fails, and so does bringing back the second: the folder is back."""
    third = tmp_path / "z.json"

    def wanted(_n: int, name: str, args: Any) -> bool:
        old = ".old." in args[0].name if name == "replace" else False
        return name == "replace" and (args[1] == third or old)

    with replacing_all([*targets, third], force=True, folder=True) as places:
        for path in places.paths[1:]:
            path.write_text("new")
        places.paths[0].mkdir()
        (places.paths[0] / "part").write_text("new")
        with monkeypatch.context() as inner:
            Broken(inner, wanted).error = PermissionError
            with pytest.raises(PermissionError):
                places.commit()
    found = held(tmp_path)
    assert "out.parquet/part=old" in found
    assert not third.exists()
    # what could not be brought back is not thrown away
    assert [each for each in found if each.startswith(".report.json") and each.endswith("=old")]


def test_what_could_not_be_brought_back_is_kept_for_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.parquet"
    target.mkdir()
    (target / "part").write_text("old")

    def wanted(_n: int, name: str, args: Any) -> bool:
        return name == "rename" and args[1] == target  # neither the new nor the old one

    with replacing_folder(target, force=True) as folder:
        folder.path.mkdir()
        with monkeypatch.context() as inner:
            Broken(inner, wanted).error = PermissionError
            with pytest.raises(PermissionError):
                folder.commit()
    assert not target.exists()
    with replacing_folder(target, force=True):
        assert held(tmp_path) == ["out.parquet/part=old"]
