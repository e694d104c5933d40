"""Quotes that follow blanks in CSV files: `1, "a, b"`.

Readers of CSV do not agree on them: some take such a quote for one, some for a character of the value,
and the database does the first after one blank and the second after two, or at the beginning of a line.
So the records of such a file are split here, blanks left out, and written again as all readers agree.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

BLANKS = " \t\v\f\u0085\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
"""What is drawn as a blank or not at all, as it stands in a class of a regular expression."""


class Piece(NamedTuple):
    """A field as it is written."""

    blanks: bool
    """Whether blanks stand before its opening quote or behind its closing one."""
    quoted: bool
    inside: str
    """What stands between the quotes, as it is written; all of a field without quotes."""


@dataclass(frozen=True)
class RecordSplitter:
    """Splits records in which quotes may follow blanks."""

    separator: str
    quote: str
    escape: str | None
    """The character before a quote inside quotes; None if quotes are doubled."""
    _field: re.Pattern[str]
    _twice: str

    def pieces(self, record: str, strict: bool) -> list[Piece]:
        """The fields of a record, which is given with its line end; none of a blank line.

        strict: whether `csv.Error` is raised where a quote stays open, or text follows a closing one.
        """
        text = record.rstrip("\r\n") if record.endswith(("\r", "\n")) else record
        found: list[Piece] = []
        at = 0
        while text and at <= len(text):
            field = self._field.match(text, at)
            assert field is not None, "a field may be empty"
            at = field.end() + 1
            before, inside, after, plain = field.groups()
            if inside is None:
                if plain.lstrip(" ").startswith(self.quote):
                    if strict:
                        raise csv.Error("a quote stays open")
                    at = len(text) + 1
                found.append(Piece(False, False, plain))
                continue
            if after.strip(" "):
                if strict:
                    raise csv.Error("text follows a closing quote")
                inside += after
            found.append(Piece(bool(before or after), True, inside))
        return found

    def fields(self, record: str, strict: bool) -> list[str]:
        """The texts of the fields of a record."""
        return [
            self._text(one.inside) if one.quoted else one.inside
            for one in self.pieces(record, strict)
        ]

    def _text(self, inside: str) -> str:
        if self.escape is None:
            return inside.replace(self._twice, self.quote)
        return re.sub(re.escape(self.escape) + "(.)", r"\1", inside, flags=re.DOTALL)

    def without_blanks(self, record: str) -> str:
        """The record with every quote at the beginning or the end of its field.

        Raises `csv.Error` where a quote stays open, or text follows a closing one.
        """
        text = record.rstrip("\r\n")
        quote = self.quote
        parts = (
            f"{quote}{one.inside}{quote}" if one.quoted else one.inside
            for one in self.pieces(record, strict=True)
        )
        return self.separator.join(parts) + record[len(text) :]


@lru_cache(maxsize=8)
def splitter(separator: str, quote: str, escape: str | None = None) -> RecordSplitter:
    """What splits records that are written so."""
    s, q = re.escape(separator), re.escape(quote)
    if escape is None:
        inside = f"[^{q}]*(?:{q}{q}[^{q}]*)*"
    else:
        e = re.escape(escape)
        inside = f"[^{q}{e}]*(?:{e}.[^{q}{e}]*)*"
    blanks = " *" if separator != " " else ""
    field = f"({blanks}){q}({inside}){q}([^{s}]*)|([^{s}]*)"
    return RecordSplitter(separator, quote, escape, re.compile(field, re.DOTALL), 2 * quote)


def blank_before_quote(separator: str, quote: str) -> re.Pattern[str]:
    """What stands where a field may begin with blanks and a quote; it may be inside of quotes too."""
    return re.compile(
        rf"(?:\A|[\r\n{re.escape(separator)}]){_blanks(separator)}+{re.escape(quote)}"
    )


def blank_before_text(separator: str, quote: str) -> re.Pattern[str]:
    """The beginning of a field in which blanks are followed by a quote."""
    return re.compile(_blanks(separator) + "+" + re.escape(quote))


def lines_of(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    return re.split("\r\n|\r|\n", text)


def _blanks(separator: str) -> str:
    """A class of a regular expression: what is drawn as a blank, but for the separator."""
    return f"[{BLANKS.replace(separator, '')}]"


def raw_records(
    lines: Iterable[str], separator: str, quote: str, escape: str | None
) -> Iterator[tuple[int, str]]:
    """(line, text) of each record, quotes after blanks being quotes; `line` is its first one."""
    kept: list[str] = []

    def noted() -> Iterator[str]:
        for line in lines:
            kept.append(line)
            yield line

    reader = csv.reader(
        noted(),
        delimiter=separator,
        quotechar=quote,
        escapechar=escape,
        doublequote=escape is None,
        skipinitialspace=separator != " ",
    )
    begins = 1
    for _ in reader:
        yield begins, "".join(kept)
        kept.clear()
        begins = reader.line_num + 1
