"""Quotes by which rows may be hidden in a field, or a field be split into rows.

A quote that is opened by mistake makes one field of everything up to the next one, rows of other people
too. Readers do not agree on quotes after blanks either. Both are looked for before a row is read: what
can be read in two ways is asked.
"""

import csv
import shlex
from dataclasses import replace
from pathlib import Path

from shoal.errors import InputError
from shoal.io.blank_quotes import blank_before_quote, blank_before_text, lines_of, splitter
from shoal.io.csv_dialect import (
    BLOCK,
    LONGEST_LINE,
    UTF8,
    CsvOptions,
    is_utf8,
    not_text,
    open_text,
    texts_of_records,
)
from shoal.io.paths import is_gzipped
from shoal.io.regular_csv import Regularity, regularity


def quotes_after_blanks(path: Path, options: CsvOptions, asks: bool) -> bool:
    """Whether quotes of a file follow blanks.

    Raises `InputError` where a quote follows something that is only drawn as a blank, and, if it `asks`,
    where a field between quotes may hide rows.

    Parameters
    ----------
    path
        The file.
    options
        How it is written, its separator, quote and encoding settled.
    asks
        Whether it is open that quotes are meant as such.
    """
    quote, separator = options.quote or "", options.separator or ","
    if not quote:
        return False
    try:
        if is_utf8(options.encoding or UTF8) and not is_gzipped(path):
            found = regularity(path, separator, quote) if separator.isascii() else Regularity.NONE
            if found is Regularity.LINES or (found is Regularity.LINES_IN_FIELDS and not asks):
                return False
            likely = found is Regularity.NONE and _may_follow(path, options)
        else:
            likely = _may_follow(path, options)
        if not likely and not asks:
            return False
        return _look(path, replace(options, blanks=True), likely, asks)
    except UnicodeError:
        raise not_text(path, options.encoding or UTF8) from None
    except csv.Error:
        return likely  # explained when the rows are read


def _may_follow(path: Path, options: CsvOptions) -> bool:
    """Whether a quote follows blanks behind a separator or a line end, inside of quotes or outside."""
    quote = options.quote or ""
    about = blank_before_quote(options.separator or ",", quote)
    with open_text(path, options.encoding or UTF8) as stream:
        while text := stream.read(BLOCK):
            text += stream.readline(LONGEST_LINE)
            if quote in text and about.search(text):
                return True
    return False


def _look(path: Path, options: CsvOptions, likely: bool, asks: bool) -> bool:
    """See `quotes_after_blanks`; the records are read one by one.

    likely: whether quotes may follow blanks.
    """
    quote, separator = options.quote or "", options.separator or ","
    split = splitter(separator, quote, options.escape)
    about, begin = blank_before_quote(separator, quote), blank_before_text(separator, quote)
    blanks, several, like_rows, first = False, 0, 0, 0
    for line, record in texts_of_records(path, options):
        lines = lines_of(record.rstrip("\r\n"))
        if likely and about.search(record):
            pieces = split.pieces(record, strict=False)
            for piece in pieces:
                if not piece.quoted and begin.match(piece.inside):
                    if piece.inside.lstrip(" ").startswith(quote):
                        continue  # one that stays open is explained when the rows are read
                    raise _after_no_blank(path, line, quote)
                blanks |= piece.blanks
                breaks = len(lines_of(piece.inside)) - 1
                between = max(len(pieces) - 1, 1)
                if piece.blanks and asks and 0 < breaks * between <= piece.inside.count(separator):
                    raise _hidden(path, line, quote, after_blanks=True)
        if len(lines) > 1:
            several += 1
            between = len(split.pieces(record, strict=False)) - 1
            if _like_rows([one.count(separator) for one in lines], between):
                like_rows += 1
                first = first or line
    # a table with texts of many lines has some by chance whose lines look like rows
    if asks and like_rows and 2 * like_rows >= several:
        raise _hidden(path, first, quote, after_blanks=False)
    return blanks


def _like_rows(separators: list[int], between: int) -> bool:
    """Whether the lines of one record look like rows, by their separators; a row has so many `between`
    its fields. A row that is broken by the mistake may be the first or the last one."""
    inner = separators[1:-1]
    if between == 1:  # that a line of a text has one separator is chance
        return len(inner) > 0 and set(separators) == {1}
    return between > 1 and (
        set(separators) == {between} or (len(inner) > 1 and set(inner) == {between})
    )


def _hidden(path: Path, line: int, quote: str, after_blanks: bool) -> InputError:
    """The error for a field that may hide rows."""
    follow = ", which follow blanks," if after_blanks else ""
    in_policy, in_shell = (
        (f"""'{quote}'""", shlex.quote(quote)) if quote != "'" else ('"\'"', '"\'"')
    )
    return InputError(
        f"{path}, line {line}: a field between the quotes {quote}{follow} spans several lines and may "
        "hide whole rows, as it does where a quote is opened by mistake. Correct the line; or, if it is "
        f"one field all the same, add `read: {{quote: {in_policy}}}` to the policy or pass --quote "
        f"{in_shell}; or, if quotes have no meaning in this file, `read: {{quote: ''}}` or --quote ''."
    )


def _after_no_blank(path: Path, line: int, quote: str) -> InputError:
    """The error for a quote behind something that some readers take for a blank and others do not."""
    return InputError(
        f"{path}, line {line}: a quote {quote} follows a tab, a no-break space or another character "
        "that is drawn as a blank but is none. Some programs take such a quote for the beginning of a "
        "field, others for a part of it. Remove what stands before it, or pass --quote '' if quotes "
        "have no meaning in this file."
    )
