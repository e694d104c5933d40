"""The header of a CSV file and what the user may say about it."""

from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions, header_names, records, separator_by_header

COMMA = CsvOptions(",", '"', "utf-8", header=True, footer=0)


def written(folder: Path, text: str) -> Path:
    path = folder / "t.csv"
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("a,b", ["a", "b"]),
        ("\ufeffa,b\n1,2", ["a", "b"]),
        ('"a,b",c\r\n1,2', ["a,b", "c"]),
        ('"a\nb","c""d"\n1,2', ["a\nb", 'c"d']),
        ("Age,age\n", ["Age", "age"]),
        ("a, b \n", ["a", " b "]),
        ("one\n", ["one"]),
    ],
)
def test_names_are_kept_as_they_are(tmp_path: Path, header: str, names: list[str]) -> None:
    assert header_names(written(tmp_path, header), COMMA) == names


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("Jonathan,17,17\n", "line 1: columns 2 and 3 have the same name"),
        ("Jonathan,,\n", "line 1: no name for column 2, 3"),
        ('Jonathan," "\n', "line 1: no name for column 2"),
        (",Jonathan\n", "`row.names = FALSE` and `index=False` leave them out"),
        ("\nJonathan,17\n", "line 1: the line is empty"),
    ],
)
def test_names_that_cannot_be(tmp_path: Path, header: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        header_names(written(tmp_path, header), COMMA)
    assert "Jonathan" not in str(caught.value)
    assert "does the file have a header?" in str(caught.value)


def test_records_know_their_lines(tmp_path: Path) -> None:
    path = written(tmp_path, 'a,b\n"x\n\ny",1\n\n2\n')
    found = [(line, len(fields)) for line, fields in records(path, COMMA)]
    assert found == [(1, 2), (2, 2), (5, 0), (6, 1)]


@pytest.mark.parametrize(
    ("text", "separator"),
    [("a,b;c;d\n", ";"), ("a\tb\n", "\t"), ('"a,b"|c\n', "|"), ('"a,b"\n', None), ("a\n", None)],
)
def test_the_header_tells_the_separator(tmp_path: Path, text: str, separator: str | None) -> None:
    assert separator_by_header(written(tmp_path, text), CsvOptions(encoding="utf-8")) == separator


def test_spellings_of_tab() -> None:
    assert CsvOptions(separator="\\t") == CsvOptions(separator="tab") == CsvOptions(separator="\t")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"separator": ""}, "separator must be one character, found ''"),
        ({"separator": ";;"}, "separator must be one character"),
        ({"separator": "\n"}, "separator must be one character"),
        ({"quote": "''"}, "quote must be one character"),
        ({"quote": "«"}, "quote must be an ASCII character"),
        ({"quote": ",", "separator": ","}, "are the same character"),
        ({"encoding": "utf-88"}, "'utf-88' is not a known encoding"),
    ],
)
def test_options_that_cannot_be_meant(options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CsvOptions(**options)


def test_output_is_alike() -> None:
    out = CsvOptions(";", "'", "cp1252", escape="\\").for_output(Path("x.csv"))
    assert out == CsvOptions(";", "'", "utf-8", header=True, footer=0, blanks=False)
    assert CsvOptions().for_output(Path("x.csv")) == CsvOptions(
        ",", '"', "utf-8", header=True, footer=0, blanks=False
    )
    assert CsvOptions(",").for_output(Path("x.TSV.gz")) == CsvOptions(
        "\t", '"', "utf-8", header=True, footer=0, blanks=False
    )
    assert CsvOptions(quote="").for_output(Path("x.txt")).quote == '"'
    assert CsvOptions('"', "").for_output(Path("x.csv")).quote == "'"
    assert out.settled
    assert not CsvOptions(";").settled
