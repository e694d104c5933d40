"""How a CSV file is written: its encoding, separator and quote, and the names in its header.

A byte order mark decides the encoding; else UTF-16 by its zero bytes, else UTF-8 if every byte fits,
else a guess of Windows-1252 that the caller must pass on as a warning. The whole file is examined: a
single bad byte far down would otherwise interrupt the run.

The names are read here and not by the database, which would silently rename repeated or empty ones.
Messages give positions, never the text found: the first line of a file without a header is a person's
row.
"""

import codecs
import csv
import encodings.aliases
import gzip
import io
import re
import shlex
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from shoal.errors import InputError, counted, listed, nearest
from shoal.io.blank_quotes import blank_before_quote, raw_records, splitter
from shoal.io.formulas import unescaped
from shoal.io.paths import ending_of, is_gzipped
from shoal.io.variables import Variable

UTF8 = "utf-8"
GUESS = "cp1252"
BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
BLOCK = 1 << 20
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # UTF-32's mark begins with UTF-16's, so it is tried first.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SEPARATORS = (",", ";", "\t", "|")
"""Tried in this order where the user gave none."""
QUOTE = '"'
TAB_SPELLINGS = ("\\t", "tab")
LONGEST_FIELD = 1 << 28
LONGEST_LINE = 1 << 28
"""Characters; more is no table."""
BAD_QUOTE = (
    "a quote is opened and never closed, or text follows a closing quote. Double a quote that "
    "stands inside quotes, or pass --quote '' if quotes have no meaning in this file."
)


def open_bytes(path: Path) -> BinaryIO:
    """The file's bytes, decompressed if gzipped."""
    return cast(BinaryIO, gzip.open(path, "rb")) if is_gzipped(path) else path.open("rb")


def open_text(path: Path, encoding: str) -> io.TextIOWrapper:
    """The file's text with its own line ends, without a byte order mark."""
    known = "utf-8-sig" if is_utf8(encoding) else encoding
    return io.TextIOWrapper(open_bytes(path), encoding=known, newline="")


def is_utf8(encoding: str) -> bool:
    """Whether DuckDB can read the bytes without conversion."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


def check_encoding(encoding: str) -> None:
    """Raise an InputError unless Python has a text codec of this name."""
    try:
        "a".encode(encoding)
    except (LookupError, UnicodeError, ValueError):
        known = [*encodings.aliases.aliases, *encodings.aliases.aliases.values()]
        spelled = (name.replace("_", "-") for name in known)
        raise InputError(
            f"'{encoding}' is not a known encoding.{nearest(encoding, spelled)} "
            "Allowed: any text codec of Python, such as utf-8, utf-16, cp1252, latin-1, shift-jis."
        ) from None


def detect_encoding(path: Path, others: Sequence[Path] = ()) -> tuple[str, str | None]:
    """The encoding of the file, and a warning when it is a guess; others are written alike.

    Raises `InputError` where a guess would read some of the text wrongly.
    """
    with open_bytes(path) as stream:
        head = stream.read(BLOCK)
    marked = next((name for mark, name in MARKS if head.startswith(mark)), None)
    if marked:
        return (UTF8 if is_utf8(marked) else marked), None
    wide = _wide(head)
    if wide:
        return wide, None
    if fits(path, UTF8):
        return UTF8, None
    _check_one_encoding((path, *others))
    if not fits(path, GUESS):
        bad = first_bad_line(path, GUESS)
        raise InputError(
            f"{path} is neither UTF-8 nor UTF-16 nor Windows-1252 text (line {bad} fits none). "
            "Pass its encoding, for instance --encoding latin-1."
        )
    return GUESS, (
        f"{path.name} is not UTF-8; it was read as Windows-1252 ({GUESS}), which is a guess. "
        "If letters look wrong, pass --encoding."
    )


def doubt_of_encoding(paths: Sequence[Path], encoding: str) -> str | None:
    """A warning where text is UTF-8 although another encoding was named, which fits all bytes."""
    high = bytes(range(0x80, 0x100)).decode(encoding, errors="replace")
    if is_utf8(encoding) or len(high) != len(range(0x80, 0x100)) or "a".encode(encoding) != b"a":
        return None  # of other encodings some bytes look like UTF-8 by chance
    for path in paths:
        line = _lines_beyond_ascii(path, utf8_only=True)[0]
        if line:
            return (
                f"{path.name} was read as {encoding}, but line {line} holds letters in UTF-8, which are "
                "then read as other letters: equal words may have become different ones. If letters "
                "look wrong, save all of the table in UTF-8."
            )
    return None


def _check_one_encoding(paths: Sequence[Path]) -> None:
    """Raise `InputError` where some text beyond ASCII is UTF-8 and some is not, as where two exports
    were put together: one name would be two values."""
    first: list[tuple[Path, int] | None] = [None, None]
    for path in paths:
        for i, line in enumerate(_lines_beyond_ascii(path)):
            if line and first[i] is None:
                first[i] = path, line
        one, other = first
        if one is None or other is None:
            continue
        found = (
            f"{path} mixes encodings: line {one[1]} has letters in UTF-8, line {other[1]} in another "
            "one."
            if one[0] == other[0]
            else f"{one[0]}, line {one[1]}, has letters in UTF-8, and {other[0]}, line {other[1]}, in "
            "another encoding, although they are parts of one table."
        )
        raise InputError(
            f"{found} Equal words would be different values. Save every part in UTF-8 before they are "
            "put together; or, if all of the table is in one encoding, say which: add `read: {encoding: "
            f"{GUESS}}}` to the policy or pass --encoding {GUESS}."
        )


def _lines_beyond_ascii(path: Path, utf8_only: bool = False) -> tuple[int, int]:
    """The first lines (from 1) with letters beyond ASCII in UTF-8 and in another encoding, 0 for none.

    utf8_only: whether the second one is not asked for.
    """
    found = [0, 0]
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.isascii():
                continue
            for run in BEYOND_ASCII.findall(line):
                try:
                    run.decode(UTF8)
                except UnicodeDecodeError:
                    found[1] = found[1] or number
                else:
                    found[0] = found[0] or number
            if found[0] and (found[1] or utf8_only):
                break
    return found[0], found[1]


def _wide(head: bytes) -> str | None:
    """UTF-16 without a mark: ordinary text has a zero in every other byte, on one side only."""
    sample = head[: len(head) & ~1]
    zeros = sample[0::2].count(0), sample[1::2].count(0)
    if not any(zeros) or max(zeros) * 4 < len(sample) or min(zeros) * 8 > max(zeros):
        return None
    return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"


def fits(path: Path, encoding: str) -> bool:
    """Whether every byte of the file fits the encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    contains_ascii = codecs.lookup(encoding).name in (UTF8, GUESS)
    with open_bytes(path) as stream:
        try:
            while block := stream.read(BLOCK):
                # most text is ASCII, and checking that is far faster than decoding it
                begun = decoder.getstate()[0]
                if begun or not contains_ascii or not block.isascii():
                    decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeError:
            return False
    return True


def first_bad_line(path: Path, encoding: str) -> int | None:
    """The first line (from 1) whose bytes do not fit the encoding, or None."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line_number = 0
    with open_bytes(path) as stream:
        try:
            for line in stream:
                line_number += 1
                decoder.decode(line)
            decoder.decode(b"", final=True)
        except UnicodeError:
            return line_number
    return None


def not_text(path: Path, encoding: str) -> InputError:
    """The error for a file whose bytes do not fit the encoding."""
    bad = first_bad_line(path, encoding)
    where = f"{path}, line {bad}" if bad else str(path)
    if is_utf8(encoding) and _lines_beyond_ascii(path, utf8_only=True)[0]:
        return InputError(
            f"{where}: the bytes are not {encoding} text, as those of other lines are. Save all of the "
            "table in UTF-8."
        )
    return InputError(
        f"{where}: the bytes are not {encoding} text. Pass the right encoding, for instance "
        "--encoding cp1252, if all of the table has it; or save all of it in UTF-8."
    )


@contextmanager
def as_utf8(
    path: Path,
    encoding: str,
    characters: int | None = None,
    header: tuple[int, str] | None = None,
    footer: int | None = None,
    blanks: "CsvOptions | None" = None,
) -> Iterator[Path]:
    """The path of the file as UTF-8: itself, or a temporary copy that is removed after the block.

    `characters` limits a copy to about that much of the file's beginning, up to a line's end; with
    `header` a number of first lines is replaced by that text; so many last lines are left out as
    `footer` says; with `blanks`, which says how the file is written, blanks around quotes are too.
    """
    if is_utf8(encoding) and header is None and not footer and blanks is None:
        yield path
        return
    with _nameless_file() as (target, name):
        try:
            with open_text(path, encoding) as source:
                if header:
                    target.write(header[1].encode(UTF8))
                    deque(islice(source, header[0]), maxlen=0)
                if blanks is not None:
                    begin = header[0] if header else 0
                    lines = _all_but(source, footer or 0)
                    for text in _without_blanks(lines, path, blanks, begin):
                        target.write(text.encode(UTF8))
                elif footer:
                    for line in _all_but(source, footer):
                        target.write(line.encode(UTF8))
                else:
                    _copy(source, target, characters)
        except UnicodeError:
            raise not_text(path, encoding) from None
        target.flush()
        yield name


def _copy(source: io.TextIOWrapper, target: BinaryIO, characters: int | None) -> None:
    if characters is not None:
        target.write((source.read(characters) + source.readline()).encode(UTF8))
        return
    while text := source.read(BLOCK):
        target.write(text.encode(UTF8))


def _all_but(source: Iterable[str], footer: int) -> Iterator[str]:
    """All but the last lines; blank lines at the end are left out too, if any are."""
    if not footer:
        yield from source
        return
    waiting: deque[str] = deque()
    lines = 0
    for line in source:
        waiting.append(line)
        if line.strip():
            lines += 1
            while lines > footer:
                first = waiting.popleft()
                yield first
                lines -= bool(first.strip())


def _without_blanks(
    lines: Iterable[str], path: Path, options: "CsvOptions", begin: int
) -> Iterator[str]:
    """The records of a file, blanks around quotes left out; so many lines were before the first."""
    separator, quote = options.separator or ",", options.quote or QUOTE
    split, about = splitter(separator, quote, options.escape), blank_before_quote(separator, quote)
    at = begin
    with _long_fields():
        try:
            for line, record in raw_records(lines, separator, quote, options.escape):
                at = begin + line
                yield split.without_blanks(record) if about.search(record) else record
        except csv.Error:
            raise InputError(f"{path}, line {at}: {BAD_QUOTE}") from None


@contextmanager
def _nameless_file() -> Iterator[tuple[BinaryIO, Path]]:
    """A temporary file and a path to it; it contains personal rows, so nothing may be left of it."""
    with tempfile.TemporaryFile() as nameless:
        by_number = Path(f"/proc/self/fd/{nameless.fileno()}")
        if by_number.exists():
            # it has no name in any folder: even a kill -9 leaves nothing
            yield cast(BinaryIO, nameless), by_number
            return
    with tempfile.TemporaryDirectory(prefix="shoal-") as folder:
        name = Path(folder, "table.csv")
        with name.open("w+b") as named:
            yield named, name


@dataclass(frozen=True)
class CsvOptions:
    """How a file is written; what is None is detected. Most fields concern CSV files."""

    separator: str | None = None
    """One character; `\\t` and `tab` are accepted too."""
    quote: str | None = None
    """One character, or empty where quotes have no meaning."""
    encoding: str | None = None
    """Any text codec of Python."""
    escape: str | None = None
    """The character before a quote inside quotes; None if quotes are doubled."""
    header: bool | None = None
    """Whether the first line has the names of the columns."""
    names: tuple[str, ...] | None = None
    """The names of the columns, in place of those of the file."""
    sheet: str | None = None
    """Workbooks: the name or the number (from 1) of the sheet."""
    skip: int | None = None
    """Workbooks: rows above the names of the columns that are not part of the table."""
    footer: int | None = None
    """Rows at the end that are not part of the table, such as totals; blank lines do not count."""
    labels: bool | None = None
    """Files of statistics packages: whether values are read as their labels (by default) or codes."""
    variables: tuple[Variable, ...] = ()
    """What the file says about its columns, found when the options are settled."""
    blanks: bool | None = None
    """Whether quotes may follow blanks, which are then no part of a field; None if nobody looked."""
    release: bool = False
    """Whether the file is a release, whose cells may hold what looks like rows."""
    formulas: bool = False
    """Whether texts that a spreadsheet would run are escaped in the file."""
    origins: tuple[Variable, ...] = ()
    """Of a file to write: what its source said about the columns."""

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
        if self.names is not None:
            object.__setattr__(self, "names", tuple(self.names))

    @property
    def settled(self) -> bool:
        """Whether nothing is left to detect."""
        return None not in (self.separator, self.quote, self.encoding, self.header)

    @property
    def has_header(self) -> bool:
        """Whether the first line has names; so it is unless it is known to have none."""
        return self.header is not False

    @property
    def of_release(self) -> "CsvOptions":
        """How to read a release: unless it is said, its first line is a header and its last a row.

        Shoal writes it so. What looks like data in its header is a value of that name, not a question.
        """
        if self.names is not None:
            return replace(self, release=True)
        header = True if self.header is None else self.header
        footer = 0 if self.footer is None else self.footer
        return replace(self, header=header, footer=footer, release=True)

    def for_output(self, path: Path) -> "CsvOptions":
        """How to write `path`: the same separator and quote, always in UTF-8.

        A '.tsv' is always separated by tabs. There is always a quote: a label may contain a separator.
        """
        ending = ending_of(path)
        separator = "\t" if ending.startswith(".tsv") else self.separator or ","
        quote = self.quote or QUOTE
        return CsvOptions(
            separator,
            "'" if quote == separator else quote,
            UTF8,
            header=True,
            footer=0,
            blanks=False,
            origins=self.variables,
        )


DETECT = CsvOptions()
"""Everything is detected."""


def _check_character(what: str, text: str, allowed: str) -> None:
    if len(text) != 1 or text in "\r\n\0":
        raise InputError(f"The {what} must be one character, found {text!r}. Usual: {allowed}.")


def records(
    path: Path, options: CsvOptions, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """(line, fields) of each record, `line` (from 1) being where it begins.

    Slow, but it splits records as the database does, so it can explain the errors of the database.
    """
    separator, quote, escape = options.separator or ",", options.quote or None, options.escape
    with _long_fields(), open_text(path, options.encoding or UTF8) as stream:
        if options.blanks and quote:
            split = splitter(separator, quote, escape)
            for begins, text in raw_records(_lines(stream, path), separator, quote, escape):
                yield begins, split.fields(text, strict)
            return
        reader = csv.reader(
            _lines(stream, path),
            delimiter=separator,
            quotechar=quote,
            quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
            escapechar=escape,
            doublequote=escape is None,
            strict=strict,
        )
        begins = 1
        for fields in reader:
            yield begins, fields
            begins = reader.line_num + 1


def texts_of_records(path: Path, options: CsvOptions) -> Iterator[tuple[int, str]]:
    """(line, text) of each record as it is written; a quote after blanks is one."""
    separator, quote = options.separator or ",", options.quote or QUOTE
    with _long_fields(), open_text(path, options.encoding or UTF8) as stream:
        yield from raw_records(_lines(stream, path), separator, quote, options.escape)


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let fields be as long as they are."""
    limit = csv.field_size_limit(LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _lines(stream: io.TextIOWrapper, path: Path) -> Iterator[str]:
    """The lines of a text; one without an end in sight is refused before it fills the memory."""
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise InputError(
                f"{path}, line {number}: the line is longer than {LONGEST_LINE:,} characters. Is this a "
                "table, with a line for each row?"
            )
        yield line


def header_names(path: Path, options: CsvOptions) -> list[str]:
    """The column names, checked: those of the first line, or those that were given, or `column1`, ..."""
    found = first_fields(path, options)
    if options.names is not None:
        if len(options.names) != len(found):
            raise InputError(
                f"{path}, line 1: {counted(len(found), 'field')}, but `names` has "
                f"{len(options.names)}. Give a name to every column, in the order of the file."
            )
        return list(options.names)
    if not options.has_header:
        return [f"column{i}" for i in range(1, len(found) + 1)]
    _check_names(path, found)
    return [unescaped(name) for name in found] if options.formulas else found


def first_fields(path: Path, options: CsvOptions) -> list[str]:
    """The fields of the first line."""
    try:
        first = next(iter(records(path, options, strict=True)), None)
    except csv.Error:
        raise InputError(
            f"{path}, line 1: in the line of column names a quote is opened and never closed, or "
            "text follows a closing quote. Correct the line, or pass --quote."
        ) from None
    except UnicodeError:
        raise not_text(path, options.encoding or UTF8) from None
    fields = first[1] if first else []
    if fields and fields[0].startswith("\ufeff"):
        fields[0] = fields[0].removeprefix("\ufeff")
    return fields


def plain_header(path: Path, options: CsvOptions, names: list[str]) -> tuple[int, str] | None:
    """(lines, text) of a header to read instead, if a name contains a line end; else None.

    The database takes the file's first line end as that of all lines. If it is inside a name and of
    another kind, the database finds no row and reports nothing.
    """
    if not options.has_header:
        return None
    if options.names is not None:
        names = first_fields(path, options)
    if not any("\n" in name or "\r" in name for name in names):
        return None
    second = next(islice(records(path, options), 1, None), None)
    with open_text(path, options.encoding or UTF8) as stream:
        lines = list(stream) if second is None else list(islice(stream, second[0] - 1))
    end = lines[-1][len(lines[-1].rstrip("\r\n")) :]
    return len(lines), (options.separator or ",").join("c" * len(names)) + (end or "\n")


def _check_names(path: Path, names: list[str]) -> None:
    hint = (
        "The first line must name every column; does the file have a header? If not, add "
        "`read: {header: false}` to the policy or pass --no-header. To give columns other names, add "
        "`read: {header: true, names: [...]}` or pass --header --names A,B."
    )
    if not names:
        raise InputError(f"{path}, line 1: the line is empty. {hint}")
    nameless = [str(i) for i, name in enumerate(names, 1) if not name.strip()]
    if nameless == ["1"]:
        hint += (
            " R and pandas write row numbers in a first column without a name: `row.names = FALSE` and "
            "`index=False` leave them out."
        )
    if nameless:
        raise InputError(f"{path}, line 1: no name for column {listed(nameless)}. {hint}")
    places: dict[str, list[str]] = {}
    for i, name in enumerate(names, 1):
        places.setdefault(name, []).append(str(i))
    doubled = [" and ".join(p) for p in places.values() if len(p) > 1]
    if doubled:
        raise InputError(f"{path}, line 1: columns {listed(doubled)} have the same name. {hint}")


def separator_by_header(path: Path, options: CsvOptions) -> str | None:
    """The usual separator that splits the first line into the most names; None if none does.

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


def quote_by_lines(path: Path, options: CsvOptions) -> str:
    """The detected quote, or the usual one where that is certain to be meant.

    Apostrophes at the beginning of two fields look like quotes, and everything between them, rows of
    other people, like one field. Where such a field spans lines, but the file reads without any fault
    with the usual quote, that is the one. Such fields may be anywhere, so the whole file is read.
    Raises `InputError` where neither is certain: a field has as many separators as whole rows would.
    """
    quote, separator = options.quote, options.separator or ","
    assert quote is not None
    if quote == QUOTE or separator == QUOTE:
        return quote
    usual = replace(options, quote=QUOTE, escape=None)
    spans, hides = False, 0
    try:
        for line, fields in records(path, options):
            for text in fields:
                breaks = text.count("\n") or text.count("\r")
                spans |= breaks > 0
                if breaks and text.count(separator) >= breaks * max(len(fields) - 1, 1):
                    hides = hides or line
        if not spans:
            return quote
        widths = {len(fields) for _, fields in records(path, usual, strict=True) if fields}
        if len(widths) == 1:
            return QUOTE
    except (csv.Error, UnicodeError):
        pass
    if hides:
        raise InputError(
            f"{path}, line {hides}: a field between the quotes {quote} spans several lines and may hide "
            f"whole rows, as it does where {quote} is an apostrophe. Pass --quote {shlex.quote(quote)} "
            f"(or `quote` under `read` in the policy) if it is a quote all the same, or --quote "
            f"{shlex.quote(QUOTE)} if fields are not between them."
        )
    return quote
