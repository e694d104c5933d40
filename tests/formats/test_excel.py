"""Workbooks: what is read is what a person would write down from the screen."""

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.engines.files import LocalFiles
from shoal.engines.formats.hidden_cells import hidden_cells
from shoal.engines.sources import source_at
from shoal.errors import InputError
from shoal.io.csv_dialect import DETECT, CsvOptions
from tests.formats.workbooks import Failed, Percent, old_workbook, open_document, workbook

D = dt.date
WHEN, DAY = dt.datetime(2020, 1, 2, 3, 4), dt.datetime(2020, 1, 3)

SHEET = [
    ["id", "born", "at", "share", "paid", "code", "zip", "visit", "ok", "note"],
    [1, D(1999, 12, 31), dt.time(8, 30), Percent(0.25), "12", 5, "02138", WHEN, True, "a"],
    [2, D(2000, 1, 1), dt.time(9, 45, 30), Percent(0.5), "13", "NA", "10001", DAY, False, " b "],
    [],
    [3, None, None, None, "-1.5", 1 / 3, "007", None, None, "=1+1"],
]  # fmt: skip


def read(path: Path, options: CsvOptions = DETECT) -> pa.Table:
    return LocalFiles().read(path, options)


def refused(path: Path, options: CsvOptions = DETECT) -> str:
    with pytest.raises(InputError) as error:
        read(path, options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_every_kind_of_cell(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", {"People": SHEET})
    source = source_at(path)
    assert read(path).to_pydict() == {
        "id": [1, 2, 3],
        "born": [D(1999, 12, 31), D(2000, 1, 1), None],
        "at": [dt.time(8, 30), dt.time(9, 45, 30), None],
        "share": [0.25, 0.5, None],
        "paid": [12, 13, -1.5],
        "code": ["5", "NA", "0.3333333333333333"],  # mixed cells are text, and no digit is lost
        "zip": ["02138", "10001", "007"],
        "visit": [WHEN, DAY, None],
        "ok": [True, False, None],
        "note": ["a", " b ", "=1+1"],
    }
    assert source.names == tuple(SHEET[0])
    assert source.options.sheet == "People"
    assert source.warnings == (
        "Sheet 'People': 1 blank row between others left out.",
        "Sheet 'People': numbers are stored as text in 'paid'; they were read as numbers.",
    )
    kinds = {field.name: str(field.type) for field in read(path).schema}
    assert kinds["id"] == "int64"
    assert kinds["born"] == "date32[day]"
    assert kinds["visit"] == "timestamp[ms]"


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ([1, 2.5, 3], [1.0, 2.5, 3.0]),
        ([1, "2", 3], [1, 2, 3]),  # one number is stored as text
        (["1", "2", ""], [1, 2, None]),
        (["1.50", "2", "3"], ["1.50", "2", "3"]),  # read as a number, it would change
        (["01", "2", "3"], ["01", "2", "3"]),
        (["12345678901234567890", "2", "3"], ["12345678901234567890", "2", "3"]),
        ([2**53 - 1, 1 / 3, -1], [2**53 - 1, 1 / 3, -1]),
        ([True, 2, 3], ["true", "2", "3"]),
        ([True, "no", False], ["true", "no", "false"]),
        ([D(2020, 1, 2), "soon", None], ["2020-01-02", "soon", None]),
        ([D(2020, 1, 2), 7, None], ["2020-01-02", "7", None]),
        ([dt.time(8, 30), "noon", None], ["08:30:00", "noon", None]),
        ([dt.datetime(2020, 1, 2, 3, 4), "soon", 0.1], ["2020-01-02T03:04:00", "soon", "0.1"]),
        (["NA", "#N/A", "null"], ["NA", "#N/A", "null"]),
        (["n/a", 5, 6.25], ["n/a", "5", "6.25"]),
        (["  ", "x", " "], [None, "x", None]),
        (["-", 1e-12, 1e20], ["-", "1e-12", "1e+20"]),
    ],
)
def test_mixed_columns(tmp_path: Path, cells: list[Any], wanted: list[Any]) -> None:
    rows = [["n", "x"], *([i, cell] for i, cell in enumerate(cells))]
    path = workbook(tmp_path / "t.xlsx", {"S": rows})
    assert read(path, CsvOptions(footer=0))["x"].to_pylist() == wanted


def test_error_cells_are_missing_and_reported(tmp_path: Path) -> None:
    rows = [["age", "rate"], [31, 0.5], [36, Failed()], [Failed(), Failed()]]
    path = workbook(tmp_path / "t.xlsx", {"S": rows})
    assert read(path).to_pydict() == {"age": [31, 36, None], "rate": [0.5, None, None]}
    assert source_at(path).warnings == (
        "Sheet 'S': column 'age' has 1 cell with an error such as #N/A or #DIV/0!, read as missing.",
        "Sheet 'S': column 'rate' has 2 cells with an error such as #N/A or #DIV/0!, read as missing.",
    )


SHEETS = {"First": [["a"], [1]], "Notes": [], "Second one": [["b"], [2]]}


def test_sheets(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", SHEETS)
    message = refused(path)
    assert "has 2 sheets with data: First, Second one. Choose one with --sheet NAME" in message
    assert "t.xlsx#NAME" in message
    for address, options in [
        (f"{path}#Second one", DETECT),
        (f"{path}#second ONE", DETECT),
        (f"{path}#3", DETECT),
        (str(path), CsvOptions(sheet="Second one")),
        (str(path), CsvOptions(sheet="3")),
    ]:
        assert read(Path(address), options).to_pydict() == {"b": [2]}
    message = refused(Path(f"{path}#Secnd one"))
    assert "has no sheet 'Secnd one'. Did you mean 'Second one'?" in message
    assert "First, Notes, Second one" in message
    assert "sheet 'Notes' is empty" in refused(Path(f"{path}#Notes"))


def test_the_only_sheet_with_data_is_taken(tmp_path: Path) -> None:
    sheets = {"Empty": [], "Data": [["a"], [1]], "Lists": [["b"], [2]]}
    path = workbook(tmp_path / "t.xlsx", sheets, hidden=["Lists"])
    assert read(path).to_pydict() == {"a": [1]}
    assert "no sheet with anything in it" in refused(
        workbook(tmp_path / "e.xlsx", {"A": [], "B": []})
    )


def test_headers(tmp_path: Path) -> None:
    rows = [["name", None, None], ["Ann", 1, 2], ["Ben", 3, 4]]
    path = workbook(tmp_path / "t.xlsx", {"S": rows}, merged={"S": ["B1:C1"]})
    message = refused(path)
    assert "sheet 'S', row 1: no name for column 3." in message
    assert "of merged cells only the first has one" in message
    titled = [["Patients 2023"], [], ["name", "age"], ["Ann", 31], ["Ben", 36]]
    path = workbook(tmp_path / "t.xlsx", {"S": titled})
    assert "row 1: no name for column 2" in refused(path)
    assert read(path, CsvOptions(skip=1)).to_pydict() == {"name": ["Ann", "Ben"], "age": [31, 36]}
    doubled = [["age", "name", "age"], [1, "a", 2]]
    path = workbook(tmp_path / "t.xlsx", {"S": doubled})
    assert "row 1: columns 1 and 3 have the same name" in refused(path)


def test_hidden_rows_are_read_and_said_so(tmp_path: Path) -> None:
    """Who looks at a sheet with a filter does not see that the others are in it too."""
    path = tmp_path / "t.xlsx"
    book = xlsxwriter.Workbook(str(path))
    for name, hidden in (("Other", (1,)), ("Patients", (2, 4))):
        sheet = book.add_worksheet(name)
        for i, age in enumerate(["age", 31, 36, 41, 47]):
            sheet.write(i, 0, age)
        for i in hidden:
            sheet.set_row(i, None, None, {"hidden": True})
    sheet.set_column(3, 3, None, None, {"hidden": True})
    book.close()
    _, warnings = LocalFiles().settle(path, CsvOptions(sheet="Patients"))
    assert len(warnings) == 2
    assert "Sheet 'Patients': 2 hidden rows (by a filter or by hand) were read" in warnings[0]
    assert "Sheet 'Patients': hidden columns were read" in warnings[1]
    assert read(path, CsvOptions(sheet="Patients"))["age"].to_pylist() == [31, 36, 41, 47]
    (warning,) = LocalFiles().settle(path, CsvOptions(sheet="Other"))[1]
    assert "1 hidden row (by a filter or by hand) was read" in warning
    assert hidden_cells(path, "No such sheet") == (0, False)
    assert hidden_cells(workbook(tmp_path / "s.xlsx", {"S": [["a"], [1]]}), "S") == (0, False)


def test_names_that_are_repeated(tmp_path: Path) -> None:
    rows = [[], ["name", "age"], ["Ann", "x"], ["name", "x"], [], ["name", "age"], ["Ben", "y"]]
    path = workbook(tmp_path / "t.xlsx", {"S": rows})
    message = refused(path)
    assert "sheet 'S', row 6: the names of the columns are repeated" in message
    assert "Ann" not in message
    path = workbook(tmp_path / "t.xlsx", {"S": [*rows[:5], ["age", "name"]]})
    assert read(path)["age"].to_pylist() == ["x", "x", "name"]
    path = workbook(tmp_path / "t.xlsx", {"S": [["name"], ["name"], ["Ann"]]})
    assert read(path)["name"].to_pylist() == ["name", "Ann"]


def test_a_sheet_without_a_header(tmp_path: Path) -> None:
    """The first person must not become the names of the columns."""
    rows = [["Ann", 31, D(1992, 5, 4)], ["Ben", 36, D(1987, 1, 2)], ["Cem", 35, D(1988, 3, 4)]]
    path = workbook(tmp_path / "t.xlsx", {"S": rows})
    message = refused(path)
    assert "row 1: it looks like data and not like column names (in columns 2, 3 it" in message
    assert "Ann" not in message
    names = ("name", "age", "born")
    for options in (CsvOptions(names=names), CsvOptions(header=False, names=names)):
        table = read(path, options)
        assert table.to_pydict() == dict(
            zip(names, map(list, zip(*rows, strict=True)), strict=True)
        )
    assert read(path, CsvOptions(header=False)).column_names == ["column1", "column2", "column3"]
    assert read(path, CsvOptions(header=True)).column_names[:2] == ["Ann", "31"]
    assert "`names` lists 1" in refused(path, CsvOptions(header=False, names=("a",)))


def test_a_table_that_does_not_begin_in_the_first_cell(tmp_path: Path) -> None:
    rows = [[], [], [None, "name", "age", None], [None, "Ann", 31], [None, "Ben", 36]]
    path = workbook(tmp_path / "t.xlsx", {"S": rows})
    assert read(path).to_pydict() == {"name": ["Ann", "Ben"], "age": [31, 36]}


def test_names_in_numbers_are_texts(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", {"S": [["name", 2019, 2020], ["a", 1, 2], ["b", 3, 4]]})
    assert read(path).column_names == ["name", "2019", "2020"]


@pytest.mark.parametrize(
    "last",
    [
        ["Total", None, 100],
        ["TOTAL:", None, 7],
        ["Gesamt", 5, None],
        [None, None, 100],  # the sum of the others
        ["all in all", 10, 100],
    ],
)
def test_a_row_of_totals_is_asked_about(tmp_path: Path, last: list[Any]) -> None:
    rows = [["town", "n", "cost"], *([f"t{i}", i, 10 * i] for i in range(5))]
    path = workbook(tmp_path / "t.xlsx", {"S": [*rows, last]})
    message = refused(path)
    assert "row 7: the last row looks like a total of the others" in message
    assert "--footer 1" in message
    assert read(path, CsvOptions(footer=1)).num_rows == 5
    assert read(path, CsvOptions(footer=0)).num_rows == 6


def test_a_person_is_no_total(tmp_path: Path) -> None:
    rows = [["town", "n", "cost"], *([f"t{i}", i, 10 * i] for i in range(5))]
    for last in (["Totley", 3, 9], ["t9", None, 99], ["total hip replacement", 2, 3]):
        path = workbook(tmp_path / "t.xlsx", {"S": [*rows, last]})
        assert read(path).num_rows == 6


def test_wide_sheets(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(5000)]
    path = workbook(tmp_path / "t.xlsx", {"S": [names, list(range(5000))]})
    table = read(path)
    assert table.column_names == names
    assert table["c4999"].to_pylist() == [4999]


def test_open_document(tmp_path: Path) -> None:
    rows = [["name", "age", "born"], ["Ann & co", 31, D(1992, 5, 4)], ["Ben", 36.5, None]]
    path = open_document(tmp_path / "t.ods", "Blatt", rows)
    assert read(path).to_pydict() == {
        "name": ["Ann & co", "Ben"],
        "age": [31.0, 36.5],
        "born": [D(1992, 5, 4), None],
    }
    assert "encrypted with a password" in refused(
        open_document(tmp_path / "locked.ods", "Blatt", rows, locked=True)
    )


def test_a_workbook_of_old_excel(tmp_path: Path) -> None:
    rows = [["name", "age"], ["Ann", 31], ["Bé", 36.5]]
    path = old_workbook(tmp_path / "t.xls", "Daten", rows)
    assert read(path).to_pydict() == {"name": ["Ann", "Bé"], "age": [31.0, 36.5]}
    locked = old_workbook(tmp_path / "locked.xls", "Daten", rows, locked=True)
    assert "encrypted with a password" in refused(locked)


def test_a_mark_in_the_name_of_a_file(tmp_path: Path) -> None:
    """A file is a file, whatever its name."""
    path = workbook(tmp_path / "t.xlsx", {"S": [["a"], [1]]})
    for name in ("a#b.xlsx", "t.xlsx#S.xlsx"):
        path.rename(tmp_path / name)
        path = tmp_path / name
        assert read(path).to_pydict() == {"a": [1]}
    assert read(Path(f"{path}#S")).to_pydict() == {"a": [1]}


KINDS: dict[str, st.SearchStrategy[Any]] = {
    "whole": st.integers(-(10**9), 10**9),
    "fraction": st.decimals(-999, 999, places=3).map(float),
    "text": st.sampled_from(["a", "NA", "-", " b", "x y", "n/a", "Null", "#REF!"]),
    "digits": st.sampled_from(["1", "20", "-3", "007", "1.50", "2.5", "1e5"]),
    "day": st.dates(D(1950, 1, 1), D(2050, 1, 1)),
    "flag": st.booleans(),
}


@st.composite
def columns(draw: st.DrawFn) -> list[Any]:
    """Cells of one or two kinds, some of them blank."""
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=2))
    cell = st.one_of(st.none(), *(KINDS[kind] for kind in kinds))
    return draw(st.lists(cell, min_size=5, max_size=5))


def twin(cells: list[Any]) -> list[Any]:
    """What a person would write down, cell by cell: the plain reader."""

    def text(cell: Any) -> str | None:
        if cell is None or isinstance(cell, str):
            return cell
        if isinstance(cell, bool):
            return str(cell).lower()
        return cell.isoformat() if isinstance(cell, D) else f"{cell:.15g}"

    def canonical(cell: Any) -> bool:
        if isinstance(cell, str):
            return re.fullmatch(r"-?(0|[1-9]\d*)(\.\d*[1-9])?", cell) is not None
        return isinstance(cell, int | float) and not isinstance(cell, bool)

    known = [cell for cell in cells if cell is not None]
    if known and all(map(canonical, known)):
        return [None if cell is None else float(cell) for cell in cells]
    if len({type(cell) for cell in known}) <= 1:
        return cells
    return [text(cell) for cell in cells]


@settings(max_examples=40, deadline=None)
@given(st.lists(columns(), min_size=1, max_size=4))
def test_like_a_plain_reader(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[list[Any]]
) -> None:
    names = ["n", *(f"c{j}" for j in range(len(drawn)))]
    rows = [names, *([f"r{i}", *(column[i] for column in drawn)] for i in range(5))]
    path = workbook(tmp_path_factory.mktemp("any") / "t.xlsx", {"S": rows})
    table = read(path, CsvOptions(header=True, footer=0))
    for name, column in zip(names[1:], drawn, strict=True):
        assert table[name].to_pylist() == twin(column)


def test_only_xlsx_is_written(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", {"S": [["age"], *([i] for i in range(9))]})
    with pytest.raises(InputError, match=r"'.ods' can be read, but not written. Allowed: .csv"):
        shoal.run(
            path, {"columns": {"age": "quasi"}, "constraints": [{"k": 2}]}, tmp_path / "o.ods"
        )
    assert not (tmp_path / "o.ods").exists()


def test_the_same_table_is_the_same_file(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2], "b": ["x", None], "c": [D(2020, 1, 1), None]})
    for name in ("one.xlsx", "two.xlsx"):
        LocalFiles().write(table, tmp_path / name)
    assert (tmp_path / "one.xlsx").read_bytes() == (tmp_path / "two.xlsx").read_bytes()


def test_what_does_not_fit_into_a_cell(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="column 'note' has 40,000 characters; a cell holds 32,767"
    ):
        LocalFiles().write(pa.table({"note": ["x" * 40_000]}), tmp_path / "t.xlsx")
