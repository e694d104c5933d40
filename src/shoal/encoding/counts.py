"""How often each sensitive value occurs in each group: all that a privacy model depends on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Codes, Ints

if TYPE_CHECKING:  # importing it would load pyarrow, which a policy can do without
    from shoal.encoding.domain import Domain

NO_ENTRIES = np.zeros(0, np.int32), np.zeros(0, np.int64)
"""The values and counts of histograms without any."""


SCALE = 1_000_000
"""Millionths of a person: what sampling weights are counted in."""


@dataclass(frozen=True)
class Reference:
    """The values of a sensitive column in the whole table: what groups are compared with."""

    counts: Ints
    """(domain.size,) rows of the whole table with each value, 0 for the missing one; where people are
    counted, the people who have it in some row."""
    people: int | None = None
    """Where people are counted: how many of them have a known value."""


@dataclass(frozen=True)
class RaisedCounts:
    """The worst case for values that are published as more general ones, group by group."""

    distinct: Ints
    """(g,) different values that occur for certain, in addition to those published as they are."""
    by_level: Ints
    """(g, levels + 1) rows that may have each sensitivity level, in addition to those."""
    rows: Ints
    """(g,) rows with such a value."""


@dataclass(frozen=True)
class Counts:
    """Histograms of many groups at once, without the zeros.

    Where the policy names a person column, people are counted in place of rows: `sizes` are the
    different people of each group, and a value is counted once for every person who has it.
    """

    sizes: Ints
    """(g,) rows of each group; where people are counted, different people."""
    starts: Ints
    """(g + 1,) group i has the entries starts[i]..starts[i+1] of the next two arrays."""
    values: Codes
    """(entries,) a sensitive code; ascending inside a group, each at most once. A missing value has
    no entry: it counts as a row, never as a value."""
    counts: Ints
    """(entries,) how often it occurs; always above 0."""
    domain: "Domain | None" = None
    """What the codes mean: their texts, order, hierarchy and levels; None where only sizes count."""
    totals: Ints | None = None
    """(domain.size,) rows of the whole table with each value, 0 for the missing one: what some models
    compare a group with."""
    everyone: int | None = None
    """Where people are counted: those of the whole table with a known value."""
    population: Ints | None = None
    """(g,) rows of the population table that each group covers, where the policy names one. While
    groups are formed: rows that equal one of the group's, divided among equal rows of the table, so
    never more than the published label covers."""
    weights: Ints | None = None
    """(g,) the sum of the sampling weights of each group, in millionths; where the policy has any."""
    raised: RaisedCounts | None = None
    """Where values are published as more general ones, which have no entry: the worst case."""
    known: Ints | None = None
    """(g,) people with a known value, where people are counted: one person may have several values,
    so it is not the sum of the entries."""
    rows: Ints | None = None
    """(g,) rows of each group, where `sizes` are people."""
    spelled: "Counts | None" = None
    """The same groups with every spelling as a value of its own, where that makes a difference."""
    shared: Ints | None = None
    """(g,) where the rows of a person are protected together: the fewest people who share all groups
    of a person of the group."""

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.sizes)

    @property
    def counts_people(self) -> bool:
        """Whether people are counted, not rows."""
        return self.rows is not None

    @property
    def units(self) -> str:
        """What is counted: `rows` or `people`."""
        return "people" if self.counts_people else "rows"

    @property
    def n_rows(self) -> int:
        """Rows of all groups."""
        return int((self.sizes if self.rows is None else self.rows).sum())

    def distinct(self) -> Ints:
        """(g,) how many different values each group has."""
        entries = np.diff(self.starts)
        return entries if self.raised is None else entries + self.raised.distinct

    def by_level(self) -> Ints:
        """(g, levels + 1) rows of each sensitivity level; only where the domain has levels."""
        assert self.domain is not None
        assert self.domain.levels is not None
        levels = self.domain.levels
        width = int(levels.max(initial=0)) + 1
        owner = np.repeat(np.arange(self.n_groups), np.diff(self.starts))
        flat = np.bincount(
            owner * width + levels[self.values], self.counts, minlength=self.n_groups * width
        )
        rows = flat.astype(np.int64).reshape(self.n_groups, width)
        if self.raised is not None:
            raised = self.raised.by_level
            rows = np.pad(rows, ((0, 0), (0, max(0, raised.shape[1] - width))))
            rows[:, : raised.shape[1]] += raised
        return rows

    def largest(self) -> Ints:
        """(g,) rows with the most frequent level of each group, or without levels with the most
        frequent value."""
        if self.domain is not None and self.domain.levels is not None:
            return self.by_level()[:, 1:].max(axis=1, initial=0)
        most = np.zeros(self.n_groups, np.int64)
        some = np.flatnonzero(np.diff(self.starts))
        if len(some):
            most[some] = np.maximum.reduceat(self.counts, self.starts[some])
        return most


def size_counts(sizes: Ints, population: Ints | None = None, rows: Ints | None = None) -> Counts:
    """The sizes of groups alone; with `rows` the sizes are people."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    return Counts(sizes, starts, *NO_ENTRIES, population=population, rows=rows)


def group_histograms(
    sizes: Ints, group: Ints, values: Ints | Codes, domain: "Domain", rows: Ints | None = None
) -> Counts:
    """How often each value occurs in each group.

    Parameters
    ----------
    sizes : (g,)
        Rows of each group.
    group, values : (n,)
        The group and the code of each observation; a negative code is no value.
    domain : Domain
        What the codes mean.
    rows : (n,), optional
        How many rows each observation stands for; 1 if not given.
    """
    known = values >= 0
    width = int(values.max(initial=0)) + 1
    # group and value in one number: sorting it sorts both, and equal ones are one entry
    keys = group[known] * np.int64(width) + values[known]
    if rows is None:
        entries, counts = np.unique(keys, return_counts=True)
    else:
        entries, place = np.unique(keys, return_inverse=True)
        counts = np.zeros(len(entries), np.int64)
        np.add.at(counts, place.reshape(-1), rows[known])
    starts = np.searchsorted(entries, np.arange(len(sizes) + 1) * width).astype(np.int64)
    codes = (entries % width).astype(np.int32)
    return Counts(sizes, starts, codes, counts.astype(np.int64), domain)
