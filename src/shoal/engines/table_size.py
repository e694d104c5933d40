"""How much memory a table takes, estimated before it is read.

A file says little of its table by its own size: 400 kB of gzip may be 100 million rows. What is read is
estimated from the number of rows and fields and the bytes of the text, as far as these can be found
without keeping any of it; counting stops as soon as the ceiling is passed.
"""

import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from shoal.engines.formats.base import format_of
from shoal.engines.formats.csv import Csv
from shoal.errors import InputError, counted, format_memory
from shoal.io.csv_dialect import open_bytes
from shoal.io.paths import is_gzipped

PER_ROW, PER_CELL, PER_BYTE = 150, 30, 6
"""Bytes that a run in memory takes at its peak: for a row, for each of its cells, and for each byte of
their text. Measured on tables of 2 to 10 columns of short and long texts; rounded up."""
MOST_GZIPPED = 1_032
"""Bytes of text that one byte of gzip may hold."""
BLOCK = 1 << 20
LINE_FEED, RETURN = ord("\n"), ord("\r")
SMALLEST_CELL = 20
"""Bytes that a cell takes in the XML of a workbook, at the least."""
CONTAINER = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def machine_memory() -> int:
    """The bytes of this machine, or those that its container allows; 0 if unknown."""
    try:
        limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):
        return 0
    for file in CONTAINER:
        try:
            text = file.read_text().strip()
        except (OSError, ValueError):
            continue
        if text.isdigit():
            limits.append(int(text))
    return min(limits)


def memory_ceiling() -> int | None:
    """The most bytes that a table may take in memory: half of the machine; None if that is unknown."""
    return machine_memory() // 2 or None


@dataclass(frozen=True)
class TableSize:
    """The size of a table, or what was found of it when counting stopped."""

    rows: int
    text: int
    """Bytes of its text."""
    whole: bool = True
    """Whether all of it was counted."""

    def memory(self, columns: int) -> int:
        """Bytes that a run on so many of its columns takes at its peak."""
        return self.rows * (PER_ROW + PER_CELL * columns) + self.text * PER_BYTE


def table_size(path: Path, columns: int, ceiling: int) -> TableSize | None:
    """The size of the table in a file; None where only reading it would show.

    columns: how many are read. ceiling: counting stops where a run would take more bytes.
    """
    found = path.stat()
    return _size(path, found.st_size, found.st_mtime_ns, columns, ceiling)


@lru_cache(maxsize=16)
def _size(path: Path, size: int, _changed: int, columns: int, ceiling: int) -> TableSize | None:
    kind = format_of(path)
    if kind.in_lines:
        # a row is a byte at the least for each column of a CSV file, and two in JSON, and its end
        shortest = max(columns, 2) if isinstance(kind, Csv) else 3
        return _size_of_lines(
            path, size * (MOST_GZIPPED if is_gzipped(path) else 1), shortest, columns, ceiling
        )
    rows = kind.rows(path)
    if rows is not None:
        return TableSize(rows, kind.text_size(path, ceiling // PER_BYTE))
    if kind.has_sheets:
        return _workbook_size(path)
    return None


def _size_of_lines(path: Path, most: int, shortest: int, columns: int, ceiling: int) -> TableSize:
    """most: bytes that the text may have. shortest: bytes of a row at the least."""
    if (worst := TableSize(most // shortest + 1, most)).memory(columns) <= ceiling:
        return worst
    rows = text = 0
    with open_bytes(path) as stream:
        while block := stream.read(BLOCK):
            # many lines are counted sooner by comparing every byte than by looking for the next one
            data = np.frombuffer(block, np.uint8)
            rows += int(np.count_nonzero(data == LINE_FEED) or np.count_nonzero(data == RETURN))
            text += len(block)
            if TableSize(rows, text).memory(columns) > ceiling:
                return TableSize(rows, text, whole=False)
    return TableSize(rows, text)


def _workbook_size(path: Path) -> TableSize | None:
    try:
        with zipfile.ZipFile(path) as archive:
            sheets = [
                one.file_size for one in archive.infolist() if "sheet" in one.filename.lower()
            ]
            text = sum(one.file_size for one in archive.infolist())
    except (zipfile.BadZipFile, OSError):
        return None  # an old workbook, or none at all
    return TableSize(max(sheets, default=0) // SMALLEST_CELL, text)


def too_large(path: Path, columns: int) -> str:
    """Why a table does not fit into memory, in words; empty where it does."""
    ceiling = memory_ceiling()
    size = None if ceiling is None else table_size(path, columns, ceiling)
    if ceiling is None or size is None or size.memory(columns) <= ceiling:
        return ""
    found = "more than " * (not size.whole) + format_memory(size.memory(columns))
    rows = ("at least " * (not size.whole)) + counted(size.rows, "row")
    return (
        f"{path} would take {found} of memory ({rows}, {counted(columns, 'column')}), but at most "
        f"{format_memory(ceiling)}, half of this machine's, is used"
    )


def require_fits(path: Path, columns: Sequence[str]) -> None:
    """Raise `InputError` for a table that would not fit into memory."""
    if words := too_large(path, len(columns)):
        raise InputError(
            f"{words}. Work on disk with --memory {limit_words()} (in Python memory=), where the "
            "command has it, or take fewer columns or a sample of the rows."
        )


def limit_words() -> str:
    """The ceiling as a size for `--memory`."""
    return f"{max(1, (memory_ceiling() or 0) // 1_000_000_000)}GB"
