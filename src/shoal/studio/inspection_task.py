"""What there is to know of a table before a policy is chosen."""

from dataclasses import dataclass
from typing import Any

from shoal import api
from shoal.progress import ProgressCallback
from shoal.studio.worker import Tables


def inspect_table(
    tables: Tables, report: ProgressCallback, read: dict[str, Any], person: str | None
) -> "api.Inspection":
    """The suggested roles with their reasons, and who stands out."""
    key = f"inspection {sorted(read.items())} {person}"
    if key not in tables.kept:
        assert tables.place is not None
        tables.kept[key] = api.inspect(tables.place, person=person, read=read, progress=report)
    found: api.Inspection = tables.kept[key]
    return found


def values_of_column(
    tables: Tables, report: ProgressCallback, name: str, rare: bool
) -> "api.ValueCounts":
    """How often the values of a column occur."""
    del report
    return tables.opened().value_counts(name, rare)


MOST_VALUES = 400
"""A column with more values is not grouped by hand."""


@dataclass(frozen=True)
class ColumnValues:
    """The values of a column."""

    bars: "api.ValueCounts"
    """How often they occur, for a picture."""
    rows: dict[str, int] | None
    """Rows of each value, most common first; None where there are too many to be grouped by hand."""


def column_values(tables: Tables, report: ProgressCallback, name: str) -> ColumnValues:
    """How often the values of a column occur."""
    del report
    bars = tables.opened().value_counts(name)
    counted = tables.opened().table().column(name).cast("string").drop_null().value_counts()
    if len(counted) > MOST_VALUES:
        return ColumnValues(bars, None)
    pairs = zip(
        counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True
    )
    return ColumnValues(bars, dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0]))))
