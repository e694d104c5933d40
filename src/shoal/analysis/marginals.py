"""How far the distribution of each column is from that of the raw table."""

from dataclasses import dataclass

import numpy as np

from shoal.analysis.plain_values import PlainColumn, PlainTables
from shoal.arrays import Floats, Ints


@dataclass(frozen=True)
class ColumnUtility:
    """One column before and after."""

    column: str
    kind: str
    """`number`, which dates and times are too, or `category`."""
    total_variation: float
    """The share of rows that would have to change their value for the two distributions to be the same:
    half the sum of the differences. Numbers with many values are counted in twenty intervals of equally
    many raw rows."""
    wasserstein: float | None
    """Numbers: how far values have moved on average, as a share of the raw column's range."""
    mean_raw: float | None
    """Numbers only; days since 1970 for dates, seconds for times."""
    mean_release: float | None
    missing_raw: float
    """The share of rows without a value."""
    missing_release: float


def column_utilities(tables: PlainTables) -> tuple[ColumnUtility, ...]:
    """Every column that both tables have."""
    return tuple(_column(column) for column in tables.columns)


def _column(column: PlainColumn) -> ColumnUtility:
    raw, release = column.raw, column.release
    if not column.is_number:
        n = len(column.texts)
        apart = total_variation(_histogram(raw, n), _histogram(release, n))
        lost = (float(np.mean(raw < 0)), float(np.mean(release < 0)))
        return ColumnUtility(column.name, "category", apart, None, None, None, *lost)
    known: Floats = raw[~np.isnan(raw)].astype(np.float64)
    seen: Floats = release[~np.isnan(release)].astype(np.float64)
    lost = (1 - len(known) / len(raw), 1 - len(seen) / len(release))
    before, after = binned(column)
    n = int(max(before.max(initial=0), after.max(initial=0))) + 1
    apart = total_variation(_histogram(before, n), _histogram(after, n))
    if not len(known) or not len(seen):
        return ColumnUtility(column.name, "number", apart, None, None, None, *lost)
    span = float(known.max() - known.min())
    moved = wasserstein(known, seen) / span if span > 0 else float(len(np.unique(seen)) > 1)
    means = float(known.mean()), float(seen.mean())
    return ColumnUtility(column.name, "number", apart, moved, *means, *lost)


def total_variation(one: Floats, other: Floats) -> float:
    """Half the sum of the differences of two distributions."""
    return float(np.abs(one - other).sum() / 2)


def wasserstein(one: Floats, other: Floats) -> float:
    """How far the mass of one sample must move to become the other (Wasserstein-1): the area between
    the two distribution functions."""
    every = np.sort(np.concatenate([one, other]))
    gaps = np.diff(every)
    first = np.searchsorted(np.sort(one), every[:-1], side="right") / len(one)
    second = np.searchsorted(np.sort(other), every[:-1], side="right") / len(other)
    return float(np.sum(np.abs(first - second) * gaps))


def binned(column: PlainColumn, most: int = 20) -> tuple[Ints, Ints]:
    """Both sides as codes: texts as they are, numbers in intervals of about equally many raw rows; -1
    where there is no value."""
    if not column.is_number:
        return column.raw.astype(np.int64), column.release.astype(np.int64)
    edges = number_edges(column, most)
    return _interval(column.raw, edges), _interval(column.release, edges)


def number_edges(column: PlainColumn, most: int) -> Floats:
    """The lowest number of every interval but the first; single values where there are few."""
    known = column.raw[~np.isnan(column.raw)].astype(np.float64)
    different = np.unique(known)
    if len(different) <= most:
        return different[1:]
    inner = np.quantile(known, np.arange(1, most) / most, method="inverted_cdf")
    return np.unique(inner[inner > different[0]])


def _interval(values: Floats | Ints, edges: Floats) -> Ints:
    found = np.searchsorted(edges, values, side="right").astype(np.int64)
    found[np.isnan(values)] = -1
    return found


def _histogram(codes: Floats | Ints, n: int) -> Floats:
    """(n + 1,) the share of each code; the last is that of missing ones."""
    whole = codes.astype(np.int64)
    counts = np.bincount(np.where(whole < 0, n, whole), minlength=n + 1)
    shares: Floats = counts / max(1, len(whole))
    return shares
