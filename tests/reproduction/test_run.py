"""Experiments are found, run and written down, or a mistake is told before any work."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.drawing import page as needs
from shoal.errors import InputError
from shoal.progress import ProgressEvent
from shoal.reproduction import classfly_plus
from shoal.reproduction import page as files
from shoal.reproduction.base import Figure, Findings
from shoal.reproduction.page import check_folder, write
from shoal.reproduction.run import experiment, names, reproduce
from tests.reproduction.fixed import FOUND
from tests.reproduction.tiny import made_tiny


def test_experiments_are_found_by_their_class() -> None:
    papers = ["classfly-plus", "flexible-partition", "l-clustering", "personalised"]
    assert names() == sorted([*papers, "further-questions"])
    assert [name for name in names() if experiment(name).is_paper] == papers
    for name in names():
        found = experiment(name)
        assert found.title
        assert found.source
        assert 0 < found.minutes < 120
        assert isinstance(found.uses_adult, bool)
        assert callable(found.run)


def test_an_unknown_one_is_told_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no experiment 'clasfly'.*Did you mean 'classfly-plus'"):
        reproduce("clasfly")


def test_what_is_no_time_comes_out_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    made_tiny(monkeypatch)
    for name in ("classfly-plus", "flexible-partition"):
        one, other = (_without_times(reproduce(name, quick=True).result) for _ in range(2))
        assert one == other
        assert one


def _without_times(result: Findings) -> list[Figure]:
    return [figure for figure in result.figures if not figure.name.startswith("time")]


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    made_tiny(monkeypatch)
    events: list[ProgressEvent] = []
    reproduce("classfly-plus", quick=True, progress=events.append)
    assert {event.step for event in events} == {"precision", "times"}
    assert all(0 <= event.share <= 1 for event in events)


def test_a_folder_with_files_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classfly_plus, "QUICK", None)  # any work would fail
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="has files in it already"):
        reproduce("classfly-plus", quick=True, folder=tmp_path)
    with pytest.raises(InputError, match="is a file"):
        reproduce("classfly-plus", quick=True, folder=tmp_path / "mine.txt")
    with pytest.raises(InputError, match="is not a folder"):
        reproduce("classfly-plus", quick=True, folder=tmp_path / "mine.txt" / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_with_force_only_its_own_files_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "claims.csv").write_text("old")
    check_folder(tmp_path, force=True)
    write(FOUND, tmp_path, force=True)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert (tmp_path / "claims.csv").read_text(encoding="utf-8").startswith("claim,verdict,reason")
    assert len(list(tmp_path.iterdir())) == 1 + 3 + 2 * len(FOUND.result.figures)


def test_nothing_is_left_of_a_run_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(files, "_write_csv", fail)
    with pytest.raises(ZeroDivisionError):
        write(FOUND, tmp_path / "new" / "folder", force=False)
    assert not list(tmp_path.iterdir())
    (tmp_path / "index.html").write_text("old")
    with pytest.raises(ZeroDivisionError):
        write(FOUND, tmp_path, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
    assert (tmp_path / "index.html").read_text() == "old"


@pytest.mark.skipif(sys.platform == "win32", reason="rights are others there")
def test_a_folder_that_may_not_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files.os, "access", lambda *_: False)
    with pytest.raises(InputError, match="no right to write"):
        check_folder(tmp_path / "new", force=False)


def test_without_what_draws_it_says_so_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(needs, "PACKAGES", ("a_package_that_is_not_there",))
    with pytest.raises(InputError, match="pip install"):
        reproduce("classfly-plus", folder=tmp_path / "new")


def test_the_counts_add_up() -> None:
    assert FOUND.verdicts == {"holds": 1, "does not hold": 1, "depends": 1, "cannot tell": 1}
    none = replace(FOUND, result=Findings((), ()))
    assert set(none.verdicts.values()) == {0}
