"""Tables in the studio's folder: those that can be chosen, and private copies of dropped ones."""

import re
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from nicegui.elements.upload_files import FileUpload

from shoal.errors import InputError

COPIES = "shoal-studio"
"""The folder of copies, in the folder of the studio."""
ENDINGS = (
    ".csv", ".tsv", ".csv.gz", ".txt", ".parquet", ".arrow", ".feather", ".orc", ".jsonl", ".ndjson",
    ".xlsx", ".xls", ".ods", ".dta", ".sav", ".zsav", ".sas7bdat", ".xpt",
)  # fmt: skip
"""Files that are offered; what is in them decides whether they can be read."""
KEY = re.compile(r"(?P<release>.+)-key\.(csv|parquet|arrow)")
"""The private key of a release: it says whose row is whose, and is no table to publish."""
NAMELESS = re.compile(rb"(?P<mark>\xef\xbb\xbf)?(?:\"\s*\")?(?=[,;\t|])")
"""How a line of names begins in which the first one is empty."""
MOST_HEADER = 1_000_000
"""Bytes of a line of names."""
MOST_FILES = 60


def files_in(folder: Path) -> list[str]:
    """The names of the tables in a folder that can be chosen; links lead elsewhere and are none, and
    the private key that lies beside its release is none either."""
    names = {
        path.name
        for path in folder.iterdir()
        if path.name.lower().endswith(ENDINGS) and path.is_file() and not path.is_symlink()
    }
    stems = {name.partition(".")[0] for name in names if KEY.fullmatch(name) is None}
    found = ((name, KEY.fullmatch(name)) for name in names)
    return sorted(name for name, key in found if key is None or key["release"] not in stems)[
        :MOST_FILES
    ]


async def keep_copy(folder: Path, file: FileUpload) -> Path:
    """Keep a file that was dropped; only its owner can read the copy.

    Raises `InputError` where it cannot be written.
    """
    copies = folder / COPIES
    target = None
    try:
        copies.mkdir(mode=0o700, exist_ok=True)
        target = free_name(copies, file.name)
        await file.save(target)
        target.chmod(0o600)
    except OSError as error:
        if target is not None:  # no half of a file stays
            with suppress(OSError):
                target.unlink()
        reason = (error.strerror or "it could not be written").lower()
        raise InputError(f"The copy could not be made: {reason}.") from None
    return target


def named_copy(folder: Path, table: Path) -> Path:
    """A private copy of a text file, in which the first column, which has no name, is called `row`: R
    and pandas write the numbers of rows there. A copy of a dropped file is changed itself.

    Raises `InputError` where the first line does not begin so, or the copy cannot be written.
    """
    copies, target = folder / COPIES, None
    try:
        with table.open("rb") as read:
            found = NAMELESS.match(first := read.readline(MOST_HEADER))
            if found is None:
                raise InputError("The first column has no name. Name it in the first line.")
            taken = {one.strip(b'"\r\n ').lower() for one in re.split(rb"[,;\t|]", first)}
            name = b"row" if b"row" not in taken else b"row_" + secrets.token_hex(2).encode()
            copies.mkdir(mode=0o700, exist_ok=True)
            target = free_name(copies, table.name)
            target.touch(mode=0o600)
            with target.open("wb") as written:
                written.write((found["mark"] or b"") + name + first[found.end() :])
                shutil.copyfileobj(read, written)
        if table.parent == copies.resolve():  # a dropped file, which was copied already
            target = target.replace(table)
    except OSError as error:
        if target is not None:
            with suppress(OSError):
                target.unlink()
        reason = (error.strerror or "it could not be written").lower()
        raise InputError(f"The copy could not be made: {reason}.") from None
    return target


def free_name(folder: Path, name: str) -> Path:
    """A name in a folder for a file that a browser calls `name`: a plain one that is not taken."""
    plain = (
        re.sub(r"[^\w.() -]", "_", Path(name.replace("\\", "/")).name).lstrip(". ") or "table.csv"
    )
    target = folder / plain[-120:]
    while target.exists():
        stem, dot, ending = plain[-120:].partition(".")
        target = folder / f"{stem}-{secrets.token_hex(2)}{dot}{ending}"
    return target
