"""What every result offers: plain data, a frame, one line of text and a notebook display.

A result is a frozen dataclass that derives from `Result` and is declared with `repr=False`, so that
the text below stands in for the one that a dataclass generates. It says three things about itself:
its content as plain data, the records that make its frame, and a headline.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from importlib.util import find_spec
from typing import Any

Record = Mapping[str, Any]
"""One row of a frame, by column name; every record of a result has the same keys."""

MOST_ROWS = 20
"""Rows that a notebook shows."""

STYLE = (
    ".shoal-result table { border-collapse: collapse; margin: 0.4em 0; } "
    ".shoal-result th, .shoal-result td { padding: 0.15em 0.8em 0.15em 0; text-align: left; "
    "border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); } "
    ".shoal-result .shoal-warn { border-left: 4px solid #c98a00; padding-left: 0.6em; }"
)


class Result(ABC):
    """Base class of what the functions of `shoal` return."""

    warnings: tuple[str, ...] = ()
    """What the user should know before relying on the result."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the whole result as plain values that JSON can hold."""

    @abstractmethod
    def _records(self) -> Sequence[Record]:
        """Return the rows of `to_frame`."""

    @abstractmethod
    def _headline(self) -> str:
        """Return the result in one short line, for `repr` and notebooks."""

    def to_frame(self) -> Any:
        """Return the main figures as a table, ready to be sorted, joined or plotted.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The first of these three that is installed.
        """
        return frame_of(self._records())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._headline()}>"

    def _repr_html_(self) -> str | None:
        """Return the notebook display, or nothing (so that `repr` is shown) where it fails."""
        try:
            return html_of(type(self).__name__, self._headline(), self._records(), self.warnings)
        except Exception:  # displaying a result must never lose it
            return None


def frame_of(records: Sequence[Record]) -> Any:
    """Return records as a pandas, else a polars, else a pyarrow table."""
    rows = [dict(record) for record in records]
    if find_spec("pandas"):
        return importlib.import_module("pandas").DataFrame.from_records(rows)
    if find_spec("polars"):
        return importlib.import_module("polars").from_dicts(rows, infer_schema_length=None)
    return importlib.import_module("pyarrow").Table.from_pylist(rows)


def html_of(
    title: str, headline: str, records: Sequence[Record], warnings: Sequence[str] = ()
) -> str:
    """Return a small HTML fragment: a headline, a table of records, and warnings."""
    parts = [f"<p><strong>{escape(title)}:</strong> {escape(headline)}</p>"]
    if records:
        head = "".join(f"<th>{escape(name)}</th>" for name in records[0])
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(_text(value))}</td>' for value in record.values())}</tr>"
            for record in records[:MOST_ROWS]
        )
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    if len(records) > MOST_ROWS:
        parts.append(f"<p>… and {len(records) - MOST_ROWS:,} more</p>")
    parts += [f'<p class="shoal-warn">{escape(text)}</p>' for text in warnings]
    return f'<div class="shoal-result"><style>{STYLE}</style>{"".join(parts)}</div>'


def _text(value: Any) -> str:
    """Return a cell of the notebook's table as text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)
