"""Which files make a table."""

from pathlib import Path

import pytest

from shoal.engines.sources import files_of
from shoal.errors import InputError


def make(folder: Path, *names: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text("a\n1\n")
    return folder


def test_files_of_folders_by_name_without_marks(tmp_path: Path) -> None:
    folder = make(tmp_path / "t", "b.csv", "a.csv.gz", "_SUCCESS", ".b.csv.crc")
    (folder / "empty.csv").touch()
    alone = make(tmp_path, "z.tsv") / "z.tsv"
    found, kind = files_of([folder, alone])
    assert [file.name for file in found] == ["a.csv.gz", "b.csv", "z.tsv"]
    assert kind.name == "csv"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a.csv", "b.parquet"], "must have one format; found csv, parquet"),
        (["a.csv", "a.csv.bak"], r"not tables by their names \(a.csv.bak\)"),
        (["_SUCCESS"], "contains no file with a table"),
    ],
)
def test_ambiguous_folders(tmp_path: Path, names: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        files_of([make(tmp_path / "t", *names)])


def test_folders_in_folders_and_missing_files(tmp_path: Path) -> None:
    make(make(tmp_path / "t", "a.csv") / "year=2020", "b.csv")
    with pytest.raises(InputError, match=r"contains folders \(year=2020\)"):
        files_of([tmp_path / "t"])
    with pytest.raises(InputError, match="does not exist, neither as a file nor as a folder"):
        files_of([tmp_path / "none"])
    with pytest.raises(InputError, match="does not exist"):
        files_of([tmp_path / "no.csv"])
    with pytest.raises(InputError, match="No file was named"):
        files_of([])
