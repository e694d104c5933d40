"""How the texts of a column are read: as numbers, as dates, or as texts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ValueReading:
    """How values are written; what is None is detected."""

    type: str | None = None
    """`number`, `date` or `text`."""
    dates: str | None = None
    """The format of dates, such as `%d/%m/%Y`."""
    decimal: str | None = None
    """The decimal mark."""
    thousands: str | None = None
    """The mark between groups of three digits."""


AS_FOUND = ValueReading()
"""Everything is detected."""
