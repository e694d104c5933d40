"""Rows and columns of a workbook that Excel does not show, by a filter or because somebody hid them.

They are read like others: what is hidden is still in the file. But who looks at the workbook does not
see that these people are in the table, so a run says how many there are.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

BLOCK = 1 << 20
LONGEST_TAG = 1 << 12
"""Bytes of a tag at most, as far as it is looked at."""
LONGEST_LIST = 1 << 24
"""Bytes of the list of sheets at most."""
HIDDEN = rb"""\shidden\s*=\s*["'](?:1|true)["']"""
ROW = re.compile(rb"<(?:\w+:)?row\b[^>]*" + HIDDEN)
COLUMN = re.compile(rb"<(?:\w+:)?col\b[^>]*" + HIDDEN)
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def hidden_cells(path: Path, sheet: str) -> tuple[int, bool]:
    """How many rows of a sheet of an .xlsx or .xlsm file are hidden, and whether any column is."""
    if path.suffix.lower() not in (".xlsx", ".xlsm") or not zipfile.is_zipfile(path):
        return 0, False
    rows, columns = 0, False
    try:
        with zipfile.ZipFile(path) as parts:
            name = _part_of(parts, sheet)
            for text in _texts(parts, name) if name else ():
                rows += len(ROW.findall(text))
                columns = columns or COLUMN.search(text) is not None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        pass  # whether the file is damaged is for its reader to say
    return rows, columns


def _texts(parts: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """A part of the file in pieces that end with a tag."""
    kept = b""
    with parts.open(name) as stream:
        while block := stream.read(BLOCK):
            text = kept + block
            end = text.rfind(b">") + 1
            kept = text[end:][-LONGEST_TAG:]
            yield text[:end]


def _part_of(parts: zipfile.ZipFile, sheet: str) -> str | None:
    """The name of the part with a sheet; None where the file does not say."""
    try:
        named = ("xl/workbook.xml", "xl/_rels/workbook.xml.rels")
        if sum(parts.getinfo(name).file_size for name in named) > LONGEST_LIST:
            return None
        book, related = (ElementTree.fromstring(parts.read(name)) for name in named)
    except (KeyError, ElementTree.ParseError):
        return None
    ids = [one.get(RELATION) for one in book.iter() if one.get("name") == sheet]
    targets = {one.get("Id"): one.get("Target") for one in related}
    target = targets.get(ids[0]) if ids else None
    name = target and (target.lstrip("/") if target.startswith("/") else f"xl/{target}")
    return name if name in parts.namelist() else None
