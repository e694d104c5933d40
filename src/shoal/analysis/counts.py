"""The user's own counts: how many rows have each combination of values of some columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.analysis.marginals import binned, number_edges, total_variation
from shoal.analysis.plain_values import PlainColumn, PlainTables
from shoal.arrays import Floats, Ints
from shoal.errors import InputError

MOST_CELLS = 1_000_000
INTERVALS = 10
LEAST_SHOWN = 10
"""Combinations that fewer raw rows have are counted together and never shown by their values."""


@dataclass(frozen=True)
class CountCell:
    """One combination of values."""

    values: tuple[str, ...]
    """By column; intervals of numbers as `20 to 29`; empty for the rest."""
    raw: int
    release: float
    """The expected number, in a release with as many rows as the raw table."""


@dataclass(frozen=True)
class CountUtility:
    """A table of counts, before and after."""

    columns: tuple[str, ...]
    cells: int
    """Combinations that either table has."""
    total_variation: float
    """The share of rows that are in another cell."""
    median_error: float
    """Half of the shown combinations are off by at most this share of their raw count."""
    largest_error: float
    shown: tuple[CountCell, ...]
    """The combinations with the most raw rows."""
    rest: CountCell
    """All others together."""


def count_utility(tables: PlainTables, names: Sequence[str], most_shown: int = 20) -> CountUtility:
    """Count the rows of both tables by some columns."""
    if not names or len(set(names)) < len(names):
        raise InputError('A query names one or several different columns, as in "sex, region".')
    columns = [tables.column(name) for name in names]
    parts = [binned(column, INTERVALS) for column in columns]
    sizes = [int(max(a.max(initial=-1), b.max(initial=-1))) + 2 for a, b in parts]
    if np.prod(np.array(sizes, np.float64)) > MOST_CELLS:
        raise InputError(
            f"The query {', '.join(names)} has more than {MOST_CELLS:,} combinations of values. Count "
            "by fewer columns, or by columns with fewer values."
        )
    raw = np.bincount(_cells([a for a, _ in parts], sizes), minlength=int(np.prod(sizes)))
    release = np.bincount(_cells([b for _, b in parts], sizes), minlength=len(raw)).astype(float)
    release *= tables.raw_rows / release.sum()
    apart = total_variation(raw / raw.sum(), release / release.sum())
    order = np.argsort(-raw, kind="stable")
    safe = order[raw[order] >= LEAST_SHOWN]
    errors: Floats = np.abs(release[safe] - raw[safe]) / raw[safe]
    shown = np.sort(safe[:most_shown])  # in the order of their values
    texts = [_texts(column) for column in columns]
    cells = tuple(
        CountCell(_values(int(cell), sizes, texts), int(raw[cell]), float(release[cell]))
        for cell in shown
    )
    rest = CountCell(
        (),
        int(raw.sum() - raw[shown].sum()),
        max(0.0, float(release.sum() - release[shown].sum())),
    )
    return CountUtility(
        tuple(names),
        int(((raw > 0) | (release > 0)).sum()),
        apart,
        float(np.median(errors)) if len(errors) else 0.0,
        float(errors.max(initial=0.0)),
        cells,
        rest,
    )


def _cells(codes: Sequence[Ints], sizes: Sequence[int]) -> Ints:
    """The number of each row's combination; code -1 is the last one of a column."""
    found = np.zeros(len(codes[0]), np.int64)
    for part, size in zip(codes, sizes, strict=True):
        found = found * size + np.where(part < 0, size - 1, part)
    return found


def _values(cell: int, sizes: Sequence[int], texts: Sequence[Sequence[str]]) -> tuple[str, ...]:
    found = []
    for size, own in zip(reversed(sizes), reversed(texts), strict=True):
        cell, code = divmod(cell, size)
        found.append("no value" if code == size - 1 else own[code])
    return tuple(reversed(found))


def _texts(column: PlainColumn) -> Sequence[str]:
    """The text of every code that `binned` gives."""
    if not column.is_number:
        return column.texts
    known = column.raw[~np.isnan(column.raw)].astype(np.float64)
    edges = number_edges(column, INTERVALS)
    if len(np.unique(known)) <= INTERVALS:
        return [column.text(low) for low in np.unique(known).tolist()]
    whole = bool(np.all(known == np.floor(known)))
    found = [
        f"below {column.text(edges[0])}"
    ]  # the lowest and the highest value are somebody's own
    for low, after in zip(edges.tolist(), edges.tolist()[1:], strict=False):
        last = column.text(after - 1) if whole else f"below {column.text(after)}"
        found.append(f"{column.text(low)} to {last}")
    return [*found, f"{column.text(edges[-1])} or more"]
