"""Texts that a spreadsheet would run: how they are recognised, escaped and read back.

A program that opens a CSV file takes a text for a formula that begins with `=`, `+`, `-`, `@`, a tab or
a return, unless it is a number. An apostrophe in front makes it a text. A text that begins with
apostrophes before such a character gets one more, so that every escaped text has one meaning.
"""

import re

RUN = r"[=+\-@\t\r]"
NUMBER = r"[+-][0-9.,]*[0-9][0-9.,]*([eE][+-]?[0-9]+)?"
"""A number with a sign; digits and marks alone are never run."""
ESCAPED = rf"^'('*{RUN})"
"""A text as it is escaped; without the apostrophe it is as it was."""

_RUN, _TO_ESCAPE = re.compile(RUN), re.compile(rf"'*{RUN}")
_NUMBER, _ESCAPED = re.compile(NUMBER), re.compile(ESCAPED)


def is_run(text: str) -> bool:
    """Whether a spreadsheet would run a text."""
    return _RUN.match(text) is not None and _NUMBER.fullmatch(text) is None


def escaped(text: str) -> str:
    """The text as it is written where formulas are escaped."""
    must = _TO_ESCAPE.match(text) is not None and _NUMBER.fullmatch(text) is None
    return f"'{text}" if must else text


def unescaped(text: str) -> str:
    """The text that was escaped."""
    return _ESCAPED.sub(r"\1", text)


def escape_sql(column: str) -> str:
    """SQL of DuckDB that escapes the texts of a column."""
    begins, number = _literal(f"^'*{RUN}"), _literal(NUMBER)
    return (
        f"CASE WHEN regexp_matches({column}, {begins}) AND NOT regexp_full_match({column}, {number}) "
        f"THEN '''' || {column} ELSE {column} END"
    )


def unescape_sql(column: str) -> str:
    """SQL of DuckDB for the texts of a column that were escaped."""
    return rf"regexp_replace({column}, {_literal(ESCAPED)}, '\1')"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
