"""A hierarchy from a CSV file: one row per leaf, the leaf first, then its ancestors.

This is the usual form of hierarchy files, so those of other tools can be read without changes.
"""

import csv
import io
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
from pydantic.dataclasses import dataclass

from shoal.arrays import Codes
from shoal.errors import HierarchyError, nearest
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.tree import HierarchyTree, codes_of, from_paths

SEPARATORS = (";", "\t", ",")
"""The first one wins when several occur in every row: a comma is more likely part of a label."""
SAMPLE_ROWS = 1000
SHAPE = "Each line is a leaf, then its ancestors up to the top, such as 'apple;fruit;*'"


@dataclass(frozen=True, repr=False)
class CsvFile(Hierarchy):
    """A file with a line per leaf: `apple;fruit;*`."""

    path: str
    """The file; a relative path starts at the policy's folder."""
    separator: str | None = None
    """The character between fields; detected when left out."""

    policy_keys: ClassVar = {"csv": "path", "separator": "separator"}
    allowed: ClassVar = "the path of a file, with 'separator' one character"

    def __post_init__(self) -> None:
        if not self.path.strip():
            raise HierarchyError("csv: found an empty path; give the path of a hierarchy file.")
        if self.separator is not None and len(self.separator) != 1:
            raise HierarchyError(
                f"csv: found the separator {self.separator!r}; allowed is one character, such as "
                "';' or ','."
            )

    def build(self, values: pa.Array, column: str, folder: Path) -> tuple[HierarchyTree, Codes]:
        """The hierarchy in the file, and the leaf of each value or -1."""
        text = _read_text(folder / self.path, self.path, column)
        separator = self.separator or find_separator(text)
        rows, lines = _split(text, separator, self.path)
        if not rows:
            raise HierarchyError(
                f"{self.path}, the hierarchy of column '{column}', has no line with a leaf. {SHAPE}."
            )
        _check_shape(rows, lines, separator, self.path)
        tree = from_paths(rows, self.path, lines)
        return tree, codes_of(values, tree)

    def to_plain(self) -> str | dict[str, str]:
        """The path alone where the separator is detected."""
        if self.separator is None:
            return self.path
        return {"csv": self.path, "separator": self.separator}

    def __repr__(self) -> str:
        separator = "" if self.separator is None else f", separator={self.separator!r}"
        return f"Hierarchy.from_csv({self.path!r}{separator})"


def find_separator(text: str) -> str:
    """The separator that occurs in the most of the first rows."""
    counts = {}
    for separator in SEPARATORS:
        try:
            rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
            counts[separator] = sum(len(row) > 1 for row in islice(rows, SAMPLE_ROWS))
        except csv.Error:
            counts[separator] = 0
    return max(SEPARATORS, key=counts.__getitem__)


def _read_text(path: Path, name: str, column: str) -> str:
    role = f"the hierarchy of column '{column}'"
    if path.is_dir():
        raise HierarchyError(f"{name}, {role}, is a directory. Give the path of a CSV file.")
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        siblings = [p.name for p in path.parent.glob("*.*")] if path.parent.is_dir() else []
        raise HierarchyError(
            f"{name}, {role}, is not in {path.parent.resolve()}.{nearest(path.name, siblings)} Give "
            "its path from the policy's folder, or a full path."
        ) from None
    except OSError as error:
        raise HierarchyError(
            f"{name}, {role}, cannot be read: {error.strerror}. Check the path and its permissions."
        ) from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise HierarchyError(
            f"{name} line {line} is not UTF-8, the encoding of hierarchy files. Save the file as "
            "UTF-8."
        ) from None
    if not text.strip():
        raise HierarchyError(f"{name}, {role}, is empty. {SHAPE}.")
    return text


def _split(text: str, separator: str, name: str) -> tuple[list[list[str]], list[int]]:
    """The rows that are not blank, and the line on which each begins."""
    rows, lines, line = [], [], 1
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for row in reader:
            if row and row != [""]:
                # a leaf is compared with values as it is; labels lose the blanks around them
                rows.append([row[0], *(label.strip() for label in row[1:])])
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise HierarchyError(
            f"{name} line {line}: {error}. Close every quote that opens a field, and write a quote "
            'inside one twice ("").'
        ) from None
    return rows, lines


def _check_shape(
    rows: Sequence[Sequence[str]], lines: Sequence[int], separator: str, name: str
) -> None:
    width = len(rows[0])
    for row, line in zip(rows, lines, strict=True):
        if len(row) != width:
            raise HierarchyError(
                f"{name} line {line} has {len(row)} field{'s' * (len(row) > 1)}, {width} "
                f"expected as in line {lines[0]} (separator {separator!r}). "
                f"{SHAPE}, equally many in every line."
            )
        if "" in row:
            at = row.index("")
            what = f"field {at + 1}" if at else "the leaf"
            raise HierarchyError(f"{name} line {line}: {what} is empty. {SHAPE}.")
