"""Random range counts, and what the table and the release answer to them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.cells.domain import Domain, Kind
from shoal.cells.units import places
from shoal.metrics._covered import covered
from shoal.metrics.base import Parts


class Ask(NamedTuple):
    """What a query asks of one column."""

    column: int
    begin: float
    """RANGE, TREE: the first place asked for, in whole units."""
    end: float
    """RANGE, TREE: the last place asked for."""
    codes: npt.NDArray[np.bool_]
    """(size,) the codes asked for."""


Query = tuple[Ask, ...]


def draw(
    domains: tuple[Domain, ...], n_columns: int, selectivity: float, seed: int, number: int
) -> Query:
    """One query; it knows the columns' values alone, so the order of the rows does not matter."""
    random = np.random.default_rng((seed, number))
    n_columns = min(n_columns, len(domains))
    share = selectivity ** (1 / n_columns)
    chosen = np.sort(random.choice(len(domains), n_columns, replace=False))
    return tuple(_ask(domains[column], int(column), share, random) for column in chosen)


def _ask(domain: Domain, column: int, share: float, random: np.random.Generator) -> Ask:
    """A random part of a column, about `share` of it; never the missing value."""
    known = domain.size - (domain.missing >= 0)
    asked = np.zeros(domain.size, np.bool_)
    if domain.kind == Kind.SET:
        asked[random.choice(known, max(1, round(share * known)), replace=False)] = True
        return Ask(column, 0.0, 0.0, asked)
    place = places(domain)[:known]
    width = int(place[-1]) + 1
    asked_width = max(1, round(share * width))
    begin = int(random.integers(0, width - asked_width + 1))
    end = begin + asked_width - 1
    asked[:known] = (begin <= place) & (place <= end)
    return Ask(column, float(begin), float(end), asked)


def true_count(codes: npt.NDArray[np.int32], counts: npt.NDArray[np.int64], query: Query) -> int:
    """Rows of the table that a query asks for; `codes` has a line per column."""
    from shoal.kernels.queries import count_rows

    sizes = [len(ask.codes) for ask in query]
    columns = np.array([ask.column for ask in query], np.int64)
    starts = np.cumsum([0, *sizes[:-1]]).astype(np.int64)
    asked = np.concatenate([ask.codes for ask in query]).view(np.uint8)
    return int(count_rows(codes, counts, columns, starts, asked))


class _Labels(NamedTuple):
    """The labels of one column, the last one being `*`."""

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    sets: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]] | None
    grouping: int


@dataclass(frozen=True)
class Reader:
    """Someone who has the release alone and takes values to be spread evenly under a label."""

    rows: npt.NDArray[np.float64]
    """(classes,) rows with the same labels, group by group."""
    groups: tuple[npt.NDArray[np.int32], ...]
    """Per grouping, (classes,) the group of each class; the last label is that of starred rows."""
    labels: dict[int, _Labels]
    """By column."""

    def count(self, query: Query) -> float:
        """The rows that the reader expects a query to find."""
        from shoal.kernels.queries import share_of_ranges, share_of_sets

        rows = self.rows.copy()
        for ask in query:
            labels = self.labels[ask.column]
            group = self.groups[labels.grouping]
            if labels.sets is not None:
                share_of_sets(group, *labels.sets, ask.codes, rows)
            else:
                share_of_ranges(group, labels.low, labels.high, ask.begin, ask.end, rows)
        return float(rows.sum())


def reader_of(parts: Parts) -> Reader:
    """The release as its reader sees it; rows that were withheld are not there."""
    groups, rows = _classes(parts)
    labels = {}
    for number, (grouping, spans) in enumerate(zip(parts.groupings, parts.spans, strict=True)):
        for j, column in enumerate(grouping.columns):
            domain = parts.cells.domains[column]
            if domain.kind == Kind.SET:
                starts, members = spans.sets[j]
                every = np.arange(domain.size, dtype=np.int32)
                sets = (np.append(starts, starts[-1] + domain.size), np.append(members, every))
                labels[column] = _Labels(np.zeros(0), np.zeros(0), sets, number)
                continue
            place = places(domain)
            first, last = covered(domain, spans, j)
            low, high = np.append(place[first], 0.0), np.append(place[last], place[-1])
            nowhere = np.append(first == domain.missing, False)
            low[nowhere], high[nowhere] = -1.0, -1.0
            labels[column] = _Labels(low, high, None, number)
    return Reader(rows.astype(np.float64), groups, labels)


def _classes(parts: Parts) -> tuple[tuple[npt.NDArray[np.int32], ...], npt.NDArray[np.int64]]:
    """Which groups meet in some row, and in how many; groups are numbered as their labels."""
    if len(parts.groupings) == 1:
        sizes = parts.spans[0].sizes
        return (np.arange(len(sizes), dtype=np.int32),), sizes
    kept = ~parts.suppressed
    each = [np.where(g.group < 0, g.n_groups, g.group)[kept] for g in parts.groupings]
    found, rows = np.unique(np.stack(each, axis=1), axis=0, return_counts=True)
    return tuple(np.ascontiguousarray(found[:, i], np.int32) for i in range(len(each))), rows
