"""A folder and files that belong together: all of them appear, or none."""

from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.io.commit import Replacements, replacing_all


def write(places: Replacements, text: str) -> None:
    folder, file = places.paths
    folder.mkdir()
    (folder / "part").write_text(text)
    file.write_text(text)


def held(path: Path) -> list[str]:
    """Everything below a folder, hidden things too, with what it holds."""
    return sorted(f"{f.relative_to(path)}={f.read_text()}" for f in path.rglob("*") if f.is_file())


@pytest.fixture
def targets(tmp_path: Path) -> list[Path]:
    return [tmp_path / "out.parquet", tmp_path / "report.json"]


def make(targets: list[Path], text: str, force: bool = False) -> None:
    with replacing_all(targets, force, folder=True) as places:
        write(places, text)
        places.commit()


def test_both_appear_and_are_replaced(targets: list[Path], tmp_path: Path) -> None:
    make(targets, "old")
    make(targets, "new", force=True)
    assert held(tmp_path) == ["out.parquet/part=new", "report.json=new"]


def test_nothing_without_a_commit(targets: list[Path], tmp_path: Path) -> None:
    with replacing_all(targets, force=False, folder=True) as places:
        write(places, "new")
    assert held(tmp_path) == []


@pytest.mark.parametrize("before", [False, True])
def test_if_the_second_cannot_be_moved_the_first_goes_back(
    targets: list[Path], tmp_path: Path, before: bool
) -> None:
    if before:
        make(targets, "old")

    with replacing_all(targets, force=True, folder=True) as places:
        write(places, "new")
        places.paths[1].unlink()
        with pytest.raises(FileNotFoundError):
            places.commit()
    assert held(tmp_path) == (["out.parquet/part=old", "report.json=old"] if before else [])


@pytest.mark.parametrize("there", ["out.parquet", "report.json"])
def test_what_is_there_stays_without_force(targets: list[Path], tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        make(targets, "new")
    assert held(tmp_path) == [f"{there}=mine"]


def test_a_file_inside_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out.parquet").mkdir()
    inside = tmp_path / "out.parquet" / "report.json"
    with pytest.raises(InputError, match="which is replaced"):
        make([tmp_path / "out.parquet", inside], "new", force=True)
