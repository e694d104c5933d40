"""CSV files through DuckDB: every column is text, every byte of a value is kept, nothing is guessed.

An unquoted empty field is a missing value and `""` is an empty text, in reading and in writing.

DuckDB puts a broken line itself into its error message, and that line is a person's row. Only the kind
of an error and its numbers are taken from a message; no part of its text is passed on.
"""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow as pa

from shoal.engines.duckdb.connection import SMALL, Connection, connection, file_literal, name, text
from shoal.engines.formats.coded_csv import append_rows, can_write, read_coded
from shoal.errors import InputError, listed, nearest
from shoal.hierarchy.text import text_of
from shoal.io.csv_dialect import (
    BAD_QUOTE,
    BLOCK,
    QUOTE,
    UTF8,
    CsvOptions,
    as_utf8,
    detect_encoding,
    doubt_of_encoding,
    first_fields,
    header_names,
    is_utf8,
    not_text,
    open_bytes,
    plain_header,
    quote_by_lines,
    records,
    separator_by_header,
)
from shoal.io.formulas import escape_sql, escaped, unescape_sql
from shoal.io.header import check_repeated_names, check_total_row, has_header
from shoal.io.hidden_rows import quotes_after_blanks
from shoal.io.paths import is_gzipped
from shoal.io.regular_csv import Regularity, read_regular, regularity

Result = TypeVar("Result")
SAMPLE = 4 * BLOCK
"""Characters of a transcoded file in which separator and quote are detected."""
LINE_LIMITS = (2 << 20, 1 << 28)
"""Longest line in bytes. The larger one costs memory, so it is tried only after the smaller."""
BATCH_ROWS = 50_000
LINE_TOO_LONG = "maximum line size"
UNTERMINATED = "unterminated quote"


def settle(
    path: Path, options: CsvOptions, others: Sequence[Path] = ()
) -> tuple[CsvOptions, tuple[str, ...]]:
    """The options with everything detected, and warnings about what was guessed.

    others: more files that are written alike.
    """
    warning = None
    if options.encoding is None:
        encoding, warning = detect_encoding(path, others)
        options = replace(options, encoding=encoding)
    elif not options.settled:
        warning = doubt_of_encoding((path, *others), options.encoding)
    known = options.release or options.quote is not None
    if None in (options.separator, options.quote):
        options = _detect(path, options, others)
    new = options.blanks is None
    if new:
        blanks = [quotes_after_blanks(one, options, asks=not known) for one in (path, *others)]
        options = replace(options, blanks=any(blanks))
    if options.header is None:
        options = replace(options, header=has_header(path, options))
    if new and not options.release:
        for one in (path, *others):
            check_repeated_names(one, options)
    if options.footer is None:
        for one in (path, *others):
            check_total_row(one, options)
        options = replace(options, footer=0)
    return options, (warning,) if warning else ()


def _detect(path: Path, options: CsvOptions, others: Sequence[Path]) -> CsvOptions:
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
    if options.quote is None:
        tried = replace(
            options, separator=separator, quote=quote, escape=options.escape or backslash
        )
        if any(_is_usual(one, tried) for one in (path, *others)):
            quote, backslash = QUOTE, None
    return replace(options, separator=separator, quote=quote, escape=options.escape or backslash)


def _is_usual(path: Path, options: CsvOptions) -> bool:
    """Whether the usual quote is meant in place of the detected one."""
    quote, separator = options.quote or "", options.separator or ","
    if quote in ("", QUOTE):
        return False
    as_it_is = is_utf8(options.encoding or UTF8) and not is_gzipped(path)
    if as_it_is and (separator + quote).isascii():
        # where no field spans lines, that is seen without reading fields
        in_lines = regularity(path, separator, quote) is Regularity.LINES
    else:
        in_lines = False
    return not in_lines and quote_by_lines(path, options) != quote


def _sniff(con: Connection, plain: Path, options: CsvOptions) -> tuple[str, str, str, int]:
    """Separator, quote, escape and number of columns as DuckDB detects them.

    `skip=0` makes the first line the header; without it, DuckDB skips lines that do not fit.
    """
    given = {"delim": options.separator, "quote": options.quote}
    options_sql = "".join(
        f", {key}={text(value)}" for key, value in given.items() if value is not None
    )
    try:
        found = con.execute(
            "SELECT Delimiter, Quote, Escape, len(Columns) "
            f"FROM sniff_csv({file_literal(plain)}, header=true, all_varchar=true, skip=0, "
            f"strict_mode=true, comment='', compression={_compression(plain)}{options_sql})"
        ).fetchone()
    except duckdb.Error:
        return "", "", "", 0
    separator, quote, escape = ("" if part == "(empty)" else part for part in found[:3])
    return separator, quote, escape, found[3]


def _compression(path: Path) -> str:
    return "'gzip'" if is_gzipped(path) else "'none'"


@dataclass(frozen=True)
class CsvFile:
    """A CSV file ready to be queried in SQL."""

    path: Path
    options: CsvOptions
    """Settled."""
    names: list[str]
    """Of every column in the file."""
    plain: Path
    """The file with its text as UTF-8, a line of names first."""

    def query(self, sql: str) -> pa.Table:
        """The result of `sql`, in which `{file}` is the file with text columns c0, c1, ...

        The names are ours because in SQL 'Age' and 'age' are one name.
        """
        with connection(self.plain.stat().st_size) as con:
            return self.run(lambda filled: con.sql(filled).to_arrow_table(), sql)

    def run(self, call: Callable[[str], Result], sql: str) -> Result:
        """The result of `call` with the SQL, the file inserted; it may be called twice."""
        for limit in LINE_LIMITS:
            try:
                return call(sql.replace("{file}", self.scan(limit)))
            except duckdb.Error as error:
                if not self.may_be_longer(error, limit):
                    raise self.translated(error) from None
        raise AssertionError("the last limit returns or raises")

    def may_be_longer(self, error: Exception, limit: int) -> bool:
        """Whether a larger limit may help: of a long text with line breaks DuckDB says that its quote
        is never closed."""
        found = str(error).lower()
        large = self.plain.stat().st_size > limit or is_gzipped(self.plain)
        return limit != LINE_LIMITS[-1] and (
            LINE_TOO_LONG in found or (UNTERMINATED in found and large)
        )

    def translated(self, error: Exception) -> InputError:
        """An error of DuckDB as one of ours; Arrow passes on its text without its kind."""
        known = error if isinstance(error, duckdb.Error) else duckdb.Error(str(error))
        return translate_error(self.path, self.options, len(self.names), known)

    def scan(self, line_limit: int) -> str:
        """The SQL of the file's rows."""
        types = ", ".join(f"c{i}: 'VARCHAR'" for i in range(len(self.names)))
        quote = self.options.quote or ""
        escape = self.options.escape or quote
        rows = (
            f"read_csv({file_literal(self.plain)}, columns={{{types}}}, auto_detect=false, "
            f"header={str(self.options.has_header).lower()}, delim={text(self.separator)}, "
            f"quote={text(quote)}, "
            f"escape={text(escape)}, nullstr='', allow_quoted_nulls=false, strict_mode=true, "
            f"null_padding=false, comment='', compression={_compression(self.plain)}, "
            f"max_line_size={line_limit})"
        )
        if not self.options.formulas:
            return rows
        places = [f"c{i}" for i in range(len(self.names))]
        return f"(SELECT {', '.join(f'{unescape_sql(p)} AS {p}' for p in places)} FROM {rows})"

    @property
    def separator(self) -> str:
        """The separator between fields."""
        return self.options.separator or ","

    def place(self, column: str) -> str:
        """The SQL name of a column."""
        if column not in self._places:
            raise InputError(
                f"{self.path} has no column '{column}'.{nearest(column, self.names)} "
                f"It has: {listed(self.names)}."
            )
        return self._places[column]

    @cached_property
    def _places(self) -> dict[str, str]:
        return {name: f"c{i}" for i, name in enumerate(self.names)}


@contextmanager
def open_csv(path: Path, options: CsvOptions) -> Iterator[CsvFile]:
    """The file, settled, with its column names checked."""
    options, _ = settle(path, options)
    names = header_names(path, options)
    header = plain_header(path, options, names)
    copied = as_utf8(
        path,
        options.encoding or UTF8,
        header=header,
        footer=options.footer,
        blanks=options if options.blanks else None,
    )
    with copied as plain:
        yield CsvFile(path, options, names, plain)


def read_csv(
    path: Path, options: CsvOptions, columns: Sequence[str] | None = None, coded: bool = False
) -> pa.Table:
    """The table, its columns as text, its rows in the order of the file.

    coded: texts may have codes, where that is faster.
    """
    with open_csv(path, options) as file:
        wanted = file.names if columns is None else list(columns)
        places = list(map(file.place, wanted))
        table = None
        if coded and not options.formulas:
            table = read_coded(
                file.plain, file.options, len(file.names), [int(place[1:]) for place in places]
            )
        if table is None and not options.formulas:
            table = read_regular(file.plain, file.options, len(file.names), places)
        if table is None:
            table = file.query(f"SELECT {', '.join(places)} FROM {{file}}")
            check_separators(file, table.num_rows)
    return table.rename_columns(wanted)


def check_separators(file: CsvFile, rows: int) -> None:
    """Refuse what DuckDB accepts: a row with a separator too many at its end, and rows it skipped.

    Every separator is between two columns or inside a value, so their number must add up.
    """
    columns, lines = len(file.names), rows + file.options.has_header
    found = _count(file.plain, file.separator.encode(UTF8))
    if found == lines * (columns - 1):
        return
    without = (f"replace(c{i}, {text(file.separator)}, '')" for i in range(columns))
    inside = (f"sum(length(c{i}) - length({short}))" for i, short in enumerate(without))
    total = " + ".join(f"coalesce({each}, 0)" for each in inside)
    counted = file.query(f"SELECT {total} AS n FROM {{file}}")["n"][0].as_py()
    between = lines * (columns - 1) + counted
    # separators in column names count too, unless the names were replaced
    in_names = 0
    if file.options.has_header:
        written = first_fields(file.path, file.options)
        in_names = sum(name.count(file.separator) for name in written)
    if found not in (between, between + in_names):
        raise first_overlong(file.path, file.options, columns) or skipped_rows(file.path, rows)


def _count(plain: Path, separator: bytes) -> int:
    """How often the separator's bytes occur in the file."""
    total, kept = 0, b""
    with open_bytes(plain) as stream:
        while block := stream.read(BLOCK):
            block = kept + block
            total += block.count(separator)
            # a separator of several bytes may be split between two blocks
            kept = block[len(block) - len(separator) + 1 :]
    return total


def csv_batches(
    path: Path, options: CsvOptions, columns: Sequence[str], batch_rows: int = BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """The named columns as text, called p0, p1, ... in this order, rows in the order of the file.

    An error in the file may be raised only after rows were returned; these must be discarded then.
    """
    with open_csv(path, options) as file:
        rows = 0
        for limit in LINE_LIMITS:
            try:
                for batch in _batches(file, columns, limit, batch_rows, rows):
                    rows += batch.num_rows
                    yield batch
                break
            except (duckdb.Error, pa.ArrowException, OSError) as error:
                if not file.may_be_longer(error, limit):
                    raise file.translated(error) from None
        check_separators(file, rows)


def _batches(
    file: CsvFile, columns: Sequence[str], limit: int, batch_rows: int, skipped: int
) -> Iterator[pa.RecordBatch]:
    """The rows after the first `skipped` ones."""
    chosen = ", ".join(f"{file.place(name)} AS p{i}" for i, name in enumerate(columns))
    with connection(file.plain.stat().st_size) as con:
        rows = con.sql(f"SELECT {chosen} FROM {file.scan(limit)}")
        for batch in rows.to_arrow_reader(batch_rows):
            if batch.num_rows > skipped:
                yield batch.slice(skipped)
            skipped = max(0, skipped - batch.num_rows)


def write_csv(table: pa.Table, path: Path, options: CsvOptions) -> None:
    """Write the table as UTF-8 text in the dialect of `options`."""
    columns = [f"c{i}" for i in range(table.num_columns)]
    if can_write(table, path, settled := options.for_output(path)):
        _write_names(table, columns, path, options)
        append_rows(table, path, settled.separator or ",", settled.quote or '"')
        return
    # DuckDB ignores the case of names, so it gets names of ours
    published = pa.table([_plain(column) for column in table.columns], columns)
    with connection(table.nbytes) as con:
        con.register("published", published)
        copy_csv(con, "published", columns, table.column_names, path, options)


def _write_names(table: pa.Table, columns: Sequence[str], path: Path, options: CsvOptions) -> None:
    """Write a file with the line of names alone."""
    published = pa.table([pa.array([], pa.string())] * len(columns), columns)
    with connection(0) as con:
        con.register("published", published)
        copy_csv(con, "published", columns, table.column_names, path, options)


def write_csv_batches(
    schema: pa.Schema, rows: pa.RecordBatchReader, path: Path, options: CsvOptions
) -> None:
    """The same for a table that comes in parts."""
    columns = [f"c{i}" for i in range(len(schema))]
    plain = [_plain(pa.array([], kind)).type for kind in schema.types]
    renamed = pa.RecordBatchReader.from_batches(
        pa.schema(list(zip(columns, plain, strict=True))),
        (pa.RecordBatch.from_arrays([*map(_plain, batch.columns)], columns) for batch in rows),
    )
    with connection(SMALL + 1) as con:
        con.register("published", renamed)
        copy_csv(con, "published", columns, schema.names, path, options)


def copy_csv(
    con: Connection,
    table: str,
    columns: Sequence[str],
    names: Sequence[str],
    path: Path,
    options: CsvOptions,
) -> None:
    """Write these columns of a table of the database under other names, rows in its order."""
    settled = options.for_output(path)
    kinds = con.sql(f"SELECT {', '.join(columns)} FROM {table} LIMIT 0").types if columns else []
    # what is not a number is missing: as the text `nan` it would count as a value
    values = [
        f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END"
        if kind.id in ("float", "double")
        else escape_sql(f"CAST({column} AS VARCHAR)")
        if options.formulas and kind.id in ("varchar", "enum")
        else column
        for column, kind in zip(columns, kinds, strict=True)
    ]
    names = [escaped(name) for name in names] if options.formulas else names
    plain_header = _plain_header(names)
    rows = _rows(table, values, names, plain_header)
    quote = text(settled.quote or '"')
    target = text(str(path.absolute()))
    try:
        con.execute(
            f"COPY ({rows}) TO {target} (FORMAT csv, HEADER {plain_header}, "
            f"DELIMITER {text(settled.separator or ',')}, QUOTE {quote}, ESCAPE {quote}, "
            f"NULLSTR '', COMPRESSION {'gzip' if is_gzipped(path) else 'none'}, "
            # a temporary file of its own would be left behind after a crash
            "USE_TMP_FILE false)"
        )
    except duckdb.IOException:
        # its message may quote a value; ours names the file
        raise InputError(f"{path} could not be written. Is the disk full?") from None


def _plain(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """The column in a type that DuckDB has; other types as the text that a CSV holds anyway."""
    unknown = pa.types.is_float16(column.type) or pa.types.is_decimal256(column.type)
    return text_of(column) if unknown or pa.types.is_interval(column.type) else column


def _plain_header(names: Sequence[str]) -> bool:
    """Whether DuckDB writes these names unchanged: it changes empty and duplicate ones."""
    return all(names) and len({name.lower() for name in names}) == len(names)


def _rows(table: str, columns: Sequence[str], names: Sequence[str], plain_header: bool) -> str:
    """The SQL of the rows to write; the header is the first row where DuckDB would change a name."""
    if plain_header:
        shown = ", ".join(f"{c} AS {name(n)}" for c, n in zip(columns, names, strict=True))
        return f"SELECT {shown} FROM {table}"
    header = ", ".join(text(n) for n in names)
    cast = ", ".join(f"CAST({c} AS VARCHAR)" for c in columns)
    return f"SELECT {header} UNION ALL SELECT {cast} FROM {table}"


def translate_error(
    path: Path, options: CsvOptions, columns: int, error: duckdb.Error
) -> InputError:
    """An error that says where, what and what to do, and quotes no row."""
    found = str(error)
    counts = re.findall(r"Expected Number of Columns: \d+ Found: (\d+)", found)
    where = _where(path, options, found)
    if counts:
        return wrong_field_count(where, int(counts[-1]), columns)
    lowered = found.lower()
    if UNTERMINATED in lowered:
        return InputError(f"{where}: {BAD_QUOTE}")
    if "utf-8" in lowered or "unicode" in lowered:
        return not_text(path, options.encoding or UTF8)
    if LINE_TOO_LONG in lowered:
        return InputError(f"{where}: the line is too long; a quote may be left open there.")
    if isinstance(error, duckdb.OutOfMemoryException):
        return InputError(
            f"{path} does not fit into memory. Remove columns or rows, or set a limit with --memory."
        )
    if isinstance(error, duckdb.IOException):
        return InputError(f"{path} could not be read. Check that it still exists and is complete.")
    if _mixed_line_ends(path):
        return InputError(
            f"{path} mixes line ends (\\n, \\r\\n or \\r). Save it again with one kind."
        )
    return InputError(f"{where}: this is not a regular CSV: {BAD_QUOTE}")


def wrong_field_count(where: str, found: int, columns: int) -> InputError:
    """A record with too few or too many fields."""
    fields = "1 field" if found == 1 else f"{found} fields"
    named = "1 column" if columns == 1 else f"{columns} columns"
    return InputError(
        f"{where}: {fields}, but the first line names {named}. Correct that line: a missing or extra "
        "separator, or a text that holds a separator and is not quoted."
    )


def first_overlong(path: Path, options: CsvOptions, columns: int) -> InputError | None:
    """The error for the first record with more fields than columns, if there is one."""
    for line, fields in records(path, options):
        if len(fields) > columns:
            return wrong_field_count(f"{path}, line {line}", len(fields), columns)
    return None


def skipped_rows(path: Path, rows: int) -> InputError:
    """The error for a file in which rows and separators do not add up."""
    return InputError(
        f"{path}: only {rows} rows could be recognised, which is not all of the file. "
        f"Perhaps {BAD_QUOTE}"
    )


def _where(path: Path, options: CsvOptions, found: str) -> str:
    """'FILE, line N' if DuckDB named a record; it counts records, a text editor counts lines."""
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
        # whole lines, so that no '\r\n' is split
        for line in stream:
            both += line.endswith(b"\r\n")
            line_feeds += line.endswith(b"\n")
            returns += line.count(b"\r")
    return [both, line_feeds - both, returns - both].count(0) < 2
