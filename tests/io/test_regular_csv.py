"""Files that Arrow reads are read as the database reads them; a plain loop says which files they are."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.engines.duckdb.csv import check_separators, open_csv
from shoal.errors import InputError
from shoal.io import regular_csv
from shoal.io.csv_dialect import CsvOptions
from shoal.io.regular_csv import Regularity, read_regular, regularity
from tests.examples import examples

COMMA = CsvOptions(",", '"', "utf-8", header=True, footer=0)
FIELDS = st.sampled_from(
    ["", "a", " b", '""', '"a"', '"a,b"', '"a""b"', '"\n"', '"\r\n"', "é", "\0"]
)
ODD = st.sampled_from(['"', 'a"', '"a"b', '"a" ', ' "a"', '"a""', "a\r", '""""', '"""'])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Files of two columns, most of them as they should be."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    fields = draw(st.sampled_from([FIELDS, FIELDS, FIELDS | ODD]))
    lines = draw(st.lists(st.tuples(fields, fields).map(",".join) | st.just(""), max_size=6))
    other = draw(st.sampled_from([end, end, end, "\n", "\r", end + end, ","]))
    text = end.join(lines[:3]) + other + end.join(lines[3:]) + draw(st.sampled_from(["", end]))
    text = f"x,y{end}{text}"
    return text.encode()


def by_the_database(path: Path) -> list[tuple[str | None, ...]] | None:
    """Its rows, None where it refuses the file."""
    try:
        with open_csv(path, COMMA) as file:
            table = file.query("SELECT c0, c1 FROM {file}")
            check_separators(file, table.num_rows)
    except InputError:
        return None
    return list(zip(*table.to_pydict().values(), strict=True))


@examples(150)
@given(content=files(), size=st.integers(1, 9))
@example(b'x,y\n"a,"b",c"\n', 3)
@example(b'x,y\n"",', 1)
@example(b"x,y\r\n1,2\r3,4\n", 4)
def test_as_the_database_reads_it(content: bytes, size: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(regular_csv, "CHECKED", size)
        path = Path(folder, "t.csv")
        path.write_bytes(content)
        table = read_regular(path, COMMA, 2, ["c1", "c0"])
        if table is not None:
            found = list(zip(table["c0"].to_pylist(), table["c1"].to_pylist(), strict=True))
            assert found == by_the_database(path)


def plain_regularity(text: str) -> Regularity:
    """One character after another."""
    if not plainly_regular(text):
        return Regularity.NONE
    fields = text.split('"')[1::2]  # a doubled quote ends one part and begins another
    inside = any("\n" in part or "\r" in part for part in fields)
    return Regularity.LINES_IN_FIELDS if inside else Regularity.LINES


def plainly_regular(text: str) -> bool:
    """The same without the ends of lines inside of fields."""
    ends = {
        text[i] if text[i - 1 : i] != "\r" else "\r\n" for i in range(len(text)) if text[i] == "\n"
    }
    if text.count("\r") and (ends != {"\r\n"} or text.count("\r") != text.count("\r\n")):
        return False
    if text.endswith(","):
        return False
    state = "start"
    for at, char in enumerate(text):
        if state == "quoted":
            if char == '"':
                state = "closed"
        elif char == '"':
            if state == "within":
                return False
            state = "quoted"  # at the start of a field, or after a quote: a doubled one
        elif char in ",\n":
            state = "start"
        elif state == "closed":
            if text[at : at + 2] != "\r\n":
                return False
        elif char != "\r":
            state = "within"
    return state != "quoted"


@examples(300)
@given(text=st.text('a,"\r\n', max_size=12), size=st.integers(1, 5))
@example('a,"b\nc"\n', 3)
@example('a,"""\n"\n', 1)
def test_regular_is_what_a_plain_loop_finds(text: str, size: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(regular_csv, "CHECKED", size)
        path = Path(folder, "t.csv")
        path.write_bytes(text.encode())
        assert regularity(path, ",", '"') is plain_regularity(text)


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        (CsvOptions(",", '"', "utf-8", escape="\\"), 2),
        (CsvOptions("¦", '"', "utf-8"), 2),
        (COMMA, 1),
    ],
    ids=["escape", "separator", "one column"],
)
def test_others_are_left_to_the_database(options: CsvOptions, columns: int, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\n")
    assert read_regular(path, COMMA, 2, ["c0"]) is not None
    assert read_regular(path, options, columns, ["c0"]) is None
