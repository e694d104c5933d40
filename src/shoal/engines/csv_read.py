"""Reading CSV: every column as text, every byte of a value kept, nothing forgiven.

An unquoted empty field is a missing value, a quoted one ("") an empty text. DuckDB splits the file;
encoding and column names are settled before it looks at it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow as pa

from shoal.engines.csv_errors import LINE_TOO_LONG, first_overlong, lost, reworded
from shoal.engines.duck import Connection, connection, file_literal, text
from shoal.errors import InputError, listed, nearest
from shoal.io.csv_dialect import (
    QUOTE,
    CsvOptions,
    header_names,
    plain_header,
    separator_by_header,
)
from shoal.io.encoding import BLOCK, UTF8, as_utf8, detect_encoding, open_bytes
from shoal.io.formats import is_packed

Answer = TypeVar("Answer")
SAMPLE = 4 * BLOCK
"""Characters of a transcoded file that are looked at to find separator and quote."""
LINE_LIMITS = (2 << 20, 1 << 28)
"""Longest line in bytes. The larger one costs memory, so it is tried only after the smaller."""


def settle(path: Path, options: CsvOptions) -> tuple[CsvOptions, tuple[str, ...]]:
    """The options with nothing left to find out, and what the user should know about a guess."""
    warning = None
    if options.encoding is None:
        encoding, warning = detect_encoding(path)
        options = replace(options, encoding=encoding)
    if not options.settled:
        options = _sniffed(path, options)
    return options, (warning,) if warning else ()


def _sniffed(path: Path, options: CsvOptions) -> CsvOptions:
    with as_utf8(path, options.encoding or UTF8, SAMPLE) as plain, connection(0) as con:
        separator, quote, escape, columns = _sniff(con, plain, options)
    if options.separator is not None:
        separator = options.separator
    elif columns < 2:
        separator = separator_by_header(path, options) or separator or ","
    if options.quote is not None:
        quote = options.quote
    elif not quote:
        # None in the sample: one may still come later, and if not, it does no harm.
        quote = QUOTE if separator != QUOTE else ""
    backslash = "\\" if escape == "\\" and quote else None
    return replace(options, separator=separator, quote=quote, escape=options.escape or backslash)


def _sniff(con: Connection, plain: Path, options: CsvOptions) -> tuple[str, str, str, int]:
    """Separator, quote, escape and number of columns as DuckDB sees them.

    `skip=0` holds it to the first line as the header; left free, it skips lines that do not fit.
    """
    given = {"delim": options.separator, "quote": options.quote}
    said = "".join(f", {key}={text(value)}" for key, value in given.items() if value is not None)
    try:
        found = con.execute(
            "SELECT Delimiter, Quote, Escape, len(Columns) "
            f"FROM sniff_csv({file_literal(plain)}, header=true, all_varchar=true, skip=0, "
            f"strict_mode=true, comment='', compression={_compression(plain)}{said})"
        ).fetchone()
    except duckdb.Error:
        return "", "", "", 0
    separator, quote, escape = ("" if part == "(empty)" else part for part in found[:3])
    return separator, quote, escape, found[3]


def _compression(path: Path) -> str:
    return "'gzip'" if is_packed(path) else "'none'"


@dataclass(frozen=True)
class CsvFile:
    """A CSV file ready to be asked in SQL."""

    path: Path
    options: CsvOptions
    """Settled."""
    names: list[str]
    """Of every column in the file."""
    plain: Path
    """Where its text lies as UTF-8, some line of names first."""

    def ask(self, sql: str) -> pa.Table:
        """The answer to `sql`, where `{file}` is the file with text columns c0, c1, ...

        The names are ours because SQL takes 'Age' and 'age' for one.
        """
        with connection(self.plain.stat().st_size) as con:
            return self.through(lambda filled: con.sql(filled).to_arrow_table(), sql)

    def through(self, call: Callable[[str], Answer], sql: str) -> Answer:
        """What `call` makes of the SQL, the file named in it; it may be called twice."""
        for limit in LINE_LIMITS:
            try:
                return call(sql.replace("{file}", self.scan(limit)))
            except duckdb.Error as error:
                if LINE_TOO_LONG not in str(error).lower() or limit == LINE_LIMITS[-1]:
                    columns = len(self.names)
                    raise reworded(self.path, self.options, columns, error) from None
        raise AssertionError("the last limit returns or raises")

    def scan(self, line_limit: int) -> str:
        """The SQL of the file's rows."""
        types = ", ".join(f"c{i}: 'VARCHAR'" for i in range(len(self.names)))
        quote = self.options.quote or ""
        escape = self.options.escape or quote
        return (
            f"read_csv({file_literal(self.plain)}, columns={{{types}}}, auto_detect=false, "
            f"header=true, delim={text(self.separator)}, quote={text(quote)}, "
            f"escape={text(escape)}, nullstr='', allow_quoted_nulls=false, strict_mode=true, "
            f"null_padding=false, comment='', compression={_compression(self.plain)}, "
            f"max_line_size={line_limit})"
        )

    @property
    def separator(self) -> str:
        """What stands between two fields."""
        return self.options.separator or ","

    def place(self, column: str) -> str:
        """The SQL name of a column."""
        if column not in self.names:
            raise InputError(
                f"{self.path} has no column '{column}'.{nearest(column, self.names)} "
                f"It has: {listed(self.names)}."
            )
        return f"c{self.names.index(column)}"


@contextmanager
def opened(path: Path, options: CsvOptions) -> Iterator[CsvFile]:
    """The file, settled, with its column names checked."""
    options, _ = settle(path, options)
    names = header_names(path, options)
    header = plain_header(path, options, names)
    with as_utf8(path, options.encoding or UTF8, header=header) as plain:
        yield CsvFile(path, options, names, plain)


def read_csv(path: Path, options: CsvOptions, columns: Sequence[str] | None = None) -> pa.Table:
    """The table, its columns as text, its rows in the order of the file."""
    with opened(path, options) as file:
        wanted = file.names if columns is None else list(columns)
        table = file.ask(f"SELECT {', '.join(map(file.place, wanted))} FROM {{file}}")
        check_separators(file, table.num_rows)
    return table.rename_columns(wanted)


def check_separators(file: CsvFile, rows: int) -> None:
    """Refuse what DuckDB lets pass: a row that ends in a separator too many, rows lost on the way.

    Every separator stands between two columns or inside a value, so their number tells.
    """
    columns = len(file.names)
    found = _count(file.plain, file.separator.encode(UTF8))
    if found == (rows + 1) * (columns - 1):
        return
    without = (f"replace(c{i}, {text(file.separator)}, '')" for i in range(columns))
    inside = (f"sum(length(c{i}) - length({short}))" for i, short in enumerate(without))
    total = " + ".join(f"coalesce({each}, 0)" for each in inside)
    counted = file.ask(f"SELECT {total} AS n FROM {{file}}")["n"][0].as_py()
    between = (rows + 1) * (columns - 1) + counted
    # Names count too, unless others were put in their place.
    in_names = sum(name.count(file.separator) for name in file.names)
    if found not in (between, between + in_names):
        raise first_overlong(file.path, file.options, columns) or lost(file.path, rows)


def _count(plain: Path, separator: bytes) -> int:
    """How often the separator's bytes occur in the file."""
    total, kept = 0, b""
    with open_bytes(plain) as stream:
        while block := stream.read(BLOCK):
            block = kept + block
            total += block.count(separator)
            # A separator of several bytes may lie across two blocks.
            kept = block[len(block) - len(separator) + 1 :]
    return total
