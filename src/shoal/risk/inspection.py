"""Look at a table before it is published: what each column is, and who stands out.

Counts and column names only: no value of the table is in what comes out.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from shoal.errors import InputError, listed
from shoal.risk.assessment import Assessment, Reidentification, assessed, classes_of
from shoal.risk.columns import Contents, Role, Treatment, contents_of, suggest
from shoal.risk.population import PopulationUniques
from shoal.risk.uniqueness import (
    ColumnSet,
    MinimalUniques,
    Search,
    UniqueRows,
    search,
    unique_rows,
    unique_without_each,
)

__all__ = ["ColumnReport", "ColumnSet", "Inspection", "Search", "inspect_table"]


@dataclass(frozen=True)
class ColumnReport:
    """One column, counted, with a suggestion."""

    name: str
    type: str
    """What the values are, in words."""
    distinct: int
    """Different values; missing is none."""
    missing: int
    """Rows without a value."""
    unique_alone: float
    """Share of rows that no other row equals in this column."""
    unique_caused: float | None
    """Share of rows that are unique on all suspected quasi-identifiers, but would not be without
    this one; None for columns that are not suspected."""
    role: Role
    """The suggested role."""
    treatment: Treatment
    """How the column is then published: `ordered`, `unordered`, `mask` or `date` make it coarser,
    `kept` leaves it, `dropped` and `read` do not publish it."""
    reason: str
    """Why, in one sentence."""


@dataclass(frozen=True)
class Inspection:
    """What there is to know about a table before choosing a policy."""

    rows: int
    columns: tuple[ColumnReport, ...]
    """In the table's order."""
    unique_rows: int
    """Rows that no other row equals in all suspected quasi-identifiers."""
    unique_share: float
    """The same, of all rows."""
    keys: tuple[str, ...]
    """Columns in which every row has a value of its own."""
    search: Search
    """The smallest sets of suspected quasi-identifiers that single people out."""
    risk: Reidentification
    """How likely rows are to be picked out by the suspected quasi-identifiers."""
    population_uniques: PopulationUniques | None = None
    """People who are alone in the population, estimated from a sampling fraction."""
    minimal_uniques: MinimalUniques | None = None
    """The smallest sets of suspected quasi-identifiers that single each row out."""
    warnings: tuple[str, ...] = ()
    """What was guessed to read the file."""

    @property
    def quasi(self) -> tuple[str, ...]:
        """The suspected quasi-identifiers."""
        return tuple(column.name for column in self.columns if column.role == "quasi")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        searched = {**asdict(self.search), "bounded": self.search.bounded}
        return {**asdict(self), "quasi": list(self.quasi), "search": searched}


def inspect_table(
    table: pa.Table, fraction: float | None = None, msu: int | None = None
) -> Inspection:
    """Count the columns of a table, suggest their roles and look for people who stand out.

    fraction: the share of a population that is in the table, to estimate who is unique there. msu:
    the largest set of columns in which minimal sample uniques are looked for.
    """
    require_single_names(table.column_names)
    contents = [contents_of(name, table.column(name)) for name in table.column_names]
    rows = table.num_rows

    def told(quasi: Sequence[Contents]) -> Assessment:
        return assessed(quasi, classes_of(quasi, rows)[1], None, fraction, msu)

    return inspection_of(contents, rows, told, unique_rows, unique_without_each)


def inspection_of(
    contents: Sequence[Contents],
    rows: int,
    told: Callable[[Sequence[Contents]], Assessment],
    unique_rows: UniqueRows,
    unique_without_each: Callable[[int, Sequence[Contents]], list[int]],
) -> Inspection:
    """The inspection of columns that are counted, rows being counted as it asks.

    told: the risk of a table in which some columns are known.
    """
    suggested = [suggest(column) for column in contents]
    quasi = [c for c, s in zip(contents, suggested, strict=True) if s.role == "quasi"]
    unique = unique_rows(rows, quasi)
    names = [column.name for column in quasi]
    caused = dict(
        zip(names, (unique - left for left in unique_without_each(rows, quasi)), strict=True)
    )

    def share(count: int) -> float:
        return count / rows if rows else 0.0

    reports = tuple(
        ColumnReport(
            name=column.name,
            type=column.type.value,
            distinct=column.distinct,
            missing=column.missing,
            unique_alone=share(column.unique_rows),
            unique_caused=share(caused[column.name]) if column.name in caused else None,
            role=suggestion.role,
            treatment=suggestion.treatment,
            reason=suggestion.reason,
        )
        for column, suggestion in zip(contents, suggested, strict=True)
    )
    keys = tuple(c.name for c in contents if rows > 1 and c.unique_rows == rows)
    risk = told(quasi)
    return Inspection(
        rows=rows,
        columns=reports,
        unique_rows=unique,
        unique_share=share(unique),
        keys=keys,
        search=search(quasi, rows, unique_rows),
        risk=risk.reidentification,
        population_uniques=risk.population_uniques,
        minimal_uniques=risk.minimal_uniques,
    )


def require_single_names(names: Sequence[str]) -> None:
    """Refuse a table in which a name stands for several columns."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(
            f"The table has several columns of one name: {listed(twice)}. Give each its own name."
        )
