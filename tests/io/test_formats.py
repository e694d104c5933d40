"""The end of a file's name says its format, and a file must be there to be read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.engines.formats.base import format_of
from shoal.errors import InputError
from shoal.io.paths import check_readable, ending_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.csv", "csv"),
        ("a.b.TSV", "csv"),
        ("a.txt.gz", "csv"),
        ("a.Parquet", "parquet"),
        ("a.pq", "parquet"),
        ("a.feather", "arrow"),
        ("a.ipc", "arrow"),
        ("a.arrow", "arrow"),
    ],
)
def test_format_by_name(name: str, kind: str) -> None:
    assert format_of(Path(name)).name == kind
    assert Path(name).name.lower().endswith(ending_of(Path(name)))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "a.docx",
            r"the extension '.docx' is unknown, so the format cannot be decided. Allowed: .csv, .tsv",
        ),
        ("a.parqet", "Did you mean '.parquet'"),
        ("a", "has no extension"),
        ("a.gz", "the extension '.gz' is unknown"),
        ("a.parquet.gz", "the extension '.parquet.gz' is unknown"),
    ],
)
def test_unknown_endings(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        format_of(Path(name))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text("a\n1\n")
    check_readable(tmp_path / "patients.csv")
    (tmp_path / "empty.csv").touch()
    os.mkfifo(tmp_path / "pipe.csv")
    for path, message in [
        (tmp_path / "patient.csv", "does not exist. Did you mean 'patients.csv'"),
        (tmp_path / "no" / "x.csv", "does not exist. Nor does the folder"),
        (tmp_path, "is a directory"),
        (tmp_path / "empty.csv", r"is empty \(0 bytes\)"),
        (tmp_path / "pipe.csv", "is not a regular file"),
    ]:
        with pytest.raises(InputError, match=message):
            check_readable(path)


def test_a_file_without_the_right_to_read(tmp_path: Path) -> None:
    """In a process of its own: root, who may run the tests, may read everything."""
    path = tmp_path / "secret.csv"
    path.write_text("a\n1\n")
    path.chmod(0)
    code = (
        "import os, sys\nfrom pathlib import Path\n"
        "from shoal.errors import InputError\nfrom shoal.io.paths import check_readable\n"
        "os.geteuid() or os.setuid(65534)\n"
        "try: check_readable(Path(sys.argv[1]))\nexcept InputError as e: print(e)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=False
    )
    assert "secret.csv may not be read by this user" in done.stdout, done.stderr
