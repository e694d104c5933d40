"""CSV files by the numbers of their fields, against a reader of single characters and the database."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.engines.duckdb import csv as database
from shoal.engines.formats import coded_csv
from shoal.io.csv_dialect import CsvOptions
from tests.examples import examples

OPTIONS = CsvOptions(separator=",", quote='"', encoding="utf-8", header=True, footer=0)
CELLS = st.none() | st.text('ab1é",;\n#\\ ', max_size=5)
ROWS = st.integers(2, 4).flatmap(
    lambda n: st.lists(st.tuples(*[CELLS] * n), min_size=1, max_size=30)
)
Rows = list[tuple[str | None, ...]]


@pytest.fixture(autouse=True, params=[100, 2], ids=["narrow", "wide"])
def small_blocks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every boundary is met by small files: of blocks, of pieces, of the room for fields, and of the
    numbers of a wide table that fit into two bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coded_csv, "WIDE", request.param)
        patch.setattr(coded_csv, "NARROW", 4)
        patch.setattr(coded_csv, "CELLS_AT_ONCE", 20)
        patch.setattr(coded_csv, "LARGE", 0)
        patch.setattr(coded_csv, "LARGE_ROWS", 0)
        patch.setattr(coded_csv, "BLOCK", 128)
        patch.setattr(coded_csv, "SAMPLE", 40)
        patch.setattr(coded_csv, "FIRST_ROOM", 2)
        patch.setattr(coded_csv, "FEW", 3)
        patch.setattr(coded_csv, "ROWS_AT_ONCE", 7)
        patch.setattr(coded_csv, "workers", lambda: 3)
        yield


def plain_fields(text: str) -> Rows | None:
    """The records of a file, character by character; None where a quote is not regular."""
    rows: Rows = []
    row: list[str | None] = []
    at = 0
    text = text if text.endswith("\n") else text + "\n"
    while at < len(text):
        field = ""
        if text[at] == '"':
            at += 1
            while True:
                if at >= len(text):
                    return None
                if text[at] != '"':
                    field += text[at]
                    at += 1
                elif text[at + 1 : at + 2] == '"':
                    field += '"'
                    at += 2
                else:
                    at += 1
                    break
            row.append(field)
        else:
            while text[at] not in ',\n"':
                field += text[at]
                at += 1
            row.append(field or None)
        if text[at : at + 1] not in (",", "\n"):
            return None
        if text[at] == "\n":
            rows.append(tuple(row))
            row = []
        at += 1
    return rows


def written(rows: Rows, always: bool) -> str:
    """A file of rows; `always`: with quotes around every other field."""

    def field(i: int, value: str | None) -> str:
        if value is None:
            return ""
        must = value == "" or any(mark in value for mark in ',"\n#')
        return f'"{value.replace(chr(34), chr(34) * 2)}"' if must or (always and i % 2) else value

    return "".join(
        ",".join(field(i + j, value) for j, value in enumerate(row)) + "\n"
        for i, row in enumerate(rows)
    )


def read(folder: Path, text: str, n: int, wanted: list[int]) -> Rows | None:
    """The wanted columns, or None where the file is left to another reader."""
    path = folder / "t.csv"
    path.write_bytes((",".join(f"n{i}" for i in range(n)) + "\n" + text).encode())
    table = coded_csv.read_coded(path, OPTIONS, n, wanted)
    if table is None:
        return None
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@examples(150)
@given(ROWS, st.booleans(), st.booleans(), st.data())
def test_every_table_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    rows: Rows,
    always: bool,
    ended: bool,
    data: st.DataObject,
) -> None:
    n = len(rows[0])
    wanted = data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True))
    text = written(rows, always)
    if not ended and text[-2:-1] not in (",", "\n", ""):
        text = text[:-1]
    expected = [tuple(row[i] for i in wanted) for row in rows]
    assert read(tmp_path_factory.mktemp("coded"), text, n, wanted) == expected


@examples(100)
@given(ROWS, st.lists(st.tuples(st.integers(0, 2), st.integers(1, 9)), min_size=1, max_size=8))
def test_fields_like_those_above_are_read(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, runs: list[tuple[int, int]]
) -> None:
    """Rows on end that are equal in some columns, or begin alike."""
    many = [rows[which % len(rows)] for which, times in runs for _ in range(times)]
    last = [f"{i // 3}" for i in range(len(many))]
    many = [(*row[:-1], f"{row[-1] or ''}{end}") for row, end in zip(many, last, strict=True)]
    n = len(many[0])
    found = read(tmp_path_factory.mktemp("coded"), written(many, always=False), n, list(range(n)))
    assert found == many


@examples(300)
@given(st.text('ab",\n', max_size=60), st.sampled_from([[1, 0], [0], [1]]))
def test_no_other_file_is_read_otherwise(
    tmp_path_factory: pytest.TempPathFactory, text: str, wanted: list[int]
) -> None:
    found = read(tmp_path_factory.mktemp("coded"), text, 2, wanted)
    plain = plain_fields(text)
    if found is not None:
        assert plain is not None
        assert all(len(row) == 2 for row in plain)
        assert found == [tuple(row[i] for i in wanted) for row in plain]


@pytest.mark.parametrize(
    "text",
    [
        "a,b\r\nc,d\r\n",
        "a,b\nc\n",
        "a,b\n\nc,d\n",
        "a,b,c\n",
        'a"b,c\n',
        "a,b\nc,",
        # a record is part of a field that nobody wants, unless its quotes are looked at
        '1,2" pipe\n3,4" pipe\n5,6\n',
        '1,"a"b"\n3,"a"\n',
        '1,"a"b\n',
        "a,b\n" + "x" * 200,
    ],
)
def test_what_readers_do_not_agree_on_is_left_to_others(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text, 2, [0]) is None


def test_bytes_that_are_no_text_are_left_to_others(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"x,y\n\xff,1\n")
    assert coded_csv.read_coded(path, OPTIONS, 2, [0]) is None
    assert coded_csv.read_coded(path, OPTIONS, 2, [1]).column(0).to_pylist() == ["1"]


@examples(100)
@given(ROWS, st.sampled_from([",", ";", "#"]), st.sampled_from(['"', "'"]), st.data())
def test_the_bytes_are_those_of_the_database(
    tmp_path_factory: pytest.TempPathFactory,
    rows: Rows,
    separator: str,
    quote: str,
    data: st.DataObject,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if data.draw(st.booleans()):
            patch.setattr(coded_csv, "MOST_ROOM", 0)
        compare_with_database(tmp_path_factory.mktemp("written"), rows, separator, quote, data)


def compare_with_database(
    folder: Path, rows: Rows, separator: str, quote: str, data: st.DataObject
) -> None:
    names = [f"n{i}" for i in range(len(rows[0]))]
    columns = [pa.array(list(cells), pa.string()) for cells in zip(*rows, strict=True)]
    plain = pa.table(dict(zip(names, columns, strict=True)))
    coded = [columns[0].dictionary_encode()]
    coded += [one.dictionary_encode() if data.draw(st.booleans()) else one for one in columns[1:]]
    options = CsvOptions(separator=separator, quote=quote, encoding="utf-8", header=True, footer=0)
    given_table = pa.table(dict(zip(names, coded, strict=True)))
    assert coded_csv.can_write(given_table, folder / "a.csv", options.for_output(folder / "a.csv"))
    assert not coded_csv.can_write(plain, folder / "b.csv", options.for_output(folder / "b.csv"))
    database.write_csv(given_table, folder / "a.csv", options)
    database.write_csv(plain, folder / "b.csv", options)
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
