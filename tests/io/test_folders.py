"""A folder is there whole or not at all."""

from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.io.commit import check_folder, replacing_folder


def fill(folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "part").write_text(text)


def test_it_appears_on_commit_alone(tmp_path: Path) -> None:
    target = tmp_path / "out.parquet"
    with replacing_folder(target, force=False) as folder:
        assert folder.path.suffix == ".parquet"
        assert folder.path.name.startswith(".")
        fill(folder.path, "new")
        assert not target.exists()
        folder.commit()
    assert (target / "part").read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_nothing_is_left_of_a_failure(tmp_path: Path) -> None:
    def fail() -> None:
        with replacing_folder(tmp_path / "out.csv", force=False) as folder:
            fill(folder.path, "new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("old", ["folder", "file"])
def test_force_replaces_a_whole_folder(tmp_path: Path, old: str) -> None:
    target = tmp_path / "out.csv.gz"
    if old == "file":
        target.write_text("old")
    else:
        fill(target, "old")
        (target / "more").touch()
    with pytest.raises(InputError, match="exists already"), replacing_folder(target, force=False):
        pass
    with replacing_folder(target, force=True) as folder:
        fill(folder.path, "new")
        folder.commit()
    assert [part.name for part in target.iterdir()] == ["part"]
    assert list(tmp_path.iterdir()) == [target]


def test_the_old_one_comes_back_if_the_move_fails(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    fill(target, "old")

    def commit_nothing() -> None:
        with replacing_folder(target, force=True) as folder:
            fill(folder.path, "new")
            folder.path.rename(tmp_path / "elsewhere")
            folder.commit()

    with pytest.raises(FileNotFoundError):
        commit_nothing()
    assert (target / "part").read_text() == "old"


def test_one_that_came_meanwhile_stays(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    with replacing_folder(target, force=False) as folder:
        fill(folder.path, "ours")
        fill(target, "theirs")
        with pytest.raises(InputError, match="exists already"):
            folder.commit()
    assert (target / "part").read_text() == "theirs"


def test_the_input_is_never_replaced(tmp_path: Path) -> None:
    source = tmp_path / "in"
    fill(source, "people")
    for sources in ([source], [source / "part"]):
        with pytest.raises(InputError, match="is the input itself"):
            check_folder(source, True, sources)
    with pytest.raises(InputError, match="does not exist"):
        check_folder(tmp_path / "no" / "out.csv", False)
