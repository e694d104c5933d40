"""Whether the first line of a text file has the names of its columns, and its last one their totals.

A file without a header must not publish its first person as column names, and a line of totals is no
person. Both are noticed and asked about; a policy or an option answers. No text of the file is shown:
it may be a person's.
"""

import codecs
import csv
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from shoal.errors import InputError
from shoal.io.csv_dialect import (
    BLOCK,
    LONGEST_LINE,
    UTF8,
    CsvOptions,
    first_fields,
    not_text,
    open_bytes,
    records,
)
from shoal.io.paths import is_gzipped

ROWS = 1000
"""Lines that are compared with the first one."""
TAIL = 1 << 16
"""Half of the bytes at the end of a file in which its last line is found."""
ROW_COUNT = re.compile(r"\(?\d+ (rows?|records?|lines?)\b.{0,20}", re.IGNORECASE)
"""What programs write below the rows of a query."""
LEAST_LINES = 4
"""A shorter file has no totals worth the name."""
NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}([,.'  ]\d{3})+)([.,]\d+)?\s?%?")
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T][\d:.]+)?")
ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[a-zA-Z]{2,}")
YEARS = range(1800, 2200)
MANY = 5
"""So many values in a column below are enough to compare the first line with."""
TOTALS = frozenset(
    re.findall(
        r"\w+",
        "total totals sum sums grandtotal subtotal overall all gesamt summe gesamtsumme insgesamt somme "
        "totaux totale totaal som suma celkem ogółem razem итого всего összesen yhteensä totalt toplam",
    )
)
"""How a line of totals begins."""


def has_header(path: Path, options: CsvOptions) -> bool:
    """Whether the first line has names; an `InputError` asks where it looks like data.

    `options` are settled but for the header.
    """
    first = first_fields(path, options)
    if options.names is not None:
        return has_these_names(first, options.names)
    try:
        below = [fields for _, fields in islice(records(path, options), 1, ROWS + 1)]
    except csv.Error:
        return True  # explained when the rows are read
    except UnicodeError:
        raise not_text(path, options.encoding or UTF8) from None
    rows = [fields for fields in below if len(fields) == len(first) and fields != first]
    check_names_are_no_data(f"{path}: the first line", first, rows)
    return True


def has_these_names(first: Sequence[str], names: Sequence[str]) -> bool:
    """Whether the first line has the names that were given, which it mostly has not: names are given
    because a file has none."""
    return [one.strip().lower() for one in first] == [one.lower() for one in names]


def check_names_are_no_data(
    where: str, first: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Raise `InputError` where the first line of a table looks like the rows below it."""
    like = [j + 1 for j in range(len(first)) if _is_data(first, j, [row[j] for row in rows])]
    if like:
        columns = "column" if len(like) == 1 else "columns"
        shown = ", ".join(map(str, like[:5])) + (", …" if len(like) > 5 else "")
        raise InputError(
            f"{where} looks like data and not like column names (in {columns} {shown} "
            "it holds a value like those below). If the file has no header, add `read: {header: false}` "
            "to the policy, with `names: [...]` beside it, or pass --no-header; if it has one, "
            "`read: {header: true}` or --header."
        )


def _is_data(first: Sequence[str], j: int, below: Sequence[str]) -> bool:
    """Whether a field of the first line is a value like those below it."""
    field, known = first[j].strip(), [one.strip() for one in below if one.strip()]
    if not field or not known:
        return False
    if ADDRESS.fullmatch(field):
        return True
    if DATE.fullmatch(field):
        return _share(DATE, known) >= 0.5
    if NUMBER.fullmatch(field):
        return _share(NUMBER, known) >= 0.5 and not _is_numbered(first, j, known)
    # a word that is repeated below is a value; a name alone would not be
    return len(known) >= MANY and known.count(field) * 100 >= len(known) and len(set(known)) > 1


def _share(pattern: re.Pattern[str], values: Sequence[str]) -> float:
    return sum(bool(pattern.fullmatch(value)) for value in values) / len(values)


def _is_numbered(first: Sequence[str], j: int, known: Sequence[str]) -> bool:
    """Whether a number is a name: a year above figures of another kind, or the column's own place."""
    if not first[j].strip().isdecimal():
        return False
    number = int(first[j])
    if number in YEARS:
        years = sum(one.isdecimal() and int(one) in YEARS for one in known)
        return years * 2 < len(known)
    places = [str(i) for i in range(len(first))], [str(i) for i in range(1, len(first) + 1)]
    return len(first) > 2 and [one.strip() for one in first] in places


def check_repeated_names(path: Path, options: CsvOptions) -> None:
    """Raise `InputError` where a line repeats that of the names, as where exports were put together.

    `options` are settled but for the footer. Files of UTF-16 and UTF-32 are not looked through.
    """
    if not options.has_header or "\n".encode(options.encoding or UTF8) != b"\n":
        return
    with open_bytes(path) as stream:
        names = _bare(stream.readline(LONGEST_LINE))
        if (options.separator or ",").encode(options.encoding or UTF8) not in names:
            return  # a column may have its own name as a value
        while block := stream.read(BLOCK):
            # blocks of whole lines, of which nearly none has the names
            if names in block + stream.readline(LONGEST_LINE):
                break
        else:
            return
        stream.seek(0)
        lines = enumerate(stream, 1)
        next(lines)
        found = next((number for number, line in lines if _bare(line) == names), None)
    if found is not None:
        raise repeated_names(f"{path}, line {found}")


def _bare(line: bytes) -> bytes:
    """A line without its end and a byte order mark."""
    return line.rstrip(b"\r\n").removeprefix(codecs.BOM_UTF8)


def repeated_names(where: str) -> InputError:
    """The error for a row that repeats the names of the columns."""
    return InputError(
        f"{where}: the names of the columns are repeated, as where two exports were put together. They "
        "would be counted as a person: remove them."
    )


def check_total_row(path: Path, options: CsvOptions) -> None:
    """Raise `InputError` where the last line looks like the totals of the others."""
    last = _last_fields(path, options)
    words = ["".join(re.findall(r"\w+", field.lower())) for field in last if field.strip()]
    if len(words) == 1 and ROW_COUNT.fullmatch(last[0].strip()):
        raise InputError(
            f"{path}: the last line looks like a count of the others and not like a person. Add "
            "`read: {footer: 1}` to the policy or pass --footer 1 to leave it out; or, if it is a row "
            "like the others, `read: {footer: 0}` or --footer 0."
        )
    if len(last) < 2 or not words or words[0] not in TOTALS:
        return
    numbers = sum(bool(NUMBER.fullmatch(field.strip())) for field in last)
    blank = sum(not field.strip() for field in last)
    if numbers and numbers + blank >= len(last) - 1:
        raise InputError(
            f"{path}: the last line looks like the totals of the others and not like a person. Add "
            "`read: {footer: 1}` to the policy or pass --footer 1 to leave it out; or, if it is a row "
            "like the others, `read: {footer: 0}` or --footer 0."
        )


def _last_fields(path: Path, options: CsvOptions) -> list[str]:
    """The fields of the last line that is not blank."""
    encoding = options.encoding or UTF8
    with open_bytes(path) as stream:
        if is_gzipped(path):
            tail = b""
            while block := stream.read(TAIL):
                tail = (tail + block)[-2 * TAIL :]
        else:
            size = path.stat().st_size
            stream.seek(max(0, size - 2 * TAIL))  # a multiple of the bytes of wide characters
            tail = stream.read()
    text = tail.decode(encoding.replace("utf-16-sig", "utf-16"), errors="ignore")
    lines = [line for line in text.splitlines() if line.strip("\ufeff\0 \t")]
    if len(lines) < LEAST_LINES:
        return []
    quote = options.quote or None
    reader = csv.reader(
        lines[-1:],
        delimiter=options.separator or ",",
        quotechar=quote,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    )
    try:
        return next(reader, [])
    except csv.Error:
        return []
