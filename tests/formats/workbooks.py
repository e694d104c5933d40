"""Workbooks made for the tests, cell by cell."""

import datetime as dt
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
