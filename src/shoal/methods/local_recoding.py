"""Local recoding by label cost: rows that share a cheap label become groups before dearer ones.

A level vector names a level of every column's hierarchy, and under it every row has a label. Labels are
visited by rising cost: all rows under one that are in no group yet form a class, and a class that holds
the requirement becomes a group. So every row gets one of the cheapest labels that enough others share
with it, whatever the rest of the table needs.

Costs depend on few properties of a row: how large the nodes above its values are. Rows that agree in
them have the same `profile`, and what a level vector costs is computed once for each profile. The
`Agenda` lists level vectors with profiles by rising cost, so a row is looked at once for each label that
it can have until it has a group.

Where the level vectors are too many (16 columns with four levels have 10^9), those are visited that can
pay: the level vectors of neighbours, when the open rows are sorted by several orders of the columns, by
rising cost in several stages.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.encoding.cells import Cells, pack
from shoal.encoding.counts import size_counts
from shoal.encoding.domain import UNIT, Domain, Kind, costs_of
from shoal.encoding.grouping import SUPPRESSED, Grouping
from shoal.errors import Infeasible
from shoal.kernels.equivalence_classes import number_equal
from shoal.kernels.jit import kernel, mix
from shoal.kernels.labels import (
    Costs,
    GroupLabels,
    empty_labels,
    growth,
    label_cost,
    widen,
    widen_all,
)
from shoal.methods.base import (
    BlockMethod,
    Progress,
    check_feasible,
    counts_of_runs,
    sizes_from,
)
from shoal.methods.refinement import loss_of
from shoal.models.base import SIZES_ONLY
from shoal.models.k import K
from shoal.models.requirement import Requirement

STEP = UNIT // 20
"""Labels are looked at together where their costs are in the same interval of this length."""
GRIDS = (256, 64, 16, 4)
"""Costs are rounded to this fraction of UNIT, coarser where there would be too many profiles."""
MOST_ENTRIES = 1 << 24
"""Level vectors times profiles, at most; where there are more, costs are rounded to a coarser grid."""
MOST_VECTORS = 1 << 15
"""Where there are more level vectors, those are visited that can pay."""
MOST_LOOKS = 1 << 33
"""Distinct rows times level vectors from which fewer intervals are tried, where constraints other than
sizes keep most rows open for long."""
ROOM = 1 << 22
"""About how many distinct rows the classes have that are judged at a time."""


class Fineness(NamedTuple):
    """How many intervals of a column without a hierarchy are tried."""

    widths: int
    """Different widths, at most."""
    shifted: bool
    """Whether each width is tried once more, moved by half of it."""


FINENESS = tuple(
    Fineness(widths, shifted)
    for widths, shifted in ((12, True), (12, False), (6, False), (3, False))
)
"""The finest for which the level vectors are not too many is used."""
FEW_WIDTHS = FINENESS[1]
"""Where they are too many for all."""
SET_WIDTH = 32
"""Unordered values without a hierarchy stay as they are or meet at least so many others."""
ORDERS = 8
"""Orders of the columns by which neighbours are found."""
LIKELY = 1024
"""Level vectors of a stage."""
WORTHWHILE = 100
"""A stage that leaves all but one row in this many open is followed by the last one."""
FIRST_TRIED, AT_ONCE = 8, 64
"""Groups that are judged at a time with more rows: the nearest, and then others."""
MOST_TRIED = 1024
"""Groups that are tried for a row that is left over."""
MOST_COMPARED = 1 << 28
"""Rows left over times groups up to which each is compared with all; elsewhere with near ones."""
NEAR = 24
"""Groups on either side of a row, in each of several orders, that are near."""
FEW_ROWS = 2_000
"""In so many rows at most, stronger requirements are tried where sensitive values are protected."""
TINY_ROWS = 200
"""In so many rows at most, all of them are tried where a larger group need not hold."""
MISSES = 2
"""Elsewhere, until so many in a row are no better."""
FIGURES = tuple(
    float(one)
    for one in np.concatenate([np.arange(1, 20) / 20, np.arange(4, 12) / 4, [3, 4, 5, 6]])
)
"""Figures of models that are tried."""


@dataclass(frozen=True)
class LocalRecoding(BlockMethod):
    """Local recoding by label cost: the cheapest labels that enough rows share, then dearer ones.

    Equal rows get the same label, and nothing is random. Rows left at the end join the group to which
    they add least NCP, among those that hold with them. A row that fits nowhere is suppressed; where
    the policy does not allow that, groups are merged with such rows until they hold. Numbers without a
    hierarchy are published as intervals that begin and end anywhere. Made for columns with hierarchies
    and numbers: unordered values without a hierarchy stay as they are or meet all others, so that
    k-clustering loses less there. In up to 2,000 rows with constraints on sensitive values, stronger
    constraints are tried too, and what loses least is kept. Where `block_rows` is given, tables larger
    than memory can be refined.

    Source: our own. Local recoding with NCP is due to Xu et al., "Utility-based anonymization using
    local recoding", 2006; the order by label cost is new.
    """

    @property
    def only_counts(self) -> bool:
        """Equal rows are treated alike, unless a border between blocks divides them."""
        return self.block_rows is None

    def group(
        self,
        cells: Cells,
        requirement: Requirement,
        seed: int,
        progress: Progress,
    ) -> tuple[Grouping, ...]:
        """Groups by rising cost of their labels."""
        check_feasible(cells, requirement)
        columns = levels_of(cells, requirement)
        if not requirement.columns or cells.n_rows > FEW_ROWS:
            return (recoded(cells, requirement, columns, progress),)
        return (least_lossy(cells, requirement, columns, progress),)

    def starts(
        self, cells: Cells, requirement: Requirement
    ) -> Iterator[tuple[Requirement, Grouping]]:
        """In a tiny table where a larger group need not hold, the groups of stronger requirements."""
        if cells.n_rows > TINY_ROWS or requirement.holds_when_joined:
            return
        columns = levels_of(cells, requirement)
        own = iter((requirement,))
        for ladder in (own, *stronger(requirement, cells.n_rows)):
            for one in ladder:
                try:
                    yield one, recoded(cells, one, columns, lambda _: None)
                except Infeasible:
                    break


class ColumnLevels(NamedTuple):
    """The levels of one column, and what each makes of a code."""

    node: Ints
    """(levels, size) the number of the node over each code; equal numbers cover the same rows."""
    cost: Ints
    """(levels, size) the loss of that node, in whole numbers of 1/UNIT."""

    @property
    def repeated(self) -> Bools:
        """(levels, size) whether a lower level has the same node over the code."""
        found = np.zeros(self.node.shape, np.bool_)
        for level in range(1, len(self.node)):
            found[level] = (self.node[:level] == self.node[level]).any(axis=0)
        return found


def recoded(
    cells: Cells, requirement: Requirement, columns: Sequence[ColumnLevels], progress: Progress
) -> Grouping:
    """Groups by rising cost of their labels, under these levels of the columns."""
    classes = _OpenClasses(cells, requirement, columns)
    for share in classes.close():
        progress(share)
    groups = _Groups(cells, requirement, classes.group_of_cell())
    groups.take_rest()
    progress(1.0)
    return groups.grouping()


def least_lossy(
    cells: Cells, requirement: Requirement, columns: Sequence[ColumnLevels], progress: Progress
) -> Grouping:
    """The best of several groupings: as the requirement asks, and as stronger ones do.

    Small groups may use up the sensitive values that others need. In a small table that can cost so much
    that a stronger constraint would lose less, and every release that holds it holds this one too.
    """
    best = recoded(cells, requirement, columns, lambda _: None)
    least = _shortfall(cells, requirement, best)
    progress(0.5)
    every = cells.n_rows <= TINY_ROWS and not requirement.holds_when_joined
    for ladder in stronger(requirement, cells.n_rows):
        misses = 0
        for one in ladder:
            if misses == MISSES and not every:
                break
            misses += 1
            try:
                found = recoded(cells, one, columns, lambda _: None)
            except Infeasible:
                break
            loss = _shortfall(cells, requirement, found)
            if loss < least:
                best, least, misses = found, loss, 0
    progress(1.0)
    return best


def _shortfall(cells: Cells, requirement: Requirement, found: Grouping) -> tuple[bool, int, int]:
    """Whether more rows are suppressed than may be, the loss, and the suppressed rows: where columns
    have no importance, these may lose nothing."""
    may, suppressed = requirement.may_suppress, int((found.group == SUPPRESSED).sum())
    return may is not None and suppressed > may, loss_of(cells, found), suppressed


def stronger(requirement: Requirement, n_rows: int) -> Iterator[Iterator[Requirement]]:
    """Requirements that are harder and harder: in the rows of a group, and in the figure of each model
    that need not hold for a larger group. The figures are those of a fixed list, so that all
    requirements look at the same."""
    models = requirement.models

    def with_rows() -> Iterator[Requirement]:
        for size in sizes_from(requirement.min_rows):
            if 2 * size > n_rows:
                return
            if size > requirement.min_rows:
                yield replace(requirement, models=(*models, K(k=size)))

    def with_figure(i: int) -> Iterator[Requirement]:
        model, rising = models[i], models[i].high_is_strong
        for figure in FIGURES if rising else FIGURES[::-1]:
            if figure != model.figure and (figure > model.figure) == rising:
                changed = replace(model, **{fields(model)[0].name: figure})
                yield replace(requirement, models=(*models[:i], changed, *models[i + 1 :]))

    yield with_rows()
    for i, model in enumerate(models):
        if not model.holds_when_joined and not isinstance(model.figure, int):
            yield with_figure(i)


def levels_of(cells: Cells, requirement: Requirement) -> list[ColumnLevels]:
    """The levels of every column; those of columns without a hierarchy are as fine as the number of
    level vectors allows, and that of rows where the requirement is not about sizes alone."""
    columns = list(zip(cells.domains, cells.rows_of_values, strict=True))
    coarsest = None
    for fineness in FINENESS:
        levels = [column_levels(domain, rows, fineness) for domain, rows in columns]
        n = n_vectors(levels)
        if n <= MOST_VECTORS:
            if requirement.only_size or n * cells.n_cells <= MOST_LOOKS:
                return levels
            coarsest = levels
    return coarsest or [column_levels(domain, rows, FEW_WIDTHS) for domain, rows in columns]


def n_vectors(columns: Sequence[ColumnLevels]) -> int:
    """How many level vectors there are."""
    n = 1
    for column in columns:
        n *= len(column.node)
    return n


def column_levels(domain: Domain, rows: Ints, fineness: Fineness = FINENESS[0]) -> ColumnLevels:
    """The levels of a column; rows: (size,) how many have each value.

    Nodes that cover the same values of the table are one, with the cost of the lowest.
    """
    places = np.flatnonzero(rows)
    if domain.kind == Kind.SET:  # those that occur about equally often are next to each other
        places = places[np.argsort(-rows[places], kind="stable")]
    levels = list(_levels(domain, places, fineness))
    first, last, costs = (np.stack(part) for part in zip(*levels, strict=True))
    _, lowest, number = np.unique(
        first * len(places) + last, return_index=True, return_inverse=True
    )
    number = number.reshape(first.shape)
    costs = costs.ravel()[lowest][number]
    new = np.append(True, (np.diff(number, axis=0) != 0).any(axis=1))
    node, cost = (np.zeros((int(new.sum()), domain.size), np.int64) for _ in range(2))
    node[:, places], cost[:, places] = number[new], costs[new]
    return ColumnLevels(node, cost)


def _levels(domain: Domain, places: Ints, fineness: Fineness) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Per level, (places,) of the node over each code: its first and last place, and its loss."""
    for level, starts in enumerate(_starts(domain, places, fineness)):
        begins = np.flatnonzero(starts)
        ends = np.append(begins[1:], len(places)) - 1
        low, high = places[begins], places[ends]
        if domain.positions is not None:
            loss = np.minimum(UNIT, domain.positions[high] - domain.positions[low])
        else:
            leaves = ends - begins + 1
            if domain.hierarchy is not None:
                row = domain.hierarchy.nodes[level]
                leaves = np.bincount(row)[row[low]]
            loss = leaves * UNIT // domain.size
        node = np.cumsum(starts) - 1
        yield begins[node], ends[node], domain.weighed(np.where(begins == ends, 0, loss))[node]


def _starts(domain: Domain, places: Ints, fineness: Fineness) -> Iterator[Bools]:
    """Per level, (places,) whether a node begins at each."""
    n = len(places)
    if domain.hierarchy is not None:
        for row in domain.hierarchy.nodes:
            yield np.diff(row[places], prepend=-1) > 0
        return
    rank, missing = np.arange(n), np.flatnonzero(places == domain.missing)
    yield np.ones(n, np.bool_)
    widths = [2, 3] if domain.kind == Kind.RANGE else [SET_WIDTH, 2 * SET_WIDTH]
    while 2 * widths[-2] < n:
        widths.append(2 * widths[-2])
    for width in widths[:: -(-len(widths) // fineness.widths)]:
        for shift in (0, width // 2) if fineness.shifted else (0,):
            if width >= n:
                break
            starts = np.diff((rank + shift) // width, prepend=-1) > 0
            if domain.kind == Kind.RANGE:  # the missing value is in no interval
                starts[missing] = True
            yield starts
    if len(missing):
        yield (rank == 0) | (rank == missing[0])
    yield rank == 0


class Agenda(NamedTuple):
    """Which distinct rows to look at under which level vector, in order."""

    vectors: Codes
    """(v, d) level vectors, those that cost least on average first."""
    entries: Ints
    """(m,) vector * profiles + profile."""
    starts: Ints
    """(bins + 1,) where the entries of each interval of costs begin."""
    profiles: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    def bin(self, number: int) -> tuple[Codes, Codes]:
        """The vectors and the profiles of the entries of an interval of costs."""
        entries = self.entries[self.starts[number] : self.starts[number + 1]]
        vector, profile = np.divmod(entries, self.profiles)
        return vector.astype(np.int32), profile.astype(np.int32)


class Units(NamedTuple):
    """Distinct rows and how often they occur."""

    codes: Codes
    """(n, d) their values."""
    key: Words
    """(n,) the key of the label that leaves the values as they are."""
    weight: Ints
    """(n,) rows."""
    group: Codes
    """(n,) the group, or SUPPRESSED."""


class Open(NamedTuple):
    """The units that are in no group yet, by profile."""

    unit: Codes
    """(n,) profile by profile; units that got a group are removed when they are met."""
    first: Ints
    """(profiles,) where each one's part begins."""
    last: Ints
    """(profiles,) where it ends."""


class Tables(NamedTuple):
    """What levels make of codes, column by column in one array."""

    offset: Ints
    """(d,) where the column's part begins."""
    size: Ints
    """(d,) its codes."""
    key: Words
    """What the node over a code adds to the key of a row; at offset + level * size + code."""
    cost: Ints
    """What the node costs."""
    node: Ints
    """The number of the node."""


class Slots(NamedTuple):
    """A hash table of the labels under one level vector, and its rows."""

    stamp: Codes
    """(slots + 1,) when the slot was used last; at 0 the time."""
    key: Words
    """(slots + 1,) the label."""
    first: Codes
    """(slots + 1,) the first unit with the label."""
    rows: Ints
    """(slots + 1,) rows with the label."""
    units: Ints
    """(slots + 1,) distinct ones; or -1 - the place of the next one among the members of a class."""
    unit: Codes
    """(n,) the units looked at."""
    slot: Codes
    """(n,) and the slot of each."""


class Classes(NamedTuple):
    """Units that share a label, and enough rows to form a group."""

    start: Ints
    """(classes + 1,) where each one's members begin."""
    members: Codes
    """The units."""
    rows: Ints
    """(classes,) rows."""
    cost: Ints
    """(classes,) what the label costs."""
    vector: Codes
    """(classes,) under which level vector."""


class _OpenClasses:
    """The rows that are in no group yet, and the classes that they form."""

    def __init__(
        self, cells: Cells, requirement: Requirement, columns: Sequence[ColumnLevels]
    ) -> None:
        self.cells, self.requirement, self.columns = cells, requirement, columns
        n, self.n_groups = cells.n_cells, 0
        words, offset, at, key = [], [], 0, np.zeros(n, np.uint64)
        scale = _scales(columns)
        for j, column in enumerate(columns):
            word = column.node.astype(np.uint64) * scale[j]
            key += word[0][cells.codes[:, j]]
            words.append((word - word[0]).ravel())
            offset.append(at)
            at += column.node.size
        self.tables = Tables(
            np.array(offset, np.int64),
            np.array([domain.size for domain in cells.domains], np.int64),
            np.concatenate(words),
            np.concatenate([column.cost.ravel() for column in columns]),
            np.concatenate([column.node.ravel() for column in columns]),
        )
        self.units = Units(cells.codes, key, cells.counts, np.full(n, SUPPRESSED, np.int32))
        slots, room = 64, max(n, ROOM)
        while slots < 2 * n:
            slots *= 2
        self.slots = Slots(
            np.zeros(slots + 1, np.int32),
            np.zeros(slots + 1, np.uint64),
            np.zeros(slots + 1, np.int32),
            np.zeros(slots + 1, np.int64),
            np.zeros(slots + 1, np.int64),
            np.zeros(n, np.int32),
            np.zeros(n, np.int32),
        )
        self.found = Classes(
            np.zeros(room + 1, np.int64),
            np.zeros(room, np.int32),
            np.zeros(room, np.int64),
            np.zeros(room, np.int64),
            np.zeros(room, np.int32),
        )

    def group_of_cell(self) -> Codes:
        """(cells,) the group of each, or SUPPRESSED."""
        return self.units.group

    @property
    def open(self) -> Ints:
        """The cells without a group, ascending."""
        return np.flatnonzero(self.units.group == SUPPRESSED)

    def close(self) -> Iterator[float]:
        """Form groups by rising cost; yields the share of the work that is done."""
        if n_vectors(self.columns) <= MOST_VECTORS:
            shape = [np.arange(len(column.node)) for column in self.columns]
            every = np.stack(np.meshgrid(*shape, indexing="ij"), axis=-1)
            yield from self._visit(every.reshape(-1, len(shape)), None)
            return
        last = False
        while not last and len(self.open):
            before = len(self.open)
            vectors, limit = self._likely_vectors()
            for _ in self._visit(vectors, limit):
                pass
            last = before - len(self.open) <= before // WORTHWHILE
            yield 1 - len(self.open) / self.cells.n_cells
        if len(self.open):
            top = np.array([[len(column.node) - 1 for column in self.columns]])
            yield from self._visit(top, None)

    def _visit(self, vectors: Ints, limit: int | None) -> Iterator[float]:
        """Form groups under these level vectors, whose labels cost at most `limit`."""
        some = self.open
        agenda, profile = agenda_of(
            self.columns, self.cells.codes[some], self.cells.counts[some], vectors
        )
        order = np.argsort(profile, kind="stable")
        bounds = np.searchsorted(profile[order], np.arange(agenda.profiles + 1)).astype(np.int64)
        opened = Open(some[order].astype(np.int32), bounds[:-1].copy(), bounds[1:].copy())
        for number in range(len(agenda)):
            vector, profile = agenda.bin(number)
            while len(vector):
                done = self._judge_all(opened, agenda.vectors, vector, profile, limit)
                vector, profile = vector[done:], profile[done:]
            yield number / len(agenda)

    def _judge_all(
        self, opened: Open, vectors: Codes, vector: Codes, profile: Codes, limit: int | None
    ) -> int:
        """Form groups from the classes of these entries; how many of these were looked at.

        In rounds: all classes are judged, and those that hold become groups, the cheapest first,
        unless some of their rows have just got a group. What is left of such a class is judged in the
        next round.
        """
        least, most = self.requirement.min_rows, np.iinfo(np.int64).max if limit is None else limit
        done, n = gather(
            self.units, opened, self.tables, self.slots, self.found, vectors, vector, profile,
            least, most,
        )  # fmt: skip
        vector, profile = vector[:done], profile[:done]
        while n:
            order = np.argsort(self.found.cost[:n], kind="stable")
            again = np.zeros(len(vectors), np.bool_)
            before = self.n_groups
            self.n_groups = int(
                settle(self.units, self.found, order, self._holds(n), least, before, again)
            )
            if self.n_groups == before:
                break
            vector, profile = vector[again[vector]], profile[again[vector]]
            _, n = gather(
                self.units, opened, self.tables, self.slots, self.found, vectors, vector, profile,
                least, most,
            )  # fmt: skip
        return int(done)

    def _holds(self, n: int) -> Bools:
        """(n,) whether each of the classes found holds the requirement."""
        sizes = self.found.rows[:n]
        if self.requirement.only_size:
            return self.requirement.holds({SIZES_ONLY: size_counts(sizes)})
        rows = rows_of(self.cells, self.units.weight, self.found.members[: self.found.start[n]])
        starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
        return self.requirement.holds(counts_of_runs(self.cells, self.requirement, rows, starts))

    def _likely_vectors(self) -> tuple[Ints, int]:
        """Level vectors of neighbours among the open rows, the most frequent first, and what their
        labels may cost: as much as those of half of the neighbours."""
        some = self.open
        codes, counts = self.cells.codes[some], self.cells.counts[some]
        d, rng = codes.shape[1], np.random.default_rng(0)
        found, costs = [], []
        for _ in range(ORDERS):
            order = np.lexsort([codes[:, j] for j in rng.permutation(d)])
            levels, cost = windows(
                codes[order],
                counts[order],
                self.tables,
                np.array([len(column.node) for column in self.columns]),
                self.requirement.min_rows,
            )
            found.append(levels)
            costs.append(cost)
        cost = np.concatenate(costs)
        if not len(cost):
            return np.zeros((0, d), np.int64), 0
        limit = int(np.sort(cost)[len(cost) // 2])
        vectors, times = np.unique(np.concatenate(found)[cost <= limit], axis=0, return_counts=True)
        return vectors[np.argsort(-times, kind="stable")[:LIKELY]].astype(np.int64), limit


def _scales(columns: Sequence[ColumnLevels]) -> list[np.uint64]:
    """What the nodes of each column are multiplied with in a key: as digits of a number where 64 bits
    are enough. Elsewhere keys may be equal by chance, and labels are compared."""
    scales, scale = [], 1
    for column in columns:
        scales.append(np.uint64(scale % (1 << 64)))
        scale *= int(column.node.max()) + 1
    if scale <= 1 << 64:
        return scales
    return [mix(np.uint64(0), np.uint64(j + 1)) | np.uint64(1) for j in range(len(columns))]


def agenda_of(
    columns: Sequence[ColumnLevels], codes: Codes, counts: Ints, vectors: Ints
) -> tuple[Agenda, Codes]:
    """The agenda for distinct rows and these level vectors; and (n,) the profile of each."""
    mean = np.zeros(len(vectors), np.int64)
    for j, column in enumerate(columns):
        rows = np.bincount(codes[:, j], counts, column.node.shape[1]).astype(np.int64)
        mean += (column.cost * rows).sum(axis=1)[vectors[:, j]]
    # (mean, lexicographic), for any order of the vectors given
    vectors = vectors[np.lexsort([*vectors.T[::-1], mean])]
    for grid in GRIDS:
        kinds, prices, repeated = _kinds(columns, grid)
        sizes = [price.shape[1] for price in prices]
        words = pack([kinds[j][codes[:, j]] for j in range(len(columns))], sizes)
        profile, first = number_equal(np.stack([word for word, _ in words]))
        if len(first) * len(vectors) <= MOST_ENTRIES:
            break
    else:  # every label under a level vector has the same price
        kinds, prices, repeated = _kinds(columns, 0)
        profile, first = np.zeros(len(codes), np.int32), np.zeros(1, np.int32)
    of = [kinds[j][codes[first, j]] for j in range(len(columns))]
    price = np.zeros((len(vectors), len(first)), np.int32)
    skip = np.zeros(price.shape, np.bool_)
    for j in range(len(columns)):
        price += prices[j][:, of[j]][vectors[:, j]]
        skip |= repeated[j][:, of[j]][vectors[:, j]]
    entries = np.flatnonzero(~skip)
    bins = (price.ravel()[entries].astype(np.int64) * PRICE // STEP).astype(np.uint16)
    order = np.argsort(bins, kind="stable")
    n_bins = int(bins.max(initial=0)) + 1
    starts = np.append(0, np.cumsum(np.bincount(bins, minlength=n_bins))).astype(np.int64)
    return Agenda(vectors.astype(np.int32), entries[order], starts, len(first)), profile


PRICE = UNIT // GRIDS[0]
"""Prices are whole numbers of this."""


def _kinds(
    columns: Sequence[ColumnLevels], grid: int
) -> tuple[list[Codes], list[Codes], list[Bools]]:
    """Per column: (size,) the kind of each code; (levels, kinds) the price of its node, in whole
    numbers of PRICE; (levels, kinds) whether a lower level has the same node.

    grid: prices are rounded to this fraction of UNIT; 0 where a level has one price for all codes.
    """
    kinds, prices, repeated = [], [], []
    for column in columns:
        if not grid:
            mean = (column.cost.mean(axis=1) / PRICE).astype(np.int32)
            kinds.append(np.zeros(column.node.shape[1], np.int32))
            prices.append(mean[:, None])
            repeated.append(np.zeros((len(mean), 1), np.bool_))
            continue
        unit = UNIT // grid
        price = (column.cost + unit // 2) // unit * (unit // PRICE)
        both = np.concatenate([price, column.repeated])
        distinct, kind = np.unique(both, axis=1, return_inverse=True)
        kinds.append(kind.reshape(-1).astype(np.int32))
        prices.append(distinct[: len(price)].astype(np.int32))
        repeated.append(distinct[len(price) :].astype(np.bool_))
    return kinds, prices, repeated


def rows_of(cells: Cells, counts: Ints, some: Codes) -> Codes:
    """The canonical rows of these cells, one after another; counts: (cells,) rows of each."""
    rows = np.empty(int(counts[some].sum()), np.int32)
    list_rows(cells.starts, counts, some, rows)
    return rows


@kernel
def list_rows(starts: Ints, counts: Ints, some: Codes, rows: Codes) -> None:
    """Write the rows of these cells, one after another."""
    n = 0
    for cell in some:
        for i in range(counts[cell]):
            rows[n] = starts[cell] + i
            n += 1


@kernel
def gather(
    units: Units,
    opened: Open,
    tables: Tables,
    slots: Slots,
    found: Classes,
    vectors: Codes,
    vector: Codes,
    profile: Codes,
    least: int,
    most: int,
) -> tuple[int, int]:
    """Find the classes of at least `least` rows under labels that cost at most `most`.

    vector, profile: the entries to look at. Returns how many were, which is fewer where there is no
    room for more classes, and how many classes there are.
    """
    # arrays by their own names: reaching into tuples inside the loops costs more than the work
    codes, keys, weight, group = units.codes, units.key, units.weight, units.group
    unit_of, first, last = opened.unit, opened.first, opened.last
    stamp, slot_key, slot_first, slot_rows = slots.stamp, slots.key, slots.first, slots.rows
    slot_units, listed, listed_slot = slots.units, slots.unit, slots.slot
    key_of, cost_of, node_of = tables.key, tables.cost, tables.node
    d = vectors.shape[1]
    columns, offsets = np.empty(d, np.int64), np.empty(d, np.int64)
    at, n_classes, n_members = 0, 0, 0
    while at < len(vector):
        begin, v, size = at, vector[at], 0
        while at < len(vector) and vector[at] == v:
            size += last[profile[at]] - first[profile[at]]
            at += 1
        if n_members + size > len(found.members):
            at = begin
            break
        used = 0
        for j in range(d):
            if vectors[v, j] > 0:
                columns[used] = j
                offsets[used] = tables.offset[j] + vectors[v, j] * tables.size[j]
                used += 1
        n_slots = 64
        while n_slots < 2 * size:
            n_slots *= 2
        mask = np.uint64(n_slots - 1)
        stamp[0] += 1
        now, n, enough = stamp[0], 0, False
        for e in range(begin, at):
            p = profile[e]
            kept = first[p]
            for o in range(first[p], last[p]):
                i = unit_of[o]
                if group[i] >= 0:
                    continue
                unit_of[kept] = i
                kept += 1
                key = keys[i]
                for c in range(used):
                    key += key_of[offsets[c] + codes[i, columns[c]]]
                hashed = key * np.uint64(0x9E3779B97F4A7C15)
                s = 1 + np.int64((hashed ^ (hashed >> np.uint64(32))) & mask)
                while stamp[s] == now:
                    if slot_key[s] == key:
                        other, same = slot_first[s], True
                        for c in range(used):
                            same &= (
                                node_of[offsets[c] + codes[i, columns[c]]]
                                == node_of[offsets[c] + codes[other, columns[c]]]
                            )
                        if same:
                            break
                    s = s + 1 if s < n_slots else np.int64(1)
                if stamp[s] != now:
                    stamp[s], slot_key[s], slot_first[s] = now, key, i
                    slot_rows[s], slot_units[s] = 0, 0
                slot_rows[s] += weight[i]
                slot_units[s] += 1
                enough |= slot_rows[s] >= least
                listed[n], listed_slot[n] = i, s
                n += 1
            last[p] = kept
        if not enough:
            continue
        for e in range(n):
            s, i = listed_slot[e], listed[e]
            if slot_rows[s] < least:
                continue
            if slot_units[s] >= 0:
                cost = 0
                for c in range(used):
                    cost += cost_of[offsets[c] + codes[i, columns[c]]]
                if cost > most:
                    slot_rows[s] = 0
                    continue
                found.start[n_classes], found.rows[n_classes] = n_members, slot_rows[s]
                found.cost[n_classes], found.vector[n_classes] = cost, v
                n_classes += 1
                place = n_members
                n_members += slot_units[s]
            else:
                place = -1 - slot_units[s]
            found.members[place] = i
            slot_units[s] = -2 - place
    found.start[n_classes] = n_members
    return at, n_classes


@kernel
def settle(
    units: Units,
    found: Classes,
    order: Ints,
    holds: Bools,
    least: int,
    n_groups: int,
    again: Bools,
) -> int:
    """Let classes that hold become groups, in this order, unless a row of theirs has a group now.

    Where at least `least` rows are left of such a class, `again` marks its level vector. How many
    groups there are.
    """
    for c in order:
        members = found.members[found.start[c] : found.start[c + 1]]
        left = 0
        for i in members:
            if units.group[i] < 0:
                left += units.weight[i]
        if left < found.rows[c]:
            again[found.vector[c]] |= left >= least
        elif holds[c]:
            for i in members:
                units.group[i] = n_groups
            n_groups += 1
    return n_groups


@kernel
def windows(
    codes: Codes, counts: Ints, tables: Tables, n_levels: Ints, least: int
) -> tuple[Codes, Ints]:
    """(w, d) per run of neighbours with `least` rows the lowest level vector that gives them one
    label, and (w,) what that costs; every run begins where the one before ends."""
    n, d = codes.shape
    levels, costs = np.zeros((n, d), np.int32), np.zeros(n, np.int64)
    found, begin, rows = 0, 0, 0
    for end in range(n):
        rows += counts[end]
        if rows < least:
            continue
        for j in range(d):
            for level in range(n_levels[j]):
                at = tables.offset[j] + level * tables.size[j]
                same = True
                for i in range(begin + 1, end + 1):
                    same &= tables.node[at + codes[i, j]] == tables.node[at + codes[begin, j]]
                if same:
                    levels[found, j] = level
                    costs[found] += tables.cost[at + codes[begin, j]]
                    break
        found += 1
        begin, rows = end + 1, 0
    return levels[:found].copy(), costs[:found].copy()


class _Groups:
    """The groups, and the cells that are left over."""

    def __init__(self, cells: Cells, requirement: Requirement, group: Codes) -> None:
        self.cells, self.requirement, self.counts = cells, requirement, cells.counts
        self.left = np.flatnonzero(group == SUPPRESSED)
        kept = np.flatnonzero(group != SUPPRESSED)
        # groups are numbered by their first cell, so nothing depends on how they were found
        _, first = np.unique(group[kept], return_index=True)
        number = np.empty(len(first), np.int64)
        number[np.argsort(first, kind="stable")] = np.arange(len(first))
        order = np.argsort(number[group[kept]], kind="stable")
        sizes = np.bincount(number[group[kept]], minlength=len(first))
        self.members = np.split(kept[order], np.cumsum(sizes)[:-1]) if len(first) else []

    def take_rest(self) -> None:
        """Let the cells that are left join groups."""
        if not self.members:
            # all rows may hold though they are fewer than the models need where values are known
            everyone = np.arange(self.cells.n_cells)
            if self._hold([everyone]).all():
                self.members, self.left = [everyone], everyone[:0]
                return
            raise Infeasible(
                "No group of rows holds all of the policy's constraints together: loosen them."
            )
        if len(self.left):
            self._insert()
        if len(self.left):
            self._merge_left()
        self._keep_what_holds()

    def grouping(self) -> Grouping:
        """The groups of the rows."""
        group = np.full(self.cells.n_cells, SUPPRESSED, np.int32)
        for g, members in enumerate(self.members):
            group[members] = g
        by_row = np.repeat(group, self.counts)
        return Grouping(by_row, len(self.members), tuple(range(len(self.cells.domains))))

    def _insert(self) -> None:
        """Each cell into the group to which it adds least, of those that hold with it; again from the
        start until none fits."""
        costs, counts = costs_of(self.cells.domains), self.counts
        labels = empty_labels(costs, len(self.members))
        starts = np.append(0, np.cumsum([len(some) for some in self.members])).astype(np.int64)
        every = np.concatenate(self.members).astype(np.int32)
        widen_all(labels, costs, self.cells.codes, every, starts)
        sizes: Ints = np.add.reduceat(counts[every], starts[:-1])
        own = own_losses(labels, costs)
        near = np.arange(len(self.members), dtype=np.int32)[None]
        if len(self.left) * len(self.members) > MOST_COMPARED:
            firsts = np.array([some[0] for some in self.members])
            near = nearest_groups(self.cells.codes[firsts], self.cells.codes[self.left])
        place_of = {cell: i for i, cell in enumerate(self.left.tolist())}
        moved = True
        while moved and len(self.left):
            moved, left = False, []
            for cell in self.left.tolist():
                codes, rows = self.cells.codes[cell], int(counts[cell])
                some = near[place_of[cell] if len(near) > 1 else 0]
                grown = growths(labels, costs, codes, some)
                added: Ints = rows * (own[some] + grown) + sizes[some] * grown
                found = self._first_that_holds(cell, some, added)
                if found == SUPPRESSED:
                    left.append(cell)
                    continue
                g = int(some[found])
                self.members[g] = np.append(self.members[g], cell)
                widen(labels, costs, g, codes)
                sizes[g] += rows
                own[g] += grown[found]
                moved = True
            self.left = np.array(left, np.int64)

    def _first_that_holds(self, cell: int, groups: Codes, added: Ints) -> int:
        """The place, among these groups, of the one to which a cell adds least, of those that hold with
        it; SUPPRESSED if none does."""
        if self.requirement.holds_when_joined:
            return int(np.argmin(added))
        if len(added) > MOST_TRIED:
            some = np.flatnonzero(added <= np.partition(added, MOST_TRIED)[MOST_TRIED])
        else:
            some = np.arange(len(added))
        nearest = some[np.argsort(added[some], kind="stable")][:MOST_TRIED].tolist()
        begin, end = 0, FIRST_TRIED
        while begin < len(nearest):
            tried = nearest[begin:end]
            held = self._hold([np.append(self.members[g], cell) for g in groups[tried].tolist()])
            if held.any():
                return int(tried[int(np.argmax(held))])
            begin, end = end, end + AT_ONCE
        return SUPPRESSED

    def _hold(self, groups: Sequence[Ints], *, kept_rows: bool = False) -> Bools:
        """(g,) whether each set of cells satisfies the requirement.

        kept_rows: compared with the rows of these groups, in place of the whole table.
        """
        cells, every = self.cells, np.concatenate(groups).astype(np.int32)
        rows = rows_of(cells, self.counts, every)
        ends = np.cumsum([len(some) for some in groups])
        starts = np.append(0, np.cumsum(self.counts[every])[ends - 1]).astype(np.int64)
        totals = cells.totals_of_rows(rows) if kept_rows else None
        return self.requirement.holds(counts_of_runs(cells, self.requirement, rows, starts, totals))

    def _merge_left(self) -> None:
        """Where more rows are left than may be suppressed, or nothing is lost by keeping them: one
        group of them and of the groups that are nearest to all of them, as many as it takes."""
        may, n_left = self.requirement.may_suppress, int(self.counts[self.left].sum())
        if (may is None or n_left <= may) and not self._nothing_counts():
            return
        costs = costs_of(self.cells.domains)
        labels = empty_labels(costs, len(self.members) + 1)
        every = [*self.members, self.left]
        starts = np.append(0, np.cumsum([len(some) for some in every])).astype(np.int64)
        widen_all(labels, costs, self.cells.codes, np.concatenate(every).astype(np.int32), starts)
        far = np.array(
            [joined_cost(labels, costs, g, len(self.members)) for g in range(len(self.members))]
        )
        nearest, n = np.argsort(far, kind="stable").tolist(), 1
        while True:
            whole = np.concatenate([self.left, *(self.members[g] for g in nearest[:n])])
            if self._hold([whole])[0]:
                rest = set(range(len(self.members))) - set(nearest[:n])
                self.members = [*(self.members[g] for g in sorted(rest)), np.sort(whole)]
                self.left = self.left[:0]
                return
            if n >= len(nearest):
                return
            n *= 2

    def _nothing_counts(self) -> bool:
        """Whether no label loses anything: columns without importance, or with one value."""
        columns = zip(self.cells.domains, self.cells.rows_of_values, strict=True)
        return all(domain.most == 0 or (rows > 0).sum() < 2 for domain, rows in columns)

    def _keep_what_holds(self) -> None:
        """Without the groups that break a model once they are compared with the rows kept alone."""
        compared = any(model.compares_with_table for model in self.requirement.models)
        while compared and len(self.left) and self.members:
            held = self._hold(self.members, kept_rows=True)
            if held.all():
                break
            lost = [some for some, holds in zip(self.members, held, strict=True) if not holds]
            self.left = np.sort(np.concatenate([self.left, *lost]))
            self.members = [some for some, holds in zip(self.members, held, strict=True) if holds]


def nearest_groups(groups: Codes, rows: Codes) -> Codes:
    """(rows, g) per row the groups next to it, ascending, when both are sorted by several orders of the
    columns; groups: (n, d) the first row of each. A group may stand there more than once."""
    n, d = groups.shape
    rng, found = np.random.default_rng(0), []
    both = np.concatenate([groups, rows])
    for _ in range(ORDERS):
        order = np.lexsort([both[:, j] for j in rng.permutation(d)])
        is_group = order < n
        before = np.cumsum(is_group)  # groups up to each place
        place = np.empty(len(both), np.int64)
        place[order] = before
        around = place[n:, None] + np.arange(-NEAR, NEAR)
        found.append(order[is_group][np.clip(around, 0, n - 1)])
    return np.sort(np.concatenate(found, axis=1), axis=1).astype(np.int32)


@kernel
def own_losses(labels: GroupLabels, costs: Costs) -> Ints:
    """(g,) what the label of each group costs."""
    out = np.zeros(len(labels.low), np.int64)
    for g in range(len(out)):
        for j in range(len(costs.kind)):
            low, high = labels.low[g, j], labels.high[g, j]
            out[g] += label_cost(costs, j, low, high, labels.members[g, j])
    return out


@kernel
def growths(labels: GroupLabels, costs: Costs, codes: Codes, groups: Codes) -> Ints:
    """(g,) what one more row adds to the cost of the label of each of these groups."""
    out = np.empty(len(groups), np.int64)
    for i in range(len(out)):
        out[i] = growth(labels, costs, groups[i], codes, np.iinfo(np.int64).max)
    return out


@kernel
def joined_cost(labels: GroupLabels, costs: Costs, g: int, h: int) -> int:
    """What a label over two groups would cost, the members of sets counted twice at most."""
    total = 0
    for j in range(len(costs.kind)):
        low = min(labels.low[g, j], labels.low[h, j])
        high = max(labels.high[g, j], labels.high[h, j])
        members = min(costs.size[j], labels.members[g, j] + labels.members[h, j])
        total += label_cost(costs, j, low, high, members)
    return total
