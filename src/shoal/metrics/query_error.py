"""Query error: how far range counts that a reader takes from the release are off."""

import dataclasses
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Codes, Floats, Ints
from shoal.encoding.domain import Domain, Kind
from shoal.metrics.base import AdditiveMetric, ReleaseView, Sums, Totals
from shoal.metrics.labels import codes_covered
from shoal.threads import each

BOUND = 0.001
"""No error is taken relative to fewer rows than this share of the table: a query that finds hardly
anyone would outweigh all others."""


@dataclass(frozen=True)
class QueryError(AdditiveMetric):
    """Query error: mean relative error of random range counts answered on the release; low is good.

    A query counts the rows inside a random range of some quasi-identifiers: neighbouring values, or
    leaves of a hierarchy, or any values of a column without an order. The reader of the release takes
    a group's rows to be spread evenly under its label. The error is |answer - truth| over the truth,
    or over 0.1 % of the rows where the truth is less (so also where it is 0). Missing values are
    never counted; withheld rows are not found.

    Source: the queries of Xiao and Tao, "Anatomy: simple and effective privacy preservation", 2006,
    and LeFevre, DeWitt and Ramakrishnan, "Workload-aware anonymization", 2006; the lower bound of
    Xiao, Wang and Gehrke, "Differential privacy via wavelet transforms", 2010.
    """

    on_request: ClassVar[bool] = True
    high_is_good: ClassVar[bool] = False

    queries: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    """How many queries to draw."""
    columns: Annotated[int, Field(ge=1)] = 3
    """Quasi-identifiers that each query restricts; all where there are fewer."""
    selectivity: Annotated[float, Field(gt=0, le=1)] = 0.05
    """The share of all combinations of values that a query covers; each column's range covers its
    n-th root, for n columns."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Where drawing starts: the same seed gives the same queries."""

    def sums(self, view: ReleaseView) -> Sums:
        """Per query the rows that it counts, and those that the reader expects."""
        cells, counts, reader = view.cells, view.cells.counts, reader_of(view)
        codes = np.ascontiguousarray(cells.codes.T)

        def answers(number: int) -> tuple[int, float]:
            query = draw(cells.domains, self.columns, self.selectivity, self.seed, number)
            return true_count(codes, counts, query), reader.count(query)

        found: Sums = {}
        for number, (truth, answer) in enumerate(each(answers, range(self.queries))):
            found[f"truth:{number}"], found[f"answer:{number}"] = truth, answer
        return found

    def figure(self, sums: Sums, totals: Totals) -> float:
        """The mean over all queries."""
        least = max(1.0, BOUND * totals.n_rows)
        truth = np.array([sums[f"truth:{i}"] for i in range(self.queries)])
        answer = np.array([sums[f"answer:{i}"] for i in range(self.queries)])
        return float(np.mean(np.abs(answer - truth) / np.maximum(truth, least)))


class ColumnRange(NamedTuple):
    """The values of one column that a query counts."""

    column: int
    begin: float
    """RANGE, TREE: the first place, in whole units."""
    end: float
    """RANGE, TREE: the last place."""
    codes: Bools
    """(size,) the codes in the range."""


Query = tuple[ColumnRange, ...]


def draw(
    domains: tuple[Domain, ...], n_columns: int, selectivity: float, seed: int, number: int
) -> Query:
    """One query; it knows the columns' values alone, so the order of the rows does not matter."""
    random = np.random.default_rng((seed, number))
    n_columns = min(n_columns, len(domains))
    share = selectivity ** (1 / n_columns)
    chosen = np.sort(random.choice(len(domains), n_columns, replace=False))
    return tuple(_random_range(domains[column], int(column), share, random) for column in chosen)


def _random_range(
    domain: Domain, column: int, share: float, random: np.random.Generator
) -> ColumnRange:
    """A random part of a column, about `share` of it; never the missing value."""
    known = domain.size - (domain.missing >= 0)
    asked = np.zeros(domain.size, np.bool_)
    if domain.kind == Kind.SET:
        asked[random.choice(known, max(1, round(share * known)), replace=False)] = True
        return ColumnRange(column, 0.0, 0.0, asked)
    place = domain.places[:known]
    width = int(place[-1]) + 1
    asked_width = max(1, round(share * width))
    begin = int(random.integers(0, width - asked_width + 1))
    end = begin + asked_width - 1
    asked[:known] = (begin <= place) & (place <= end)
    return ColumnRange(column, float(begin), float(end), asked)


def true_count(codes: Codes, counts: Ints, query: Query) -> int:
    """Rows of the table that a query counts; `codes` has a line per column."""
    from shoal.kernels.range_counts import count_rows

    sizes = [len(ask.codes) for ask in query]
    columns = np.array([ask.column for ask in query], np.int64)
    starts = np.cumsum([0, *sizes[:-1]]).astype(np.int64)
    asked = np.concatenate([ask.codes for ask in query]).view(np.uint8)
    return int(count_rows(codes, counts, columns, starts, asked))


class _Labels(NamedTuple):
    """The labels of one column, the last one being `*`."""

    low: Floats
    high: Floats
    sets: tuple[Ints, Codes] | None
    grouping: int


@dataclasses.dataclass(frozen=True)
class Reader:
    """Someone who has the release alone and takes values to be spread evenly under a label."""

    rows: Floats
    """(classes,) rows with the same labels, group by group."""
    groups: tuple[Codes, ...]
    """Per grouping, (classes,) the group of each class; the last label is that of starred rows."""
    labels: dict[int, _Labels]
    """By column."""

    def count(self, query: Query) -> float:
        """The rows that the reader expects a query to find."""
        from shoal.kernels.range_counts import share_of_ranges, share_of_sets

        rows = self.rows.copy()
        for ask in query:
            labels = self.labels[ask.column]
            group = self.groups[labels.grouping]
            if labels.sets is not None:
                share_of_sets(group, *labels.sets, ask.codes, rows)
            else:
                share_of_ranges(group, labels.low, labels.high, ask.begin, ask.end, rows)
        return float(rows.sum())


def reader_of(view: ReleaseView) -> Reader:
    """The release as its reader sees it; rows that were withheld are not there."""
    groups, rows = _classes(view)
    labels = {}
    for number, (grouping, spans) in enumerate(zip(view.groupings, view.spans, strict=True)):
        for j, column in enumerate(grouping.columns):
            domain = view.cells.domains[column]
            if domain.kind == Kind.SET:
                starts, members = spans.sets[j]
                every = np.arange(domain.size, dtype=np.int32)
                sets = (np.append(starts, starts[-1] + domain.size), np.append(members, every))
                labels[column] = _Labels(np.zeros(0), np.zeros(0), sets, number)
                continue
            place = domain.places
            first, last = codes_covered(domain, spans, j)
            low, high = np.append(place[first], 0.0), np.append(place[last], place[-1])
            nowhere = np.append(first == domain.missing, False)
            low[nowhere], high[nowhere] = -1.0, -1.0
            labels[column] = _Labels(low, high, None, number)
    return Reader(rows.astype(np.float64), groups, labels)


def _classes(view: ReleaseView) -> tuple[tuple[Codes, ...], Ints]:
    """Which groups meet in some row, and in how many; groups are numbered as their labels."""
    if len(view.groupings) == 1:
        sizes = view.spans[0].sizes
        return (np.arange(len(sizes), dtype=np.int32),), sizes
    kept = ~view.suppressed
    each = [np.where(g.group < 0, g.n_groups, g.group)[kept] for g in view.groupings]
    found, rows = np.unique(np.stack(each, axis=1), axis=0, return_counts=True)
    return tuple(np.ascontiguousarray(found[:, i], np.int32) for i in range(len(each))), rows
