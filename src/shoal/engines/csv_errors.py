"""What to say when a CSV file is broken.

DuckDB puts the broken line itself into its message, and that line is a person's row. So its message
is only looked at for what kind of error it is and for numbers; not a word of it is passed on.
"""

import csv
import re
from itertools import islice
from pathlib import Path

import duckdb

from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions, records
from shoal.io.encoding import UTF8, not_text, open_bytes

LINE_TOO_LONG = "maximum line size"
BAD_QUOTE = (
    "a quote is opened and never closed, or text follows a closing quote. Double a quote that "
    "stands inside quotes, or pass --quote '' if quotes have no meaning in this file."
)


def reworded(path: Path, options: CsvOptions, columns: int, error: duckdb.Error) -> InputError:
    """The database's error as one that says where, what and what to do, and quotes no row."""
    found = str(error)
    counts = re.findall(r"Expected Number of Columns: \d+ Found: (\d+)", found)
    where = _where(path, options, found)
    if counts:
        return ragged(where, int(counts[-1]), columns)
    lowered = found.lower()
    if "unterminated quote" in lowered:
        return InputError(f"{where}: {BAD_QUOTE}")
    if "utf-8" in lowered or "unicode" in lowered:
        return not_text(path, options.encoding or UTF8)
    if LINE_TOO_LONG in lowered:
        return InputError(f"{where}: the line is too long. Is a quote left open there?")
    if isinstance(error, duckdb.OutOfMemoryException):
        return InputError(f"{path} does not fit into memory. Give it fewer columns or rows.")
    if isinstance(error, duckdb.IOException):
        return InputError(f"{path} could not be read. Is it still there, and whole?")
    if _mixed_line_ends(path):
        return InputError(
            f"{path} mixes line ends (\\n, \\r\\n or \\r). Save it again with one kind."
        )
    return InputError(f"{where}: this is no regular CSV: {BAD_QUOTE}")


def ragged(where: str, found: int, columns: int) -> InputError:
    """A record with too few or too many fields."""
    fields = "1 field" if found == 1 else f"{found} fields"
    named = "1 column" if columns == 1 else f"{columns} columns"
    return InputError(
        f"{where}: {fields}, but the first line names {named}. Mend that line: a missing or extra "
        "separator, or a text that holds a separator and is not quoted."
    )


def first_overlong(path: Path, options: CsvOptions, columns: int) -> InputError | None:
    """The error for the first record with more fields than columns, if there is one."""
    for line, fields in records(path, options):
        if len(fields) > columns:
            return ragged(f"{path}, line {line}", len(fields), columns)
    return None


def lost(path: Path, rows: int) -> InputError:
    """Rows and separators do not add up."""
    return InputError(
        f"{path}: only {rows} rows could be made out, which is not all the file holds. "
        f"Perhaps {BAD_QUOTE}"
    )


def _where(path: Path, options: CsvOptions, found: str) -> str:
    """'FILE, line N' if the database said which record; it counts records, people count lines."""
    number = re.search(r"CSV Error on Line: (\d+)", found)
    if not number:
        return str(path)
    record = int(number[1])
    try:
        begins = next(islice(records(path, options), record - 1, None), None)
    except (csv.Error, UnicodeError):
        begins = None
    return f"{path}, line {begins[0] if begins else record}"


def _mixed_line_ends(path: Path) -> bool:
    both = line_feeds = returns = 0
    with open_bytes(path) as stream:
        # Whole lines, so that no '\r\n' is cut in two.
        for line in stream:
            both += line.endswith(b"\r\n")
            line_feeds += line.endswith(b"\n")
            returns += line.count(b"\r")
    return [both, line_feeds - both, returns - both].count(0) < 2
