"""How a CSV file is written: its separator, quote and encoding, and the names in its first line.

The names are read here and not by the database, which would rename doubled or empty ones in
silence. Messages speak of positions, never of the text found: a file without a header has a
person's row in its first line.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from shoal.errors import InputError, listed
from shoal.io.encoding import UTF8, check_encoding, not_text, open_text
from shoal.io.formats import ending_of

SEPARATORS = (",", ";", "\t", "|")
"""What is tried where nothing was said, in this order."""
QUOTE = '"'
TAB_SPELLINGS = ("\\t", "tab")
LONGEST_FIELD = 1 << 30


@dataclass(frozen=True)
class CsvOptions:
    """What the user said about a CSV file; None means: find out."""

    separator: str | None = None
    """One character; `\\t` and `tab` are understood too."""
    quote: str | None = None
    """One character, or empty where quotes have no meaning."""
    encoding: str | None = None
    """Any text codec of Python."""
    escape: str | None = None
    """What stands before a quote inside quotes; None: the quote itself, doubled."""

    def __post_init__(self) -> None:
        if self.separator in TAB_SPELLINGS:
            object.__setattr__(self, "separator", "\t")
        if self.separator is not None:
            _check_character("separator", self.separator, ", ; | or tab")
        if self.quote:
            _check_character("quote", self.quote, "\" or ', or empty for none")
            if not self.quote.isascii():
                raise InputError(f"The quote must be an ASCII character, found {self.quote!r}.")
        if self.quote and self.quote == self.separator:
            raise InputError("The separator and the quote are the same character. Change one.")
        if self.encoding is not None:
            check_encoding(self.encoding)

    @property
    def settled(self) -> bool:
        """Whether nothing is left to find out."""
        return None not in (self.separator, self.quote, self.encoding)

    def for_output(self, path: Path) -> "CsvOptions":
        """How to write `path` alike: the same separator and quote, always UTF-8.

        A '.tsv' is always separated by tabs. There is always a quote: a label may hold a separator.
        """
        ending = ending_of(path)
        separator = "\t" if ending.startswith(".tsv") else self.separator or ","
        quote = self.quote or QUOTE
        return CsvOptions(separator, "'" if quote == separator else quote, UTF8)


def _check_character(what: str, text: str, allowed: str) -> None:
    if len(text) != 1 or text in "\r\n\0":
        raise InputError(f"The {what} must be one character, found {text!r}. Usual: {allowed}.")


def records(
    path: Path, options: CsvOptions, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """(line, fields) of each record, `line` (from 1) being where it begins. For the rare slow look.

    The database splits records in the same way, so this may be asked where it met an error.
    """
    limit = csv.field_size_limit(LONGEST_FIELD)
    try:
        with open_text(path, options.encoding or UTF8) as stream:
            reader = csv.reader(
                stream,
                delimiter=options.separator or ",",
                quotechar=options.quote or None,
                quoting=csv.QUOTE_MINIMAL if options.quote else csv.QUOTE_NONE,
                escapechar=options.escape,
                doublequote=options.escape is None,
                strict=strict,
            )
            begins = 1
            for fields in reader:
                yield begins, fields
                begins = reader.line_num + 1
    finally:
        csv.field_size_limit(limit)


def header_names(path: Path, options: CsvOptions) -> list[str]:
    """The column names in the first line, checked."""
    try:
        first = next(iter(records(path, options, strict=True)), None)
    except csv.Error:
        raise InputError(
            f"{path}, line 1: in the line of column names a quote is opened and never closed, or "
            "text follows a closing quote. Mend the line, or pass --quote."
        ) from None
    except UnicodeError:
        raise not_text(path, options.encoding or UTF8) from None
    names = first[1] if first else []
    if names and names[0].startswith("\ufeff"):
        names[0] = names[0].removeprefix("\ufeff")
    _check_names(path, names)
    return names


def plain_header(path: Path, options: CsvOptions, names: list[str]) -> tuple[int, str] | None:
    """(lines, text) of a header to read instead, if a name holds a line end; else None.

    The database tells the line end from the file's first one. If that is inside a name and of
    another kind, it finds no row and says nothing.
    """
    if not any("\n" in name or "\r" in name for name in names):
        return None
    second = next(islice(records(path, options), 1, None), None)
    with open_text(path, options.encoding or UTF8) as stream:
        lines = list(stream) if second is None else list(islice(stream, second[0] - 1))
    end = lines[-1][len(lines[-1].rstrip("\r\n")) :]
    return len(lines), (options.separator or ",").join("c" * len(names)) + (end or "\n")


def _check_names(path: Path, names: list[str]) -> None:
    hint = "The first line must name every column; does the file have a header?"
    if not names:
        raise InputError(f"{path}, line 1: the line is empty. {hint}")
    nameless = [str(i) for i, name in enumerate(names, 1) if not name.strip()]
    if nameless:
        raise InputError(f"{path}, line 1: no name for column {listed(nameless)}. {hint}")
    places: dict[str, list[str]] = {}
    for i, name in enumerate(names, 1):
        places.setdefault(name, []).append(str(i))
    doubled = [" and ".join(p) for p in places.values() if len(p) > 1]
    if doubled:
        raise InputError(f"{path}, line 1: columns {listed(doubled)} have the same name. {hint}")


def separator_by_header(path: Path, options: CsvOptions) -> str | None:
    """The usual separator that cuts the first line into most names; None if none cuts it.

    For files that the database's own detection takes for one column, among them every file with a
    ragged row near its beginning.
    """

    def fields(separator: str) -> int:
        tried = replace(options, separator=separator, quote=options.quote or QUOTE)
        try:
            return max((len(found) for _, found in islice(records(path, tried), 1)), default=0)
        except (csv.Error, UnicodeError):
            return 0

    widest = max(SEPARATORS, key=fields)
    return widest if fields(widest) > 1 else None
