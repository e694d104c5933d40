"""A broken file is named with line and counts, and never with a word of its rows."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from shoal.engines.duckdb import csv as csv_read
from shoal.engines.files import LocalFiles
from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions

ENGINE = LocalFiles()
SECRET = "Jonathan"


def refused(read: Callable[[], object]) -> str:
    """The message of the error, checked to hold no cell, nor to hide one in its causes."""
    with pytest.raises(InputError) as caught:
        read()
    error: BaseException | None = caught.value
    message = str(error)
    while error is not None:
        assert SECRET not in str(error)
        error = error.__cause__ if error.__suppress_context__ else error.__context__
    return message


def written(folder: Path, text: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


BROKEN = [
    (f"a,b\n{SECRET},2\n{SECRET}\n", "line 3: 1 field, but the first line names 2 columns"),
    (f"a,b\n{SECRET},2,3\n", "line 2: 3 fields, but the first line names 2 columns"),
    (f"a,b\n1,2\n{SECRET},2,\n3,4\n", "line 3: 3 fields, but"),
    (f"a,b\n1,2\n{SECRET},,\n3,4\n", "line 3: 3 fields, but"),
    (f"a,b,c\n{SECRET},2\n{SECRET},3\n", "line 2: 2 fields, but the first line names 3"),
    (f'a,b\n"x,\n{SECRET}",2\n\n1,"2,2",\n', "line 5: 3 fields, but"),
    (f'a,b\n"{SECRET}\n\n",2\n3\n', "line 5: 1 field, but"),
    (f"a,b\n1,2\n   \n{SECRET},1\n", "line 3: 1 field, but"),
    (f"a\n{SECRET}\n{SECRET},\n", "line 3: 2 fields, but the first line names 1 column"),
    (f'a,b\n1,"{SECRET}\n', "line 2: a quote is opened and never closed"),
    (f'a,b\n1,"{SECRET}"x\n', "line 2: a quote is opened and never closed, or text follows"),
    (f'a,b\n1,2\n"{SECRET}"x,1\n', "line 3: a quote is opened"),
    (f'"a,b\n1,{SECRET}\n', "line 1: in the line of column names a quote"),
    (f"a,b\n1,2\r\n{SECRET},3\n", "mixes line ends"),
    (f"a,b\r\n1,2\n{SECRET},3\r\n", "mixes line ends"),
    (f"a,b\n1,2\r{SECRET},3\n", "mixes line ends"),
]


@pytest.mark.parametrize("case", range(len(BROKEN)))
def test_broken_rows(tmp_path: Path, case: int) -> None:
    text, message = BROKEN[case]
    path = written(tmp_path, text)
    found = refused(lambda: ENGINE.read(path))
    assert found.startswith(f"{path}")
    assert message in found
    assert message in refused(lambda: ENGINE.read(path, columns=["a"]))


def test_a_broken_row_far_down(tmp_path: Path) -> None:
    text = "a,b\n" + '1,"x\ny"\n' * 500_000 + f"{SECRET},2,3\n" + "1,2\n" * 200_000
    path = written(tmp_path, text)
    assert "line 1000002: 3 fields" in refused(lambda: ENGINE.read(path))


def test_a_separator_too_many_far_down(tmp_path: Path) -> None:
    text = "a,b\n" + '1,"x,y"\n' * 200_000 + f"{SECRET},2,\n" + "1,2\n" * 1000
    path = written(tmp_path, text)
    assert "line 200002: 3 fields" in refused(lambda: ENGINE.read(path, columns=["b"]))


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_lines_are_those_of_the_file_in_its_own_encoding(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path, f"a,b\nü,2\n{SECRET}\n".encode(encoding))
    assert f"{path}, line 3: 1 field" in refused(lambda: ENGINE.read(path))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("{secret},a,a", "columns 2 and 3 have the same name"),
        ("{secret},,x", "no name for column 2"),
        ("\n{secret},x", "the line is empty"),
    ],
)
def test_broken_headers(tmp_path: Path, header: str, message: str) -> None:
    path = written(tmp_path, header.format(secret=SECRET) + "\n1,2,3\n")
    assert message in refused(lambda: ENGINE.read(path))
    assert message in refused(lambda: ENGINE.names(path))


def test_rows_that_duckdb_skips_silently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes the line end inside the first name for that of the file, and finds no row."""
    path = written(tmp_path, f'"a\r",b\n{SECRET},2\n')
    assert ENGINE.read(path).num_rows == 1
    monkeypatch.setattr(csv_read, "plain_header", lambda *_: None)
    assert "only 0 rows could be recognised" in refused(lambda: ENGINE.read(path))


def test_missing_files(tmp_path: Path) -> None:
    written(tmp_path, "", "empty.csv")
    written(tmp_path, gzip.compress(b""), "empty.csv.gz")
    written(tmp_path, b"no gzip", "fake.csv.gz")
    whole = gzip.compress(f"a,b\n{SECRET},2\n".encode() * 1000)
    written(tmp_path, whole[: len(whole) // 2], "cut.csv.gz")
    written(tmp_path, SECRET, "t.xlsx")
    written(tmp_path, SECRET, "t.docx")
    for name, message in [
        ("none.csv", "does not exist"),
        ("empty.csv", "is empty"),
        ("empty.csv.gz", "line 1: the line is empty"),
        ("fake.csv.gz", "not a whole gzip file"),
        ("cut.csv.gz", "not a whole gzip file"),
        ("t.docx", "Allowed: .csv"),
        ("t.xlsx", "is not an Excel or OpenDocument workbook"),
        (".", "is a directory"),
    ]:
        for read in (ENGINE.read, ENGINE.names):
            assert message in refused(lambda name=name, read=read: read(tmp_path / name)), name


def test_encodings(tmp_path: Path) -> None:
    neither = written(tmp_path, f"a\n{SECRET}\x81\xff\n".encode("latin-1"))
    assert "neither UTF-8 nor" in refused(lambda: ENGINE.read(neither))
    said = CsvOptions(encoding="utf-8")
    assert "line 2: the bytes are not utf-8 text" in refused(lambda: ENGINE.read(neither, said))
    said = CsvOptions(encoding="utf-16")
    assert "bytes are not utf-16 text" in refused(lambda: ENGINE.read(neither, said))
    settled = CsvOptions(",", '"', "ascii")
    assert "not ascii text" in refused(lambda: ENGINE.read(neither, settled))


def test_a_target_that_cannot_be_written(tmp_path: Path) -> None:
    table = ENGINE.read(written(tmp_path, f"a\n{SECRET}\n"))
    for name in ("x.csv", "x.parquet", "x.arrow"):
        target = tmp_path / "no such folder" / name
        assert "could not be written" in refused(lambda t=target: ENGINE.write(table, t))
