"""Paths of files: their extension, and whether they can be read."""

import os
from pathlib import Path

from shoal.errors import InputError, nearest


def ending_of(path: Path) -> str:
    """The extension that decides the format, in lower case: '.csv', '.csv.gz', '.parquet', ..."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    gzipped = len(suffixes) > 1 and suffixes[-1] == ".gz"
    return "".join(suffixes[-2:] if gzipped else suffixes[-1:])


def is_gzipped(path: Path) -> bool:
    """Whether the file is gzipped."""
    return path.suffix.lower() == ".gz"


def check_readable(path: Path) -> None:
    """Raise an InputError unless `path` is a readable file that is not empty."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a directory. Name a file in it.")
        if not path.exists():
            raise InputError(f"{path} does not exist.{_sibling(path)}")
        if not path.is_file():
            raise InputError(f"{path} is not a regular file. Save the table to a file first.")
        size = path.stat().st_size
        readable = os.access(path, os.R_OK)
    except PermissionError:
        readable, size = False, 0
    if not readable:
        raise InputError(f"{path} may not be read by this user. Change its permissions.")
    if size == 0:
        raise InputError(f"{path} is empty (0 bytes). A table needs at least its column names.")


def _sibling(path: Path) -> str:
    """A hint at a file with a similar name in the same folder."""
    if not path.parent.is_dir():
        return f" Nor does the folder {path.parent}."
    return nearest(path.name, (other.name for other in path.parent.iterdir()))
