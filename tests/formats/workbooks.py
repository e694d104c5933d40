"""Workbooks made for the tests, cell by cell."""

import datetime as dt
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import xlsxwriter

FORMATS = {dt.datetime: "dd.mm.yyyy hh:mm", dt.date: "dd/mm/yyyy", dt.time: "hh:mm"}


def workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[Any]]], **options: Any) -> Path:
    """Write rows of cells; `hidden` names sheets, `merged` has ranges by sheet, such as 'B1:C1'."""
    book = xlsxwriter.Workbook(str(path), {"strings_to_formulas": False})
    formats = {kind: book.add_format({"num_format": text}) for kind, text in FORMATS.items()}
    percent = book.add_format({"num_format": "0%"})
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        if name in options.get("hidden", ()):
            sheet.hide()
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                if type(value) in formats:
                    sheet.write_datetime(i, j, value, formats[type(value)])
                elif isinstance(value, Percent):
                    sheet.write_number(i, j, value, percent)
                elif isinstance(value, Failed):
                    sheet.write_formula(i, j, "=1/0", None, "#DIV/0!")
                elif value is not None:
                    sheet.write(i, j, value)
        for cells in options.get("merged", {}).get(name, ()):
            sheet.merge_range(cells, "merged")
    book.close()
    return path


class Percent(float):
    """A number that is shown as a percentage."""


class Failed:
    """A formula that divides by zero."""


def open_document(
    path: Path, name: str, rows: Sequence[Sequence[Any]], locked: bool = False
) -> Path:
    """Write an OpenDocument sheet by hand; `locked`: as if it were encrypted."""

    def cell(value: Any) -> str:
        if value is None:
            return "<table:table-cell/>"
        if isinstance(value, dt.date):
            kind = f'office:value-type="date" office:date-value="{value.isoformat()}"'
        elif isinstance(value, str):
            kind = 'office:value-type="string"'
        else:
            kind = f'office:value-type="float" office:value="{value}"'
        text = escape(str(value))
        return f"<table:table-cell {kind}><text:p>{text}</text:p></table:table-cell>"

    lines = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    spaces = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{short}:1.0"'
        for short in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces}><office:body>'
        f'<office:spreadsheet><table:table table:name="{name}">{lines}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = "<manifest:encryption-data/>" if locked else "<manifest:manifest/>"
    with zipfile.ZipFile(path, "w") as parts:
        parts.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        parts.writestr("META-INF/manifest.xml", manifest)
        parts.writestr("content.xml", content)
    return path


def old_workbook(
    path: Path, name: str, rows: Sequence[Sequence[Any]], locked: bool = False
) -> Path:
    """Write a sheet of Excel 97 (BIFF8 in a compound file) by hand; `locked`: with a password."""

    def record(kind: int, body: bytes = b"") -> bytes:
        return struct.pack("<HH", kind, len(body)) + body

    def begin(kind: int) -> bytes:
        return record(0x809, struct.pack("<HHHHII", 0x600, kind, 0x0DBB, 1996, 0, 6))

    def cell(i: int, j: int, value: Any) -> bytes:
        if isinstance(value, str):
            text = value.encode("utf-16-le")
            return record(0x204, struct.pack("<HHHHB", i, j, 0, len(value), 1) + text)
        return record(0x203, struct.pack("<HHHd", i, j, 0, value))

    sheet = begin(0x10) + record(0x200, struct.pack("<IIHHH", 0, len(rows), 0, len(rows[0]), 0))
    sheet += b"".join(cell(i, j, v) for i, row in enumerate(rows) for j, v in enumerate(row))
    sheet += record(0x0A)
    title = name.encode("latin-1")
    password = record(0x2F, struct.pack("<HHH", 0, 1, 1)) if locked else b""
    size = len(begin(5)) + len(password) + 4 + 8 + len(title) + 4
    bound = record(0x85, struct.pack("<IBBBB", size, 0, 0, len(title), 0) + title)
    stream = begin(5) + password + bound + record(0x0A) + sheet
    stream = stream.ljust(-(-max(len(stream), 4096) // 512) * 512, b"\0")
    n = len(stream) // 512
    # sector 0 is the allocation table, 1 the directory, the stream follows
    table = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, n + 2), 0xFFFFFFFE]
    table += [0xFFFFFFFF] * (128 - len(table))

    def entry(title: str, kind: int, child: int, start: int, length: int) -> bytes:
        text = title.encode("utf-16-le") + b"\0\0"
        head = text.ljust(64, b"\0") + struct.pack("<HBB", len(text), kind, 1)
        links = struct.pack("<III", 0xFFFFFFFF, 0xFFFFFFFF, child)
        return head + links + bytes(36) + struct.pack("<IQ", start, length)

    empty = bytes(68) + struct.pack("<III", *[0xFFFFFFFF] * 3) + bytes(48)
    folder = entry("Root Entry", 5, 1, 0xFFFFFFFE, 0) + entry(
        "Workbook", 2, 0xFFFFFFFF, 2, len(stream)
    )
    header = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(16)
    header += struct.pack(
        "<HHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0
    )
    header += struct.pack("<I", 0) + b"\xff" * 4 * 108
    path.write_bytes(header + struct.pack("<128I", *table) + folder + empty * 2 + stream)
    return path
