"""Workbooks of Excel and OpenDocument: a sheet is a table, its first row has the names of the columns.

Cells have types: numbers, dates, times and truth values come as such, whatever their format on screen
(25 % is 0.25). A column of mixed cells is text. A sheet is read twice, by type and as text, because the
library silently leaves out cells that do not fit the type it chose; where a cell would be lost, the
column is text.
"""

import datetime
import math
import re
import string
import struct
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools
from shoal.engines.formats.base import BatchWriter, FileFormat, require_columns
from shoal.engines.formats.hidden_cells import hidden_cells
from shoal.errors import InputError, counted, listed, nearest
from shoal.hierarchy.text import text_of
from shoal.io.commit import final_path
from shoal.io.csv_dialect import CsvOptions
from shoal.io.header import (
    ROWS,
    TOTALS,
    check_names_are_no_data,
    has_these_names,
    repeated_names,
)

MOST_ROWS, MOST_COLUMNS, LONGEST_TEXT = 1_048_576, 16_384, 32_767
"""What a sheet can hold; the first row has the names."""
WHOLE = 2.0**53
EARLIEST = datetime.date(1900, 3, 1)
"""Before this day Excel counts one that there never was."""
OLE = bytes.fromhex("D0CF11E0A1B11AE1")
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
BEGIN_OF_BOOK, PASSWORD, FIRST_RECORDS = bytes.fromhex("0908100000060500"), 0x2F, 8
"""Records of old Excel; that of a password is among the first ones."""
CANONICAL = r"^-?(0|[1-9]\d{0,14})(\.\d{0,14}[1-9])?$"
"""A number as a program would write it: `007` and `1.50` are texts."""
MOMENT = r"^\d{4,}-\d\d-\d\d \d\d:\d\d:\d\d"
NO_DAY = (datetime.date(1899, 12, 30), datetime.date(1899, 12, 31))
"""The day of a cell that has only a time."""


@dataclass(frozen=True)
class _Sheet:
    """A sheet that was read."""

    name: str
    table: pa.Table
    warnings: tuple[str, ...]


class Excel(FileFormat):
    """Workbooks: .xlsx, .xlsm, .xlsb and .xls of Excel, and .ods; .xlsx is written too."""

    endings: ClassVar[tuple[str, ...]] = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
    written: ClassVar[tuple[str, ...]] = (".xlsx",)
    title: ClassVar[str] = "an Excel or OpenDocument workbook"
    extra: ClassVar[str] = "excel"
    packages: ClassVar[tuple[str, ...]] = ("fastexcel",)
    writer_packages: ClassVar[tuple[str, ...]] = ("xlsxwriter", "fastexcel")
    has_sheets: ClassVar[bool] = True
    costly: ClassVar[bool] = True
    exact: ClassVar[bool] = False

    def __init__(self) -> None:
        self._read: dict[tuple[Any, ...], _Sheet] = {}

    def settle(
        self, files: Sequence[Path], options: CsvOptions
    ) -> tuple[CsvOptions, tuple[str, ...]]:
        """The sheet, and warnings about what was found in it."""
        if len(files) > 1:
            raise InputError(
                f"{files[0].parent}: a table in several workbooks is not supported. Name one of them."
            )
        sheet = self._sheet(files[0], options)
        return replace(options, sheet=sheet.name), sheet.warnings

    def names(self, path: Path, options: CsvOptions) -> list[str]:
        """The names in the first row."""
        return list(self._sheet(path, options).table.column_names)

    def schema(self, path: Path, options: CsvOptions, columns: Sequence[str]) -> pa.Schema:
        """The types of some columns."""
        table = self._sheet(path, options).table
        return table.select(require_columns(path, table.column_names, columns)).schema

    def batches(
        self, path: Path, options: CsvOptions, columns: Sequence[str], size: int
    ) -> Iterator[pa.RecordBatch]:
        """Some columns; a sheet has a million rows at most, so it is read as a whole."""
        yield from self.read(path, options, columns).to_batches(max_chunksize=size)

    def read(self, path: Path, options: CsvOptions, columns: Sequence[str] | None) -> pa.Table:
        """The table of a sheet."""
        table = self._sheet(path, options).table
        self._read = {}  # nothing of a table stays in memory once it was handed over
        return table.select(require_columns(path, table.column_names, columns))

    def _sheet(self, path: Path, options: CsvOptions) -> _Sheet:
        """A sheet; the last one is kept, because options and names are asked for before the rows."""
        state = path.stat()
        how = (options.skip, options.footer, options.header, options.names)
        key = (path.absolute(), state.st_mtime_ns, state.st_size, *how, options.sheet)
        found = self._read.get(key)
        if found is None:
            found = _read_sheet(self, path, options)
            self._read = {key: found, (*key[:-1], found.name): found}
        return found

    def check_columns(self, path: Path, names: Sequence[str], rows: int | None = None) -> None:
        """Raise `InputError` for more than fits into a sheet."""
        if len(names) > MOST_COLUMNS or (rows is not None and rows >= MOST_ROWS):
            raise InputError(
                f"{final_path(path)}: a sheet holds {MOST_ROWS - 1:,} rows and {MOST_COLUMNS:,} columns "
                "below its names. Write CSV or Parquet."
            )

    @contextmanager
    def writer(
        self,
        path: Path,
        schema: pa.Schema,
        options: CsvOptions,  # noqa: ARG002
    ) -> Iterator[BatchWriter]:
        """A new workbook with one sheet that takes the table batch by batch."""
        import xlsxwriter
        from xlsxwriter.exceptions import FileCreateError

        self.check_columns(path, schema.names)
        with tempfile.TemporaryDirectory(prefix="shoal-") as folder:
            # texts stay texts, also those that look like formulas, numbers or addresses
            texts = dict.fromkeys(
                ("strings_to_formulas", "strings_to_numbers", "strings_to_urls"), False
            )
            how = {"constant_memory": True, "tmpdir": folder, **texts}
            book = xlsxwriter.Workbook(str(path), how)
            # the same release is the same file, whenever it is written
            book.set_properties({"created": datetime.datetime(2000, 1, 1)})
            try:
                yield _SheetWriter(self, path, book, schema.names)
                book.close()
            except (OSError, FileCreateError):
                raise InputError(
                    f"{final_path(path)} could not be written. Is the disk full?"
                ) from None
            except BaseException:
                with suppress(Exception):
                    book.close()  # closes its temporary files
                raise


def _read_sheet(kind: Excel, path: Path, options: CsvOptions) -> _Sheet:
    import fastexcel

    _refuse_encrypted(path)
    try:
        book = fastexcel.read_excel(path)
        name = _choose_sheet(book, path, options.sheet)
        loaded = book.load_sheet(name, header_row=None, skip_rows=0, dtypes="string")
        texts, failed = loaded.to_arrow_with_errors()
        found = _table_of(path, name, book, _Texts(texts, failed), options)
        return replace(found, warnings=(*found.warnings, *_unseen(path, name)))
    except fastexcel.FastExcelError as error:
        if "password" in str(error).lower():
            raise _encrypted(path) from None
        raise kind.damaged(path) from None
    except OSError:
        raise kind.damaged(path) from None


def _unseen(path: Path, sheet: str) -> Iterator[str]:
    """A warning of rows and columns that are hidden."""
    rows, columns = hidden_cells(path, sheet)
    if rows:
        yield (
            f"Sheet '{sheet}': {counted(rows, 'hidden row')} (by a filter or by hand) "
            f"{'was' if rows == 1 else 'were'} read like all others. Delete what is not to be in the "
            "table in the workbook."
        )
    if columns:
        yield f"Sheet '{sheet}': hidden columns were read like all others."


def _refuse_encrypted(path: Path) -> None:
    """Raise `InputError` for a workbook with a password."""
    with path.open("rb") as stream:
        head = stream.read(len(OLE))
        rest = stream.read() if head == OLE else b""
    if ENCRYPTED in rest or _has_password_record(rest):
        raise _encrypted(path)
    if path.suffix.lower() == ".ods" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as parts:
            manifest = "META-INF/manifest.xml"
            if manifest in parts.namelist() and b"encryption-data" in parts.read(manifest):
                raise _encrypted(path)


def _has_password_record(book: bytes) -> bool:
    """Whether a workbook of old Excel says that it has a password: in one of its first records."""
    at = book.find(BEGIN_OF_BOOK)
    for _ in range(FIRST_RECORDS if at >= 0 else 0):
        kind, length = struct.unpack_from("<HH", book, at) if at + 4 <= len(book) else (0, 0)
        if kind == PASSWORD:
            return True
        at += 4 + length
    return False


def _encrypted(path: Path) -> InputError:
    return InputError(
        f"{path} is encrypted with a password. Open it and save it without one, or save the sheet as "
        "CSV."
    )


def _choose_sheet(book: Any, path: Path, wanted: str | None) -> str:
    """The name of the sheet to read."""
    names = list(book.sheet_names)
    how = f"--sheet NAME, `read: {{sheet: NAME}}` in the policy, or {path.name}#NAME"
    if wanted is not None:
        folded = [name for name in names if name.strip().casefold() == wanted.strip().casefold()]
        if wanted in names or len(folded) == 1:
            return wanted if wanted in names else folded[0]
        if wanted.isdigit() and 1 <= int(wanted) <= len(names):
            return names[int(wanted) - 1]
        raise InputError(
            f"{path} has no sheet '{wanted}'.{nearest(wanted, names)} Its sheets: {listed(names, 30)}; "
            f"they can also be given by number, from 1 to {len(names)}."
        )
    if len(names) == 1:
        return names[0]
    filled = [name for name in names if _is_filled(book, name)]
    shown = [name for name in filled if book.load_sheet(name, n_rows=1).visible == "visible"]
    if len(shown or filled) == 1:
        return (shown or filled)[0]
    if not filled:
        raise InputError(f"{path} has no sheet with anything in it.")
    raise InputError(
        f"{path} has {len(filled)} sheets with data: {listed(filled, 30)}. Choose one with {how}."
    )


def _is_filled(book: Any, name: str) -> bool:
    sheet = book.load_sheet(name, header_row=None, n_rows=1, dtypes="string")
    return bool(sheet.width)


class _Texts:
    """Every cell of a sheet as text, missing where it is blank."""

    def __init__(self, cells: pa.RecordBatch, failed: Any) -> None:
        self.columns = [_blank_as_missing(column) for column in cells.columns]
        self.n_rows = cells.num_rows
        self.errors = [] if failed is None else [error.offset_position for error in failed.errors]

    @property
    def blank(self) -> Bools:
        """(n,) whether all cells of a row are blank."""
        rows = np.ones(self.n_rows, np.bool_)
        for column in self.columns:
            rows &= column.is_null().to_numpy(zero_copy_only=False)
        for row, _ in self.errors:
            rows[row] = False
        return rows


def _blank_as_missing(column: pa.Array) -> pa.Array:
    column = column.cast(pa.string())
    return pc.if_else(pc.equal(pc.utf8_trim_whitespace(column), ""), None, column)


def _table_of(path: Path, sheet: str, book: Any, cells: _Texts, options: CsvOptions) -> _Sheet:
    where = f"{path}, sheet '{sheet}'"
    skip, blank = options.skip or 0, cells.blank
    filled = np.flatnonzero(~blank)
    filled = filled[filled >= skip]
    if not len(filled):
        raise InputError(f"{where} is empty. A table needs at least its column names.")
    first = int(filled[0])
    has_names = _has_names(f"{where}, row {first + 1}:", cells, filled, options)
    begin = first + 1 if has_names else first
    used = [
        i
        for i, column in enumerate(cells.columns)
        if column[begin:].null_count < len(column) - begin
    ]
    used = used if len(filled) > 1 else list(range(len(cells.columns)))
    if has_names:
        named = [cells.columns[i][first].as_py() for i in range(len(cells.columns))]
        used = [i for i, name in enumerate(named) if name is not None or i in used]
        names = _names(where, first + 1, [named[i] for i in used], options)
        again = np.ones(cells.n_rows - begin, np.bool_)
        for i in used:
            alike = pc.equal(cells.columns[i][begin:], named[i])
            again &= pc.fill_null(alike, False).to_numpy(zero_copy_only=False)
        if len(used) > 1 and again.any():
            raise repeated_names(f"{where}, row {begin + int(np.argmax(again)) + 1}")
    else:
        names = _given_names(where, len(used), options)
    rows = np.flatnonzero(~blank[begin:])
    warnings = list(_warnings_of_rows(sheet, begin, rows, cells, names, used))
    typed = _typed_columns(book, sheet, begin, cells, used)
    columns, stored_as_text = [], []
    for name, i in zip(names, used, strict=True):
        column = typed[i].take(pa.array(rows))
        number = _as_number(column)
        if number is not None:
            stored_as_text.append(name)
        columns.append(column if number is None else number)
    if stored_as_text:
        warnings.append(
            f"Sheet '{sheet}': numbers are stored as text in {listed(map(repr, stored_as_text))}; they "
            "were read as numbers."
        )
    table = pa.table(columns, names=names)
    return _Sheet(sheet, _without_totals(where, begin, rows, table, options), tuple(warnings))


def _has_names(where: str, cells: _Texts, filled: Any, options: CsvOptions) -> bool:
    """Whether the first row has names; an `InputError` asks where it looks like data."""
    if options.header is not None:
        return options.header
    rows = [
        [
            "" if column[int(i)].as_py() is None else column[int(i)].as_py()
            for column in cells.columns
        ]
        for i in filled[: ROWS + 1]
    ]
    if options.names is not None:
        return has_these_names([text for text in rows[0] if text], options.names)
    check_names_are_no_data(f"{where} it", rows[0], [row for row in rows[1:] if row != rows[0]])
    return True


def _names(where: str, row: int, found: list[str | None], options: CsvOptions) -> list[str]:
    """The names of the columns, in row `row` of the sheet (from 1)."""
    if options.names is not None:
        return _given_names(where, len(found), options)
    hint = (
        "Every column needs a name in one cell of one row: of merged cells only the first has one. "
        "Where a title stands above the table, leave its rows out with --skip N (`read: {skip: N}` in "
        "the policy)."
    )
    nameless = [str(i) for i, name in enumerate(found, 1) if name is None]
    if nameless:
        raise InputError(f"{where}, row {row}: no name for column {listed(nameless)}. {hint}")
    names = [str(name) for name in found]
    if any(times > 1 for times in Counter(names).values()):
        places = [
            " and ".join(str(i) for i, name in enumerate(names, 1) if name == one)
            for one, times in Counter(names).items()
            if times > 1
        ]
        raise InputError(f"{where}, row {row}: columns {listed(places)} have the same name. {hint}")
    return names


def _given_names(where: str, columns: int, options: CsvOptions) -> list[str]:
    if options.names is None:
        return [f"column{i}" for i in range(1, columns + 1)]
    if len(options.names) != columns:
        raise InputError(
            f"{where} has {counted(columns, 'column')}, but `names` lists {len(options.names)}."
        )
    return list(options.names)


def _warnings_of_rows(
    sheet: str, begin: int, rows: Any, cells: _Texts, names: list[str], used: list[int]
) -> Iterator[str]:
    # blank rows after the last one are no part of the sheet
    blank = int(rows[-1]) + 1 - len(rows) if len(rows) else 0
    if blank:
        yield f"Sheet '{sheet}': {counted(blank, 'blank row')} between others left out."
    failed = Counter(column for row, column in cells.errors if row >= begin)
    for i, times in sorted(failed.items()):
        if i in used:
            yield (
                f"Sheet '{sheet}': column '{names[used.index(i)]}' has {counted(times, 'cell')} with an "
                "error such as #N/A or #DIV/0!, read as missing."
            )


def _typed_columns(
    book: Any, sheet: str, begin: int, cells: _Texts, used: list[int]
) -> dict[int, pa.Array]:
    """Every used column in the type of its cells, or as text where they are mixed."""
    if begin >= cells.n_rows:
        return {i: pa.array([], pa.string()) for i in used}
    names = [f"c{i}" for i in range(len(cells.columns))]
    how = {"header_row": None, "skip_rows": begin, "column_names": names}
    # a column without values has no type that the library could find
    blank: Any = {
        i: "string"
        for i, column in enumerate(cells.columns)
        if column[begin:].null_count == len(column) - begin
    }
    by_type = book.load_sheet(
        sheet, schema_sample_rows=None, dtypes=blank or None, **how
    ).to_arrow()
    found = {i: _of_type(by_type.column(i), cells.columns[i][begin:]) for i in used}
    mixed = [i for i, column in found.items() if column is None]
    numbers = None
    if mixed:  # the library writes numbers as text with nine decimals at most
        dtypes: Any = {i: "float" if i in mixed else "string" for i in range(len(names))}
        numbers = book.load_sheet(sheet, dtypes=dtypes, **how).to_arrow()
    return {
        i: _mixed(cells.columns[i][begin:], numbers.column(i))
        if column is None and numbers is not None
        else column
        for i, column in found.items()
    }


def _of_type(column: pa.Array, texts: pa.Array) -> pa.Array | None:
    """A column as the library typed it; None where its cells are mixed."""
    kind = column.type
    if pa.types.is_null(kind) or texts.null_count == len(texts):
        return texts
    if pa.types.is_string(kind):
        # the library may have turned other cells into texts
        written = pc.or_(
            pc.match_substring_regex(texts, CANONICAL), pc.match_substring_regex(texts, MOMENT)
        )
        return None if pc.any(written).as_py() else texts
    if column.null_count != texts.null_count:
        return None
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        numbers = pc.match_substring_regex(texts, r"^-?\d+(\.\d+)?$")
        return _whole(column.cast(pa.float64())) if pc.all(numbers).as_py() else None
    if pa.types.is_timestamp(kind):
        moments = pc.match_substring_regex(texts, MOMENT)
        return _dates(column) if pc.all(moments).as_py() else None
    return column


def _mixed(texts: pa.Array, numbers: pa.Array) -> pa.Array:
    """Cells of several types as text: numbers with all their digits, dates in ISO form."""
    exact = text_of(_whole(numbers.cast(pa.float64()))).to_pylist()
    found = [
        full if number is not None and text == _nine_decimals(number) else _without_midnight(text)
        for text, number, full in zip(texts.to_pylist(), numbers.to_pylist(), exact, strict=True)
    ]
    return pa.array(found, pa.string())


def _nine_decimals(number: float) -> str:
    text = f"{number:.9f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _without_midnight(text: str | None) -> str | None:
    if text is None or not re.match(MOMENT, text):
        return text
    day, _, time = text.partition(" ")
    return day if time == "00:00:00" else time if day in map(str, NO_DAY) else f"{day}T{time}"


def _whole(numbers: pa.Array) -> pa.Array:
    """Numbers as whole ones, if all are."""
    small = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less(pc.abs(numbers), WHOLE))
    return numbers.cast(pa.int64()) if pc.all(small).as_py() in (True, None) else numbers


def _dates(moments: pa.Array) -> pa.Array:
    """Moments as dates, or as times of day, if all are."""
    days = moments.cast(pa.date32(), safe=False)
    if all(day in NO_DAY for day in pc.unique(days.drop_null()).to_pylist()):
        return moments.cast(pa.time64("us"), safe=False)
    at_midnight = pc.all(pc.equal(days.cast(moments.type), moments)).as_py()
    return days if at_midnight else moments


def _as_number(column: pa.Array) -> pa.Array | None:
    """A column of text as numbers, if every text is one as a program would write it."""
    if not pa.types.is_string(column.type) or column.null_count == len(column):
        return None
    if not pc.all(pc.match_substring_regex(column, CANONICAL)).as_py():
        return None
    numbers = column.cast(pa.float64())
    same = pc.all(pc.equal(text_of(numbers), column)).as_py()
    return _whole(numbers) if same else None


def _without_totals(
    where: str, begin: int, rows: Any, table: pa.Table, options: CsvOptions
) -> pa.Table:
    """The table without its footer; raises `InputError` where the last row may be a total."""
    if options.footer is not None:
        if options.footer > table.num_rows:
            raise InputError(
                f"{where}: `footer` is {options.footer}, but there are {table.num_rows} rows."
            )
        return table.slice(0, table.num_rows - options.footer)
    if is_total(table):
        raise InputError(
            f"{where}, row {begin + int(rows[-1]) + 1}: the last row looks like a total of the others. "
            "Leave it out with --footer 1 (`read: {footer: 1}` in the policy), or keep it with "
            "--footer 0."
        )
    return table


def is_total(table: pa.Table) -> bool:
    """Whether the last row looks like a total: by a word in it, or by the sums of the numbers."""
    if table.num_rows < 3:
        return False
    last = table.slice(table.num_rows - 1)
    texts, sums, numbers = [], 0, 0
    for column, cell in zip(table.columns, last.columns, strict=True):
        value = cell[0].as_py()
        if pa.types.is_string(column.type):
            texts.append(value)
        elif (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)) and value:
            numbers += 1
            total = pc.sum(column.slice(0, table.num_rows - 1)).as_py()
            sums += total is not None and math.isclose(total, value, rel_tol=1e-9)
    words = {_word(text) for text in texts if text is not None}
    if words & TOTALS:
        return True
    named = [text for text in texts if text is not None]
    return (
        table.num_rows >= 5 and sums > 0 and sums == numbers and len(texts) > 0 and len(named) <= 1
    )


def _word(text: str) -> str:
    """The letters of a short text."""
    letters = text.casefold().strip(string.punctuation + string.whitespace + string.digits)
    return letters.replace(" ", "")


class _SheetWriter:
    """A sheet that takes batches; the types of cells are those of the values."""

    def __init__(self, kind: Excel, path: Path, book: Any, names: Sequence[str]) -> None:
        self._kind, self._path, self._names, self._rows = kind, path, list(names), 1
        self._sheet = book.add_worksheet("Release")
        self._formats = {
            datetime.datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"}),
            datetime.date: book.add_format({"num_format": "yyyy-mm-dd"}),
            datetime.time: book.add_format({"num_format": "hh:mm:ss"}),
        }
        for j, name in enumerate(names):
            self._write_text(0, j, name)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        self._kind.check_columns(self._path, self._names, self._rows + batch.num_rows - 1)
        columns = [_cells_of(column) for column in batch.columns]
        for row in zip(*columns, strict=True):
            for j, value in enumerate(row):
                if value is not None:
                    self._write(self._rows, j, value)
            self._rows += 1

    def _write(self, row: int, column: int, value: Any) -> None:
        if isinstance(value, str):
            self._write_text(row, column, value)
        elif isinstance(value, bool):
            self._sheet.write_boolean(row, column, value)
        elif isinstance(value, float):
            self._sheet.write_number(row, column, value)
        else:
            self._sheet.write_datetime(row, column, value, self._formats[type(value)])

    def _write_text(self, row: int, column: int, text: str) -> None:
        if len(text) > LONGEST_TEXT:
            raise InputError(
                f"{final_path(self._path)}: a text of column '{self._names[column]}' has {len(text):,} "
                f"characters; a cell holds {LONGEST_TEXT:,}. Write CSV or Parquet."
            )
        if text:
            self._sheet.write_string(row, column, text)


class _Exact(float):
    """A number that is written with all its digits; the library writes 16 of them."""

    def __format__(self, how: str) -> str:
        return repr(float(self)).upper()


def _cells_of(column: pa.Array) -> list[Any]:
    """Values as a sheet holds them; what it has no type for, or not exactly, as text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _cells_of(column.dictionary_decode())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        texts = text_of(column).to_pylist()
        return [_number(v, t) for v, t in zip(column.to_pylist(), texts, strict=True)]
    if pa.types.is_boolean(kind):
        return column.to_pylist()
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        texts = text_of(column).to_pylist()
        fine = kind.unit in ("s", "ms", "us") if not pa.types.is_date(kind) else True
        zoned = pa.types.is_timestamp(kind) and kind.tz is not None
        if zoned or not fine:
            return texts
        return [_moment(v, t) for v, t in zip(column.to_pylist(), texts, strict=True)]
    return text_of(column).to_pylist()


def _number(value: float | Decimal | None, text: str | None) -> Any:
    """A number, or its text where a float is another number; a decimal of 15 digits never is."""
    if value is None or math.isnan(value):
        return None
    short = isinstance(value, Decimal) and len(value.as_tuple().digits) <= 15
    exact = isinstance(value, float) or short or Decimal(float(value)) == value
    return _Exact(value) if math.isfinite(value) and exact else text


def _moment(value: Any, text: str | None) -> Any:
    if value is None:
        return None
    day = value.date() if isinstance(value, datetime.datetime) else value
    early = isinstance(day, datetime.date) and day < EARLIEST
    fine = not isinstance(value, datetime.date) or isinstance(value, datetime.datetime)
    exact = not fine or value.microsecond % 1000 == 0
    return value if exact and not early else text
