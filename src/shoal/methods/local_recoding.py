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
from typing import NamedTuple

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.encoding.cells import Cells, pack
from shoal.encoding.counts import size_counts
from shoal.encoding.domain import UNIT, Domain, Kind
from shoal.encoding.grouping import SUPPRESSED, Grouping
from shoal.kernels.equivalence_classes import number_equal
from shoal.kernels.jit import kernel, mix
from shoal.methods.base import BlockMethod, Progress, check_feasible, counts_of_runs
from shoal.methods.left_over import ORDERS, Groups, rows_of
from shoal.methods.stronger import (
    FEW_ROWS,
    TINY_ROWS,
    Found,
    equals_together,
    groupings,
    shortfall,
)
from shoal.models.base import SIZES_ONLY
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
LIKELY = 1024
"""Level vectors of a stage."""
WORTHWHILE = 100
"""A stage that leaves all but one row in this many open is followed by the last one."""
REFINED = 4, 12
"""So many groupings of a small table, or of a tiny one, are refined: those that lose least."""
FOUND = "groups of local-recoding"
"""Under this name groups are kept with the rows they are of."""


@dataclass(frozen=True)
class LocalRecoding(BlockMethod):
    """Local recoding by label cost: the cheapest labels that enough rows share, then dearer ones.

    Equal rows get the same label, and nothing is random. Rows left at the end join the group to which
    they add least NCP, among those that hold with them. A row that fits nowhere is suppressed; where
    the policy does not allow that, groups are merged with such rows until they hold. Numbers without a
    hierarchy are published as intervals that begin and end anywhere. Made for columns with hierarchies
    and numbers: unordered values without a hierarchy stay as they are or meet all others, so that
    k-clustering loses less there. In up to 2,000 rows with constraints on sensitive values, stronger
    constraints are tried too; under constraints that larger groups need not hold (such as `t`), so are
    the groups of a partition and, in up to 50,000 rows, larger groups. What loses least is kept. Where
    at least half of the rows have enough equals for a group, refinement begins with the groups of a
    partition too. Where `block_rows` is given, tables larger than memory can be refined.

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
        found = self._found(cells, requirement, lambda share: progress(0.9 * share))
        best = min(found, key=lambda one: shortfall(cells, requirement, one[1]))
        progress(1.0)
        return (best[1],)

    def starts(self, cells: Cells, requirement: Requirement) -> Iterator[Found]:
        """In a small table where a larger group need not hold, and in a tiny one with constraints on
        sensitive values, those groups of partitions and of stronger requirements that lose least.
        Elsewhere, where most rows have enough equals, the groups of a partition."""
        joined = requirement.holds_when_joined
        most = FEW_ROWS if not joined else TINY_ROWS if requirement.columns else 0
        if cells.n_rows > most:
            yield from equals_together(cells, requirement)
            return
        found = self._found(cells, requirement, lambda _: None)
        cells.kept.pop(FOUND, None)
        # of equal groups the strongest requirement stays, which a stronger policy has too
        distinct = {one[1].group.tobytes(): one for one in found}
        best = sorted(distinct.values(), key=lambda one: shortfall(cells, requirement, one[1]))
        yield from best[: REFINED[cells.n_rows <= TINY_ROWS]]

    def _found(self, cells: Cells, requirement: Requirement, progress: Progress) -> list[Found]:
        """Groups for the requirement and for stronger ones; those of a small table are kept, as
        refinement begins with them again."""
        known: tuple[Requirement, list[Found]] | None = cells.kept.get(FOUND)
        if known is not None and known[0] == requirement:
            return known[1]
        columns = levels_of(cells, requirement)

        def form(required: Requirement) -> Grouping:
            own = required is requirement
            return recoded(cells, required, columns, progress if own else lambda _: progress(1.0))

        found = list(groupings(cells, requirement, form))
        if cells.n_rows <= FEW_ROWS:
            cells.kept[FOUND] = requirement, found
        return found


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
    groups = Groups(cells, requirement, classes.group_of_cell())
    groups.take_rest()
    progress(1.0)
    return groups.grouping()


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
        slots, room = 64, max(n, min(ROOM, n * n_vectors(columns)))
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
