"""What is written as CSV is read back to the last byte, and so is what others wrote."""

import csv
import gzip
import io
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.engines.files import LocalFiles
from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions
from tests.examples import examples

ENGINE = LocalFiles()
SPICY = "a ,;|\t\"'\n\r\\#*\0é"
TEXTS = st.text(
    st.one_of(st.sampled_from(SPICY), st.characters(exclude_categories=["Cs"])), max_size=5
)
CELLS = st.none() | TEXTS | st.sampled_from(["NULL", "null", "", '""', " ", "''", "NaN"])


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    width = draw(st.integers(1, 3))
    names = draw(
        st.lists(
            TEXTS.filter(lambda name: name.strip() != "" and not name.startswith("\ufeff")),
            min_size=width,
            max_size=width,
            unique=True,
        )
    )
    row = st.lists(CELLS, min_size=width, max_size=width)
    rows = draw(st.lists(row, max_size=5))
    columns = [pa.array([r[i] for r in rows], pa.string()) for i in range(width)]
    return pa.table(columns, names=names)


OPTIONS = st.builds(
    CsvOptions,
    separator=st.sampled_from([None, ",", ";", "\t", "|", "¦", "a"]),
    quote=st.sampled_from([None, '"', "'", "$"]),
    encoding=st.sampled_from([None, "cp1252"]),
)


@given(table=tables(), options=OPTIONS, ending=st.sampled_from([".csv", ".tsv", ".csv.gz"]))
def test_written_and_read_back(table: pa.Table, options: CsvOptions, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t" + ending)
        ENGINE.write(table, path, options=options)
        back = ENGINE.read(path, options.for_output(path))
        assert back.column_names == table.column_names
        assert back.to_pylist() == table.to_pylist()
        last = table.column_names[-1:]
        assert ENGINE.read(path, options.for_output(path), last).equals(back.select(last))
        assert list(Path(folder).iterdir()) == [path]


@examples(30)
@given(
    rows=st.lists(st.lists(TEXTS, min_size=2, max_size=2), max_size=5),
    separator=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32-be"]),
)
def test_files_of_pythons_csv_module(
    rows: list[list[str]], separator: str, end: str, encoding: str
) -> None:
    """Everything quoted, so that nothing is missing and every dialect is found from the file."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([["left", "right"], *rows])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_bytes(text.getvalue().encode(encoding))
        options = CsvOptions(separator, '"', encoding)
        back = ENGINE.read(path, options)
        assert [[row["left"], row["right"]] for row in back.to_pylist()] == rows


def written(folder: Path, text: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('a,b\n1,""\n2,\n,NULL\n', [("1", ""), ("2", None), (None, "NULL")]),
        ("a;b\n1,5;2\n", [("1,5", "2")]),
        ("a\tb\n1\t2\n", [("1", "2")]),
        ("a|b\r\n1| 2 \r\n", [("1", " 2 ")]),
        ("a,b\r1,2\r", [("1", "2")]),
        ('"a\r",b\n1,2\n', [("1", "2")]),
        ('"a\n"\r\n\r\n', [(None,)]),
        ("a,b\n'x,y',2\n'z',3\n", [("x,y", "2"), ("z", "3")]),
        ('a,b\n"x\\"y",2\n', [('x"y', "2")]),
        ('a,b\n"x ""y""",2\n', [('x "y"', "2")]),
        ('a,b\n1,x"y\n', [("1", 'x"y')]),
        ("a,b\n1,2", [("1", "2")]),
        ("a,b\n1,2\n\n3,4\n\n\n", [("1", "2"), ("3", "4")]),
        ("#a,b\n#1,2\n", [("#1", "2")]),
        ('a,b\n"x\r\ny","z\nw"\n', [("x\r\ny", "z\nw")]),
        ("Age,age\n1,2\n", [("1", "2")]),
        ("a,b\n", []),
        ("a,b", []),
        ("a\n1\n\n2\n", [("1",), (None,), ("2",)]),
        ("a\nx, y\nz\n", [("x, y",), ("z",)]),
        ("\ufeffa;b\n1;2\n", [("1", "2")]),
    ],
)
def test_dialects_are_detected(
    tmp_path: Path, text: str, rows: list[tuple[str | None, ...]]
) -> None:
    path = written(tmp_path, text)
    table = ENGINE.read(path)
    assert [tuple(row.values()) for row in table.to_pylist()] == rows
    assert table.column_names == ENGINE.names(path)


def test_the_detected_dialect_is_kept_for_the_output(tmp_path: Path) -> None:
    path = written(tmp_path, "name;stadt\n'J; K';Zürich\n".encode("cp1252"))
    options, warnings = ENGINE.settle(path)
    assert options == CsvOptions(";", "'", "cp1252", header=True, footer=0, blanks=False)
    assert len(warnings) == 1
    table = ENGINE.read(path, options)
    out = tmp_path / "out.csv"
    ENGINE.write(table, out, options=options)
    assert out.read_text("utf-8") == "name;stadt\n'J; K';Zürich\n"


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        (CsvOptions(separator=";"), [('1,"x";y', None)]),
        (CsvOptions(separator=",", quote=""), [("1", '"x";y')]),
        (CsvOptions(encoding="latin-1"), None),
    ],
)
def test_overrides(
    tmp_path: Path, options: CsvOptions, rows: list[tuple[str | None, ...]] | None
) -> None:
    if rows is None:
        path = written(tmp_path, "a,b\nZ\x81,é\n".encode("latin-1"))
        assert ENGINE.read(path, options).to_pylist() == [{"a": "Z\x81", "b": "é"}]
    elif options.separator == ";":
        path = written(tmp_path, "a;b\n'1,\"x\";y';\n")
        assert ENGINE.read(path, CsvOptions(";", "'")).to_pylist() == [{"a": '1,"x";y', "b": None}]
    else:
        path = written(tmp_path, 'a,b\n1,"x";y\n')
        assert [tuple(r.values()) for r in ENGINE.read(path, options).to_pylist()] == rows


def test_some_columns_only(tmp_path: Path) -> None:
    path = written(tmp_path, 'a,b,c\n1,"2,2",3\n4,5,6\n')
    assert ENGINE.read(path, columns=["c", "a"]).to_pylist() == [
        {"c": "3", "a": "1"},
        {"c": "6", "a": "4"},
    ]
    with pytest.raises(InputError, match=r"has no column 'd'.*It has: a, b, c"):
        ENGINE.read(path, columns=["d"])


def test_the_order_of_a_large_file_is_kept(tmp_path: Path) -> None:
    rows = 400_000
    text = "n,t\n" + "".join(f'{i},"x\ny{i}"\n' for i in range(rows))
    path = written(tmp_path, text)
    table = ENGINE.read(path)
    assert table["n"].to_pylist() == [str(i) for i in range(rows)]
    assert table["t"][rows - 1].as_py() == f"x\ny{rows - 1}"
    ENGINE.write(table, tmp_path / "out.csv")
    assert ENGINE.read(tmp_path / "out.csv").equals(table)


def test_a_very_long_value(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n1," + "x" * 5_000_000 + "\n")
    assert len(ENGINE.read(path)["b"][0].as_py()) == 5_000_000


@pytest.mark.parametrize("name", ["a*.csv", "[a-b].csv", "a?.csv", "it's.csv", "ü \n.csv"])
def test_odd_file_names_are_literal(tmp_path: Path, name: str) -> None:
    written(tmp_path, "x\nother\n", "ab.csv")
    written(tmp_path, "x\nother\n", "a.csv")
    path = written(tmp_path, "x\nthis\n", name)
    assert ENGINE.read(path).to_pylist() == [{"x": "this"}]
    ENGINE.write(pa.table({"x": ["that"]}), path)
    assert path.read_text() == "x\nthat\n"
    assert len(list(tmp_path.iterdir())) == 3


def test_types_are_written_as_plain_text(tmp_path: Path) -> None:
    table = pa.table({"n": [1, None], "f": [1.5, 2.0], "b": [True, False], "c": ["x", "y"]})
    coded = table.set_column(3, "c", table["c"].dictionary_encode())
    ENGINE.write(coded, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "n,f,b,c\n1,1.5,true,x\n,2.0,false,y\n"


def test_names_that_differ_in_case_only_or_are_empty(tmp_path: Path) -> None:
    table = pa.table([["1"], ["2"], ["3"]], names=["Age", "age", ""])
    ENGINE.write(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == 'Age,age,""\n1,2,3\n'


def test_gzip_is_packed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    ENGINE.write(pa.table({"a": ["1"]}), path)
    assert gzip.decompress(path.read_bytes()) == b"a\n1\n"


PLAIN = ["39", "1253*", "*", "", None, "O'Neil", "Zürich", "2020-01", "respiratory infection"]
SPECIAL = ["[17~35]", "{China, India}", "{a; b}", "x|y", "a\tb", 'said "no"', "two\nlines"]
LABELS = st.sampled_from([*PLAIN, *SPECIAL])


@examples(25)
@given(
    rows=st.lists(st.tuples(LABELS, LABELS, LABELS), min_size=1, max_size=20),
    options=st.builds(CsvOptions, separator=st.sampled_from([",", ";", "\t", "|"])),
)
def test_a_release_is_read_back_without_options(
    rows: list[tuple[str | None, ...]], options: CsvOptions
) -> None:
    """As `verify` does with a file that somebody hands in."""
    columns = zip(*rows, strict=True)
    table = pa.table([pa.array(c, pa.string()) for c in columns], names=["age", "race", "disease"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "release.csv")
        ENGINE.write(table, path, options=options)
        assert ENGINE.read(path).to_pylist() == table.to_pylist()
