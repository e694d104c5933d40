"""How often each value of a column occurs, estimated from the labels of a release.

A label that stands for several values is shared out among them in proportion to how often they occur
elsewhere, again and again: the EM algorithm for coarsened data. What is certain counts: a class that is
published as `[46~49]` has somebody of 46 and somebody of 49, and a class with a set has every member of
it. So the shares in a class are those of so many people drawn from the column, given that the ends, or
the members, are among them.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from shoal.arrays import Bools, Floats, Ints
from shoal.decoding.meaning import ANYTHING, GONE, Categories, Exact, Measured

STEPS = 5
LEANING = 0.75
"""How far the values of a class follow the column: 1 as all rows of it, 0 each as likely as the others.
Classes of a partition follow the column; clusters are made of what is alike, and follow it less.
Measured by `benchmarks/decoding.py`."""
ROUNDS = 12
"""Steps in which the members of a set get their counts."""
MOST_POINTS = 100_000
"""Whole numbers, or days, between the lowest and the highest one; with more, only the ends of labels are
values."""
MOST_INSIDE = 2000
PARTS = (100, 50, 20, 10, 5, 2, 1)
"""Intervals without one of their ends are cut into so many parts, and at most so many in all."""
NEVER = 1e-11
"""Below this chance both ends of a range are taken to occur once."""


@dataclass(frozen=True)
class LabelCounts:
    """How often the labels of a column occur, and the sizes of their classes."""

    rows: Ints
    """(labels,) rows with each."""
    label: Ints
    """(sizes,) a label, with"""
    size: Ints
    """(sizes,) the size of classes that have it, and"""
    times: Ints
    """(sizes,) how many such classes there are."""


@dataclass(frozen=True)
class Marginals(ABC):
    """The shares of values in a column, and in the rows of each of its labels."""

    shares: Floats
    """(values,) the estimated share of each value."""
    leaning: Floats
    """(values,) the weights by which a label's rows are shared out among its values."""

    @abstractmethod
    def draw(self, labels: Ints, chances: Floats, choices: Floats) -> Ints:
        """(rows,) a value for each row by its label, -1 where there is none.

        chances, choices: (rows,) random numbers from 0 to 1.
        """


@dataclass(frozen=True)
class SpanMarginals(Marginals):
    """The same for numbers, dates and times, whose labels are ranges."""

    points: tuple[Exact, ...]
    """The values, ascending."""
    first: Ints
    """(labels,) the first point of each label."""
    after: Ints
    """(labels,) the point after its last one; not above the first where it has none."""
    at_first: Floats
    """(labels,) the share of rows that are at the first point beyond what the column's shares say."""
    at_last: Floats

    def expected(self) -> list[Fraction | None]:
        """(labels,) the expected value of each label; None where it has none."""
        base = self.points[0] if self.points else 0
        away = np.array([float(point - base) for point in self.points])
        mass = np.concatenate([[0.0], np.cumsum(self.leaning)])
        sums = np.concatenate([[0.0], np.cumsum(self.leaning * away)])
        found: list[Fraction | None] = []
        for i, (a, b) in enumerate(zip(self.first.tolist(), self.after.tolist(), strict=True)):
            if b <= a + 1:
                found.append(Fraction(self.points[a]) if b > a else None)
                continue
            weight = mass[b] - mass[a]
            mean = (sums[b] - sums[a]) / weight if weight > 0 else (away[a] + away[b - 1]) / 2
            low, high = self.at_first[i], self.at_last[i]
            inside = (1 - low - high) * mean + low * away[a] + high * away[b - 1]
            # sums of floats may leave the range by a rounding error
            inside = min(max(inside, away[a]), away[b - 1])
            found.append(Fraction(base) + Fraction(float(inside)))
        return found

    def draw(self, labels: Ints, chances: Floats, choices: Floats) -> Ints:
        """See Marginals.draw."""
        mass = np.concatenate([[0.0], np.cumsum(self.leaning)])
        a, b = self.first[labels], self.after[labels]
        place = mass[a] + choices * (mass[np.maximum(b, a)] - mass[a])
        found = np.clip(np.searchsorted(mass, place, side="right") - 1, a, np.maximum(b - 1, a))
        low = self.at_first[labels]
        found = np.where(chances < low + self.at_last[labels], b - 1, found)
        found = np.where(chances < low, a, found)
        return np.where(b > a, found, -1)


@dataclass(frozen=True)
class ListMarginals(Marginals):
    """The same for the values of a list; the last value is the missing one."""

    meaning: Categories
    in_labels: Floats
    """(entries,) the share of each value in the rows with a label."""

    def draw(self, labels: Ints, chances: Floats, choices: Floats) -> Ints:  # noqa: ARG002
        """See Marginals.draw."""
        mass = np.concatenate([[0.0], np.cumsum(self.in_labels)])
        a, b = self.meaning.starts[labels], self.meaning.starts[labels + 1]
        place = mass[a] + choices * (mass[b] - mass[a])
        entry = np.clip(np.searchsorted(mass, place, side="right") - 1, a, np.maximum(b - 1, a))
        everything = np.cumsum(self.shares)
        anywhere = np.searchsorted(everything, choices * everything[-1], side="right")
        anywhere = np.minimum(anywhere, len(self.shares) - 1)
        if not len(self.meaning.entries):
            return anywhere
        listed = self.meaning.entries[np.minimum(entry, len(self.meaning.entries) - 1)]
        return np.where(b > a, listed, anywhere)


def leaning(shares: Floats) -> Floats:
    """(values,) the weights of values inside a label."""
    weights: Floats = shares**LEANING
    return weights / max(float(weights.sum()), 1e-300)


def span_marginals(meaning: Measured, counts: LabelCounts, tight: bool) -> SpanMarginals:
    """The shares of numbers, dates or times.

    tight: whether the ends of the ranges of a class are values of the class.
    """
    points, shares = _points(meaning)
    spans = [_span(meaning, i, points) for i in range(len(meaning.labels))]
    first, after = np.array(spans, np.int64).reshape(-1, 2).T
    n_labels, low, high = len(meaning.labels), np.zeros(len(first)), np.zeros(len(first))
    used = (meaning.state != ANYTHING) & (after > first)
    classes = _Classes(counts, used, meaning.tight & (after > first + 1) & tight, first, after)
    if len(points) and len(classes.label):
        for _ in range(STEPS):
            shares = classes.shared_out(leaning(shares))
        _, at_first, at_last = classes.ends(leaning(shares))
        rows = np.maximum(np.bincount(classes.label, classes.size * classes.times, n_labels), 1)
        low = np.bincount(classes.label, at_first * classes.times, n_labels) / rows
        high = np.bincount(classes.label, at_last * classes.times, n_labels) / rows
    return SpanMarginals(shares, leaning(shares), points, first, after, low, high)


class _Classes:
    """The classes of a column of ranges."""

    def __init__(
        self, counts: LabelCounts, used: Bools, tight: Bools, first: Ints, after: Ints
    ) -> None:
        chosen = used[counts.label]
        self.label, self.size = counts.label[chosen], counts.size[chosen].astype(np.float64)
        self.times = counts.times[chosen]
        self.a, self.b = first[self.label], after[self.label] - 1
        self.tight = tight[self.label] & (self.size >= 2)

    def ends(self, shares: Floats) -> tuple[Floats, Floats, Floats]:
        """Per class how many rows are anywhere in the range, and how many more at either end.

        Of n rows in a range, given that somebody is at either end: with the shares q and r of the ends,
        that is so with the chance D = 1 - (1-q)^n - (1-r)^n + (1-q-r)^n, and n q (1 - (1-r)^(n-1)) / D
        rows are at the first end.
        """
        mass = np.concatenate([[0.0], np.cumsum(shares)])
        total = np.maximum(mass[self.b + 1] - mass[self.a], 1e-300)
        q, r = shares[self.a] / total, shares[self.b] / total
        n, both = self.size, np.maximum(1 - q - r, 0)
        without_q, without_r = np.maximum(1 - q, 0) ** (n - 1), np.maximum(1 - r, 0) ** (n - 1)
        neither = both ** (n - 1)
        chance = 1 - (1 - q) * without_q - (1 - r) * without_r + both * neither
        rare = chance < NEVER
        chance = np.where(rare, 1, chance)
        inside = n * np.maximum(1 - without_q - without_r + neither, 0) / chance
        at_first = n * q * (without_q - neither) / chance
        at_last = n * r * (without_r - neither) / chance
        inside = np.where(self.tight, np.where(rare, n - 2, inside), n)
        at_first = np.where(self.tight, np.where(rare, 1, at_first), 0)
        return inside, at_first, np.where(self.tight, np.where(rare, 1, at_last), 0)

    def shared_out(self, shares: Floats) -> Floats:
        """One step of the estimate: the shares of values, where rows are shared out by some weights."""
        inside, at_first, at_last = self.ends(shares)
        mass = np.concatenate([[0.0], np.cumsum(shares)])
        total = np.maximum(mass[self.b + 1] - mass[self.a], 1e-300)
        change = np.zeros(len(shares) + 1)
        np.add.at(change, self.a, inside * self.times / total)
        np.add.at(change, self.b + 1, -inside * self.times / total)
        new = shares * np.maximum(np.cumsum(change)[:-1], 0)
        np.add.at(new, self.a, at_first * self.times)
        np.add.at(new, self.b, at_last * self.times)
        found: Floats = new / new.sum()
        return found


def list_marginals(meaning: Categories, counts: LabelCounts, tight: bool) -> ListMarginals:
    """The shares of the values of a list, the missing one included."""
    n = len(meaning.texts) + 1
    shares = np.full(n, 1 / n)
    if not meaning.has_missing:
        shares[-1] = 0.0
    members = _Members(meaning, counts, tight)
    for _ in range(STEPS if len(members.entry) else 0):
        rows = members.rows(leaning(shares)) * members.times
        new = np.bincount(meaning.entries[members.entry], rows, n)
        shares = new / new.sum()
    if not len(members.entry):
        return ListMarginals(shares, shares, meaning, np.zeros(len(meaning.entries)))
    rows = members.rows(leaning(shares)) * members.times
    in_labels = np.bincount(members.entry, rows, len(meaning.entries))
    label = np.repeat(np.arange(len(meaning.labels)), np.diff(meaning.starts))
    total = np.bincount(label, in_labels, len(meaning.labels))[label]
    return ListMarginals(shares, leaning(shares), meaning, in_labels / np.maximum(total, 1e-300))


class _Members:
    """The members of the sets of all classes: one after another, class by class."""

    def __init__(self, meaning: Categories, counts: LabelCounts, tight: bool) -> None:
        many = np.diff(meaning.starts)[counts.label]
        begin = np.repeat(meaning.starts[counts.label] - (np.cumsum(many) - many), many)
        self.n_classes = len(many)
        self.entry: Ints = begin + np.arange(int(many.sum()))
        """The entry of the meaning that a member is."""
        self.of: Ints = np.repeat(np.arange(len(many)), many)
        """Its class."""
        self.size = counts.size[self.of].astype(np.float64)
        self.times = counts.times[self.of]
        self.codes = meaning.entries[self.entry]
        n, label = len(meaning.texts) + 1, counts.label[self.of]
        owners = np.repeat(np.arange(len(meaning.labels)), np.diff(meaning.known_starts))
        known = np.isin(label * n + self.codes, owners * n + meaning.known)
        enough = np.diff(meaning.known_starts)[counts.label] <= counts.size
        self.certain: Bools = known & enough[self.of] & tight

    def rows(self, shares: Floats) -> Floats:
        """(members,) how many rows of its class have each value.

        Counts of people who are drawn one by one are nearly independent of each other; a count that is
        not 0, and would be x on average, is x / (1 - exp(-x)).
        """
        total = np.bincount(self.of, shares[self.codes], self.n_classes)[self.of]
        mean = self.size * shares[self.codes] / np.maximum(total, 1e-300)
        found = mean
        for _ in range(ROUNDS if self.certain.any() else 0):
            with np.errstate(divide="ignore", invalid="ignore"):
                present = np.where(mean > 1e-9, mean / -np.expm1(-mean), 1.0)
            found = np.where(self.certain, present, mean)
            sums = np.bincount(self.of, found, self.n_classes)[self.of]
            mean = mean * self.size / np.maximum(sums, 1e-300)
        sums = np.bincount(self.of, found, self.n_classes)[self.of]
        rows: Floats = found * self.size / np.maximum(sums, 1e-300)
        return rows


def _points(meaning: Measured) -> tuple[tuple[Exact, ...], Floats]:
    """The values that rows may have, and the shares with which the estimate begins.

    Whole numbers and days between the ends; else the ends of labels that include them, and evenly spaced
    values inside of intervals that do not. All are alike at first, those inside of intervals by width.
    """
    known: Bools = ~np.isin(meaning.state, (ANYTHING, GONE))
    chosen = np.flatnonzero(known).tolist()
    ends = {end for i in chosen for end in (meaning.first[i], meaning.last[i]) if end is not None}
    if not ends:
        return (), np.zeros(0)
    low, high = min(ends), max(ends)
    if meaning.is_whole and high - low <= MOST_POINTS:
        points = tuple(range(int(low), int(high) + 1))
        return points, np.full(len(points), 1 / len(points))
    half_open = meaning.half_open
    values = {
        end
        for i in chosen
        if not half_open[i]
        for end in (meaning.first[i], meaning.last[i])
        if end is not None
    }
    cells = _cells(meaning, sorted(ends))
    parts = next(n for n in PARTS if n * len(cells) <= MOST_INSIDE or n == 1)
    inside = {
        point: float(b - a)
        for a, b in cells
        for j in range(parts)
        if a < (point := _inside(a, b, j, parts)) < b
    }
    usual = sum(inside.values()) / len(inside) if inside else 1.0
    weight = dict.fromkeys(values, usual) | inside
    found = sorted(weight)
    shares = np.array([weight[point] for point in found])
    return tuple(found), shares / shares.sum()


def _cells(meaning: Measured, ends: Sequence[Exact]) -> list[tuple[Exact, Exact]]:
    """The pieces into which all ends cut the intervals without one of their ends."""
    change = np.zeros(len(ends) + 1, np.int64)
    for i in np.flatnonzero(meaning.half_open).tolist():
        first, last = meaning.first[i], meaning.last[i]
        if first is not None and last is not None:
            change[bisect_left(ends, first)] += 1
            change[bisect_left(ends, last)] -= 1
    covered = np.flatnonzero(np.cumsum(change)[:-1]).tolist()
    return [(ends[i], ends[i + 1]) for i in covered if i + 1 < len(ends)]


def _inside(low: Exact, high: Exact, part: int, parts: int) -> Exact:
    """The middle of one of the equal parts of an interval; nanoseconds are rounded down."""
    if isinstance(low, int) and isinstance(high, int):
        return low + (high - low) * (2 * part + 1) // (2 * parts)
    return Decimal(low) + (Decimal(high) - Decimal(low)) * (2 * part + 1) / (2 * parts)


def _span(meaning: Measured, i: int, points: Sequence[Exact]) -> tuple[int, int]:
    """The first point of a label, and the one after its last."""
    if meaning.state[i] == GONE:
        return 0, 0
    if meaning.state[i] == ANYTHING:
        return 0, len(points)
    first, last = meaning.first[i], meaning.last[i]
    is_wide = first is None or last is None or first < last
    if first is None:
        a = 0
    elif meaning.with_low[i] or not is_wide:
        a = bisect_left(points, first)
    else:
        a = bisect_right(points, first)
    if last is None:
        return a, len(points)
    include = meaning.with_high[i] or not is_wide
    return a, (bisect_right if include else bisect_left)(points, last)
