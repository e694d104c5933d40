"""CSV files whose quotes are regular, read by Arrow, which is twice as fast as the database.

Readers of CSV agree on a file in which a quote only begins a field, ends it, or stands doubled inside:
then what a field is does not depend on how tolerant a reader is. That is checked byte by byte first. Any
other file, and every file that Arrow refuses, is left to the database, whose errors are explained.
"""

from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.arrays import Bools
from shoal.io.csv_dialect import CsvOptions
from shoal.io.paths import is_gzipped
from shoal.threads import workers

BLOCK = 1 << 22
"""Bytes that are read at a time, and the longest line."""
LINE_END, RETURN = ord("\n"), ord("\r")
CHECKED = 1 << 18
"""Bytes that are checked at a time: they stay in the processor's cache."""


def read_regular(
    plain: Path, options: CsvOptions, n_columns: int, wanted: Sequence[str]
) -> pa.Table | None:
    """Read some columns of a UTF-8 file as texts named c0, c1, ...; None where the database must.

    Parameters
    ----------
    plain
        The file.
    options
        How it is written, settled.
    n_columns
        How many columns it has.
    wanted
        The names of the columns to read.
    """
    from pyarrow import csv

    separator, quote = options.separator or ",", options.quote or ""
    # a line of one column may be an empty field or nothing at all
    if n_columns < 2 or not wanted or options.escape or is_gzipped(plain):
        return None
    if not (separator + quote).isascii():
        return None
    found = regularity(plain, separator, quote)
    if found is Regularity.NONE:
        return None
    names = [f"c{i}" for i in range(n_columns)]
    try:
        return csv.read_csv(
            plain,
            csv.ReadOptions(
                use_threads=workers() >= pa.cpu_count(),
                block_size=BLOCK,
                skip_rows=int(options.has_header),
                column_names=names,
            ),
            csv.ParseOptions(
                delimiter=separator,
                quote_char=quote or False,
                double_quote=True,
                # to look for them takes Arrow as long as half of the rest
                newlines_in_values=found is Regularity.LINES_IN_FIELDS,
            ),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=list(wanted),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowException:
        return None


class Regularity(IntEnum):
    """How readers of CSV agree on a file."""

    NONE = 0
    """Not at all."""
    LINES_IN_FIELDS = 1
    """They do; fields with quotes hold ends of lines."""
    LINES = 2
    """They do, and every end of a line ends a row."""


def regularity(plain: Path, separator: str, quote: str) -> Regularity:
    """Whether every quote begins a field, ends it or is doubled, all lines end alike, and no empty field
    ends the file; and whether lines end inside of fields."""
    quotes = _Quotes(separator, quote) if quote else None
    returns = pairs = ends = 0
    alone, last = False, b""
    with plain.open("rb") as stream:
        while block := stream.read(CHECKED):
            if quotes is not None and not quotes.take(block):
                return Regularity.NONE
            if b"\r" in block or last == b"\r":
                returns += block.count(b"\r")
                pairs += block.count(b"\r\n") + (last == b"\r" and block.startswith(b"\n"))
                ends += block.count(b"\n")
            else:
                alone = alone or b"\n" in block
            last = block[-1:]
    # Arrow may take an empty field at the very end for one with quotes
    if last == separator.encode() or (returns and (alone or not returns == pairs == ends)):
        return Regularity.NONE
    if quotes is None:
        return Regularity.LINES
    if not quotes.end():
        return Regularity.NONE
    return Regularity.LINES_IN_FIELDS if quotes.lines else Regularity.LINES


class _Quotes:
    """Checks the quotes of a file, given block by block."""

    def __init__(self, separator: str, quote: str) -> None:
        self._quote = quote.encode()
        self._before = _bytes(separator, "\n", quote)
        self._after = _bytes(separator, "\n", "\r", quote)
        self._kept = b"\n"
        """The last byte that was checked, and quotes of which the next byte is not known yet."""
        self._inside = 0
        """Whether a field with quotes is open: 1, else 0."""
        self.lines = False
        """Whether a line ended between two quotes so far."""

    def take(self, block: bytes) -> bool:
        """Check a block; False where a quote is not regular."""
        if self._quote not in block and len(self._kept) == 1:
            self._kept = block[-1:]
            self.lines = self.lines or (self._inside == 1 and (b"\n" in block or b"\r" in block))
            return True
        data = self._kept + block
        known = len(data.rstrip(self._quote))
        self._kept = data[known - 1 :]  # what is kept begins with another byte
        read = np.frombuffer(data, np.uint8)
        places = np.flatnonzero(read[1:known] == self._quote[0]) + 1
        opening, closing = places[self._inside :: 2], places[1 - self._inside :: 2]
        if not self.lines:
            ends = read[:known] == LINE_END
            if b"\r" in data:
                ends |= read[:known] == RETURN
            # a line that ends between two quotes ends after an odd number of them
            before = np.searchsorted(places, np.flatnonzero(ends)) + self._inside
            self.lines = bool((before % 2).any())
        self._inside = (self._inside + len(places)) % 2
        return bool(self._before[read[opening - 1]].all() and self._after[read[closing + 1]].all())

    def end(self) -> bool:
        """Check the end of the file, which ends a field."""
        return self.take(b"\n") and not self._inside


def _bytes(*characters: str) -> Bools:
    """(256,) whether each byte is one of some characters."""
    found = np.zeros(256, np.bool_)
    found[[ord(one) for one in characters]] = True
    return found
