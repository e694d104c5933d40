"""Quotes after blanks and fields that hide rows: read as a plain loop reads them, or asked."""

import gzip
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.engines.files import LocalFiles
from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions, records
from tests.examples import examples

ENGINE = LocalFiles()
KNOWN = CsvOptions(",", '"', "utf-8", header=False, footer=0, names=("a", "b"))
SECRET = "Jonathan"


def plainly_read(text: str) -> list[list[str | None]] | None:
    """The rows of a text, one character after another; None where a quote is wrong."""
    rows: list[list[str | None]] = []
    row: list[str | None] = []
    at = 0
    while at < len(text):
        begin = at
        while text[at : at + 1] == " ":
            at += 1
        if text[at : at + 1] == '"':
            value, at = "", at + 1
            while True:
                if at >= len(text):
                    return None
                if text[at] != '"':
                    value, at = value + text[at], at + 1
                elif text[at + 1 : at + 2] == '"':
                    value, at = value + '"', at + 2
                else:
                    break
            at += 1
            while text[at : at + 1] == " ":
                at += 1
            if text[at : at + 1] not in ("", ",", "\n"):
                return None
            row.append(value)
        else:
            while text[at : at + 1] not in ("", ",", "\n"):
                at += 1
            row.append(text[begin:at] or None)
        if text[at : at + 1] != ",":
            if row != [None]:
                rows.append(row)
            row = []
        elif at + 1 == len(text):
            rows.append([*row, None])
        at += 1
    return rows


@examples(200)
@given(text=st.text('a, "\n', max_size=14))
@example('  "a,a\na",a\n')
@example('a,  "a\n"\n')
@example('a, "a" "a"\n')
@example(' "a" , "" \n"","a,"\n')
def test_as_a_plain_loop_reads_it(text: str) -> None:
    # a line with an ordinary quote after a blank, so that the file is read record by record
    text = 'x, "y"\n' + text
    rows = plainly_read(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_text(text)
        if rows is None or any(len(row) != 2 for row in rows):
            with pytest.raises(InputError):
                ENGINE.read(path, KNOWN)
        else:
            table = ENGINE.read(path, KNOWN)
            assert [list(row.values()) for row in table.to_pylist()] == rows


@pytest.mark.parametrize("blanks", ["\t", "\u00a0", " \u3000", "\u200b ", "\ufeff"])
@pytest.mark.parametrize("known", [False, True])
def test_what_is_no_blank_before_a_quote(tmp_path: Path, blanks: str, known: bool) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f'name,note\nAnn,x\n{SECRET},{blanks}"x,y\nz",w\n')
    with pytest.raises(InputError, match='line 3: a quote " follows a tab, a no-break') as caught:
        ENGINE.read(path, CsvOptions(quote='"' if known else None))
    assert SECRET not in str(caught.value)
    path.write_text(f'name,note\nAnn,x\n{SECRET},"{blanks}""x"""\n')
    assert ENGINE.read(path)["note"].to_pylist() == ["x", f'{blanks}"x"']


@pytest.mark.parametrize(
    ("rows", "quote", "as_field", "by_release"),
    [
        ('A, "x,y\nz,w", c\n', '"', 2, False),
        ('A,"x,y\nB,z,c\nC,z",c\n', '"', 2, True),
        ('A,"x\nB,y,c\nC,z,c\nD,z",c\n', '"', 2, True),
        ("A, 'x,y\nz,w',c\nB,'x',c\n", "'", 3, False),
    ],
    ids=["after a blank", "without blanks", "first row broken", "apostrophes"],
)
@pytest.mark.parametrize("packed", [False, True])
def test_rows_that_may_be_hidden_are_asked_about(
    tmp_path: Path, rows: str, quote: str, as_field: int, by_release: bool, packed: bool
) -> None:
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    text = f"name,note,town\n{SECRET},n,c\n{rows}".encode()
    path.write_bytes(gzip.compress(text, mtime=0) if packed else text)
    with pytest.raises(InputError, match=r"line 3: .* may hide whole rows") as caught:
        ENGINE.read(path)
    assert SECRET not in str(caught.value)
    assert ENGINE.read(path, CsvOptions(quote=quote)).num_rows == as_field
    if by_release:  # a release of texts that look like rows needs no answer
        assert ENGINE.read(path, CsvOptions().of_release).num_rows == as_field


def test_rows_are_hidden_in_another_part_file(tmp_path: Path) -> None:
    parts = [tmp_path / "1.csv", tmp_path / "2.csv"]
    parts[0].write_text("name,note,town\nA,n,c\n")
    parts[1].write_text('name,note,town\nA, "x,y\nz,w", c\n')
    with pytest.raises(InputError, match=r"2\.csv, line 2: .* may hide whole rows"):
        ENGINE.settle(parts)
    parts[1].write_text('name,note,town\nA, "x,y", c\n')
    assert ENGINE.settle(parts)[0].blanks


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('id,note\n1,"Dear Sir\nyours, Bob"\n2,x\n', 2),
        ('id,note,n\n1,"a\nb, c, d\ne",2\n', 1),
        ('id,note,n\n1,"a, b\nc",2\n2,"a, b\nc, d",2\n3,"a\nb",4\n', 3),
        ('a\n"x\ny\nz"\n', 1),
        ('id,note\n1, "a\nb"\n', 1),
    ],
)
def test_texts_of_several_lines_are_no_question(tmp_path: Path, text: str, rows: int) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert ENGINE.read(path).num_rows == rows


def test_records_after_blanks_know_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\n "x\n\ny",1\n\n  2 , "3"x\n')
    options = CsvOptions(",", '"', "utf-8", blanks=True)
    assert list(records(path, options)) == [
        (1, ["a", "b"]),
        (2, ["x\n\ny", "1"]),
        (5, []),
        (6, ["  2 ", "3x"]),
    ]
    with pytest.raises(InputError, match="line 6: a quote is opened and never closed, or text"):
        ENGINE.read(path)
