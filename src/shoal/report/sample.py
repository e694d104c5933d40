"""The sample of published rows on a page: the columns that fit, and which are left out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.report.formatting import names

ON_SCREEN, ON_PAPER = 60, 8
"""Columns that are shown; on paper nothing scrolls."""
MOST_NAMED = 200
"""Columns left out that are named."""


@dataclass(frozen=True)
class SampleView:
    """The columns and rows that are shown."""

    columns: list[str]
    rows: list[list[str | None]]
    n_columns: int
    """Columns of the release."""
    left_out: str
    """The names of those that are not shown, empty where all are."""
    left_out_on_paper: str
    on_paper: int = ON_PAPER


def sample_view(certificate: Mapping[str, Any]) -> SampleView:
    """The sample of a certificate."""
    found = certificate["sample"]
    columns = found["columns"]
    return SampleView(
        columns[:ON_SCREEN],
        [row[:ON_SCREEN] for row in found["rows"]],
        len(columns),
        names(columns[ON_SCREEN:], MOST_NAMED),
        names(columns[ON_PAPER:], MOST_NAMED),
    )
