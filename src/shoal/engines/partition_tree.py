"""Send every row to its part of a table that was cut into very many.

For few parts SQL does it, as a CASE of cases. With more Java does not compile the long program that
Spark makes of it, and with a thousand Spark runs out of memory; a function does not mind.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from shoal.arrays import Bools, Ints
from shoal.encoding.counts import Counts
from shoal.encoding.domain import Domain, costs_of
from shoal.engines import queries as questions
from shoal.engines.base import Session
from shoal.engines.node_histograms import Histograms, needed_spans, read
from shoal.engines.queries import Cut, Tree, rows_of
from shoal.engines.tie_splits import Slices, sized_losses, slice_at
from shoal.errors import InputError
from shoal.kernels.costs import SET, UNIT
from shoal.kernels.partition import walk
from shoal.methods.base import check_holds
from shoal.methods.least_loss_partition import lopsided_depth
from shoal.methods.partition import Cutting
from shoal.models.base import SIZES_ONLY
from shoal.models.requirement import Requirement
from shoal.progress import Progress, no_progress

MANY_PARTS = 32
"""With more parts than this rows are sent by a function."""


@dataclass(frozen=True)
class Walk:
    """Rows of the coded table with the number of their part in `node`, those of no number left out."""

    columns: tuple[str, ...]
    """What makes the canonical order: c0, ..., key, h."""
    cut: tuple[Ints, Ints, Ints, Ints, Ints]
    """See `kernels.walking`."""
    number: Ints
    """(nodes,) -1 for none."""
    schema: pa.Schema
    """What comes in and goes out."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Send a batch."""
        rows = np.empty((batch.num_rows, len(self.columns)), np.int64)
        for j, name in enumerate(self.columns):
            rows[:, j] = batch.column(name).to_numpy(zero_copy_only=False)
        node = self.number[walk(rows, *self.cut)]
        kept = node >= 0
        others = [name for name in self.schema.names if name != "node"]
        found = pa.RecordBatch.from_arrays([batch.column(name) for name in others], names=others)
        if not kept.all():
            found, node = found.filter(pa.array(kept)), node[kept]
        columns = {name: found.column(name) for name in others} | {"node": pa.array(node)}
        arrays = [columns[f.name].cast(f.type) for f in self.schema]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def walk_of(tree: Tree, numbers: Mapping[int, int], schema: pa.Schema) -> Walk:
    """What sends rows to the numbers of the nodes they lie in."""
    nodes = 2 * len(tree.cuts) + 1
    column, code, below, last = (np.full(nodes, -1, np.int64) for _ in range(4))
    lasts: list[tuple[int, ...]] = []
    for node, (cut, low, high) in tree.cuts.items():
        assert high == low + 1
        column[node], code[node], below[node] = cut.column, cut.code, low
        if cut.last is not None:
            last[node] = len(lasts)
            lasts.append(cut.last)
    number = np.full(nodes, -1, np.int64)
    for node, value in numbers.items():
        number[node] = value
    names = (*(f"c{j}" for j in range(tree.columns)), "key", "h")
    table = np.array(lasts, np.int64).reshape(len(lasts), len(names))
    return Walk(names, (column, code, below, last, table), number, schema)


# Which cuts of the open nodes are tried, in which order: as the choosers of `methods/` do it, but


class Places(NamedTuple):
    """One cut per node: below go the entries of a column before `entry`, and `extra` rows of that.
    column -1: none left to try; entry -1: this column has none."""

    column: Ints
    entry: Ints
    extra: Ints


class Tries(Protocol):
    """The cuts a method would make in one round, best first."""

    def next(self, groups: Ints) -> Places:
        """The next cut for each of these nodes."""


Place = Callable[[int, int], tuple[int, int]]
"""Given a node and a column: the entry and the extra rows of the cut there."""


def tries_of(
    cutting: Cutting, seen: Histograms, slices: Slices, min_rows: int, n_rows: int
) -> Tries:
    """The cuts of a method's rule."""
    if cutting.below is None:
        return RankedColumns(-seen.widths(), middles(seen, min_rows))
    below = cutting.below(seen.rows, min_rows)
    if not cutting.by_loss:
        return RankedColumns(-seen.widths(), sized(seen, below))
    rounded = ByLoss(seen, slices, below)
    if not cutting.boundaries_first:
        return rounded
    deep = seen.depth >= lopsided_depth(n_rows, min_rows)
    least = np.where(deep, np.maximum(min_rows, -(-seen.rows // 4)), min_rows)
    return Boundaries(seen, least, rounded)


def middles(seen: Histograms, min_rows: int) -> Place:
    """The boundary nearest to the middle, the lower of two; none where a side would be too small."""

    def place(group: int, column: int) -> tuple[int, int]:
        along = seen.along[column]
        begin, end = along.starts[group], along.starts[group + 1]
        if end - begin < 2:
            return -1, 0
        upto, rows = along.upto[begin : end - 1], seen.rows[group]
        at = int(np.argmin(np.abs(2 * upto - rows)))
        small = min(upto[at], rows - upto[at]) < min_rows
        return (-1, 0) if small else (int(begin) + at + 1, 0)

    return place


def sized(seen: Histograms, below: Ints) -> Place:
    """Exactly below[g] rows below, equal values on both sides where need be."""

    def place(group: int, column: int) -> tuple[int, int]:
        along = seen.along[column]
        begin, end = along.starts[group], along.starts[group + 1]
        at = int(np.searchsorted(along.upto[begin:end], below[group], "right"))
        before = int(along.upto[begin + at - 1]) if at else 0
        return int(begin) + at, int(below[group]) - before

    return place


class RankedColumns:
    """Tries the columns by rising rank; equal ranks in the policy's order of columns."""

    def __init__(self, ranks: Ints, place: Place) -> None:
        """`ranks` is (g, d)."""
        self.columns = np.argsort(ranks, axis=1, kind="stable")
        self.tried = np.zeros(len(ranks), np.int64)
        self._place = place

    def next(self, groups: Ints) -> Places:
        """The cut along each node's next column."""
        found = Places(*(np.full(len(groups), -1, np.int64) for _ in range(3)))
        for i, group in enumerate(groups):
            if self.tried[group] < self.columns.shape[1]:
                column = int(self.columns[group, self.tried[group]])
                found.column[i] = column
                found.entry[i], found.extra[i] = self._place(int(group), column)
        self.tried[groups] += 1
        return found


class ByLoss:
    """Sized cuts, the column with the least loss first; losses are worked out when asked for."""

    def __init__(self, seen: Histograms, slices: Slices, below: Ints) -> None:
        self._seen, self._slices, self._below = seen, slices, below
        self._place = sized(seen, below)
        self._ranked = RankedColumns(
            np.zeros((len(seen.nodes), len(seen.along)), np.int64), self._place
        )

    def next(self, groups: Ints) -> Places:
        """The next column; the order of all but the first is worked out when it is asked for."""
        for tried, every in ((0, False), (1, True)):
            new = groups[self._ranked.tried[groups] == tried]
            if len(new):
                losses = sized_losses(
                    self._seen, self._slices, new, self._below, self._place, every
                )
                self._ranked.columns[new] = np.argsort(losses, axis=1, kind="stable")
        return self._ranked.next(groups)


class Boundaries:
    """All boundaries by rising loss, column and place, then the sized cuts."""

    def __init__(self, seen: Histograms, least: Ints, after: Tries) -> None:
        self._after = after
        found = [_boundaries(seen, j, least) for j in range(len(seen.along))]
        node, loss, entry = (np.concatenate(parts) for parts in zip(*found, strict=True))
        column = np.repeat(np.arange(len(found)), [len(part[0]) for part in found])
        order = np.lexsort((entry, column, loss, node))
        self._column, self._entry = column[order], entry[order]
        self._at = np.searchsorted(node[order], np.arange(len(seen.nodes)))
        self._end = np.searchsorted(node[order], np.arange(len(seen.nodes)), "right")

    def next(self, groups: Ints) -> Places:
        """The next best boundary of each node, or cut."""
        left = self._at[groups] < self._end[groups]
        at = self._at[groups[left]]
        found = Places(*(np.full(len(groups), -1, np.int64) for _ in range(3)))
        found.column[left], found.entry[left], found.extra[left] = (
            self._column[at],
            self._entry[at],
            0,
        )
        self._at[groups[left]] += 1
        if not left.all():
            for into, new in zip(found, self._after.next(groups[~left]), strict=True):
                into[~left] = new
        return found


def _boundaries(seen: Histograms, j: int, least: Ints) -> tuple[Ints, Ints, Ints]:
    """Node, loss and entry above of each boundary along a column that leaves enough on both sides."""
    along = seen.along[j]
    rows, need = seen.rows[along.node], least[along.node]
    at = np.flatnonzero((along.upto >= need) & (rows - along.upto >= need) & (along.upto < rows))
    below, above = along.upto[at], (rows - along.upto)[at]
    loss = (
        below * seen.label_up_to(j)[at]
        + above * seen.label_from(j)[np.minimum(at + 1, len(rows) - 1)]
    )
    return along.node[at], loss, at + 1


# Whether both sides of cuts hold the requirement, by counts alone.


class Coded(Protocol):
    """What must be known of a coded table to cut it."""

    @property
    def domains(self) -> tuple[Domain, ...]:
        """One per quasi-identifier."""

    @property
    def sensitive_domains(self) -> dict[str, Domain]:
        """Of the sensitive columns."""

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Their names, as s0, s1, ..."""

    @property
    def totals(self) -> dict[str, Ints]:
        """Per sensitive column, rows with each value; none are missing."""

    @property
    def n_rows(self) -> int:
        """Rows of the table."""


def whole_table(coded: Coded, requirement: Requirement) -> Mapping[str, Counts]:
    """The counts of all rows as one group."""
    tables = {name: coded.totals[name][None, :] for name in requirement.columns}
    return _counts(coded, requirement, np.array([coded.n_rows], np.int64), tables)


class Judge:
    """Asks the requirement about the cuts of a round; what was counted once is kept."""

    def __init__(
        self,
        session: Session,
        table: str,
        coded: Coded,
        requirement: Requirement,
        seen: Histograms,
        slices: Slices,
    ) -> None:
        self._session, self._table, self._coded = session, table, coded
        self._requirement, self._seen, self._slices = requirement, seen, slices
        self._sensitive = [coded.sensitive.index(name) for name in requirement.columns]
        self._joint: dict[tuple[int, int, int], tuple[Ints, Ints, Ints]] = {}
        """Per column, sensitive column and place of a node: codes, sensitive codes and rows."""
        self._tried = np.zeros(len(seen.nodes), np.bool_)

    def hold(self, groups: Ints, places: Places) -> Bools:
        """(n,) whether both sides of each cut hold; every try respects min_rows."""
        real = (places.column >= 0) & (places.entry >= 0)
        if self._requirement.only_size or not real.any():
            return real
        asked = groups[real]
        cuts = Places(*(part[real] for part in places))
        self._count(asked, cuts.column)
        below = self._rows_below(asked, cuts)
        sizes = np.stack([below, self._seen.rows[asked] - below], axis=1).ravel()
        tables = {
            name: self._tables(asked, cuts, i)
            for i, name in zip(self._sensitive, self._requirement.columns, strict=True)
        }
        counts = _counts(self._coded, self._requirement, sizes, tables)
        held = np.zeros(len(groups), np.bool_)
        held[real] = self._requirement.holds(counts).reshape(-1, 2).all(axis=1)
        return held

    def _rows_below(self, groups: Ints, cuts: Places) -> Ints:
        along = [self._seen.along[j] for j in cuts.column]
        return np.array(
            [
                extra + (a.upto[entry - 1] if entry > a.starts[g] else 0)
                for a, g, entry, extra in zip(along, groups, cuts.entry, cuts.extra, strict=True)
            ],
            np.int64,
        )

    def _tables(self, groups: Ints, cuts: Places, i: int) -> Ints:
        """(2n, size) rows of each sensitive value on both sides of each cut."""
        size = self._coded.sensitive_domains[self._coded.sensitive[i]].size
        sides = np.zeros((len(groups), 2, size), np.int64)
        through = []
        for n, (g, j, entry) in enumerate(zip(groups, cuts.column, cuts.entry, strict=True)):
            codes, values, rows = self._joint[int(j), i, int(g)]
            under = codes < self._seen.along[j].code[entry]
            np.add.at(sides[n, 0], values[under], rows[under])
            np.add.at(sides[n, 1], values[~under], rows[~under])
            if cuts.extra[n]:
                through.append(n)
        wanted = [
            slice_at(self._seen, *(int(part[n]) for part in (groups, *cuts))) for n in through
        ]
        for n, more in zip(through, self._slices.values(wanted, i), strict=True):
            for value, rows_below in more.items():
                sides[n, 0, value] += rows_below
                sides[n, 1, value] -= rows_below
        return sides.reshape(-1, size)

    def _count(self, groups: Ints, columns: Ints) -> None:
        """Count along each node's column; of one that was cut in vain along all others too."""
        d, first = len(self._seen.along), self._sensitive[0]
        wanted: dict[int, list[int]] = {}
        for g, column in zip(groups.tolist(), columns.tolist(), strict=True):
            for j in range(d) if self._tried[g] else [column]:
                if (j, first, g) not in self._joint:
                    wanted.setdefault(j, []).append(g)
        self._tried[groups] = True
        if not wanted:
            return
        nodes = {j: self._seen.nodes[asked].tolist() for j, asked in wanted.items()}
        answer = self._session.ask(questions.joint(self._table, nodes, self._sensitive))
        along, of, node, code, value, rows = (
            answer[name].to_numpy().astype(np.int64) for name in ("j", "i", "node", "v", "s", "n")
        )
        place = np.searchsorted(self._seen.nodes, node)
        order = np.lexsort((place, of, along))
        keys = np.stack([along, of, place], axis=1)[order]
        starts = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
        for begin, end in zip(starts, np.append(starts[1:], len(keys)), strict=True):
            mine = order[begin:end]
            j, i, g = keys[begin].tolist()
            self._joint[j, i, g] = code[mine], value[mine], rows[mine]


def _counts(
    coded: Coded, requirement: Requirement, sizes: Ints, tables: Mapping[str, Ints]
) -> dict[str, Counts]:
    none = np.zeros(0, np.int64)
    starts = np.zeros(len(sizes) + 1, np.int64)
    counts = {SIZES_ONLY: Counts(sizes, starts, none.astype(np.int32), none)}
    for name in requirement.columns:
        domain, table = coded.sensitive_domains[name], tables[name].copy()
        if domain.missing >= 0:
            table[:, domain.missing] = 0
        group, value = np.nonzero(table)
        begins = np.searchsorted(group, np.arange(len(sizes) + 1)).astype(np.int64)
        found = value.astype(np.int32), table[group, value]
        counts[name] = Counts(sizes, begins, *found, domain, coded.totals[name])
    return counts


# The top cuts of a partition, for tables of which no machine holds all rows.


FRAGMENT_ROWS = 250_000
MOST_FRAGMENTS = 4_000
"""About: past a billion rows fragments grow instead, since each is known by name to everyone."""
MOST_ENTRIES = 5_000_000
"""Entries of histograms that are held here at a time; a single node may have more."""
MOST_LOSSES = (1 << 63) // UNIT
"""Rows times columns: the loss of all of them is summed in 64 bits."""
CUTTING = "cutting"
"""The table of the rows that are still being cut, `node` being their node."""
PARTED = "parted"
"""All rows with their fragment, where SQL cannot tell it."""


@dataclass(frozen=True)
class Fragment:
    """Rows that are finished together."""

    depth: int
    """How many cuts led to them."""
    rows: int


@dataclass(frozen=True)
class Tops:
    """The cuts that were made and what they left."""

    tree: Tree
    fragments: tuple[Fragment, ...]
    """Depth first, below before above."""

    def rows(self, session: Session, columns: list[str], payload: pa.Schema) -> str:
        """SQL of all rows of the coded table, `node` being the number of their fragment, to be asked
        once.

        payload: the types of columns that are no codes. Forget the table PARTED afterwards.
        """
        numbers = {leaf: number for number, leaf in enumerate(self.tree.leaves())}
        if len(numbers) <= MANY_PARTS:
            return questions.with_leaves(self.tree, numbers, columns)
        schema = pa.schema([payload.field(n) if n in payload.names else _coded(n) for n in columns])
        walk = walk_of(self.tree, numbers, schema.insert(0, _coded("node")))
        session.map(PARTED, rows_of(questions.CODED, columns), walk, walk.schema, once=True)
        return rows_of(PARTED, walk.schema.names)


def fragment_rows_for(n_rows: int) -> int:
    """How many rows a fragment of such a table may have."""
    return max(FRAGMENT_ROWS, -(-n_rows // MOST_FRAGMENTS))


def cut_tops(
    session: Session,
    coded: Coded,
    requirement: Requirement,
    cutting: Cutting,
    fragment_rows: int = FRAGMENT_ROWS,
    progress: Progress = no_progress,
    most_entries: int = MOST_ENTRIES,
) -> Tops:
    """Cut the coded table until no part has more than `fragment_rows` rows, or can be cut."""
    _check_losses(coded, cutting)
    check_holds(whole_table(coded, requirement), requirement)
    tree = Tree(len(coded.domains))
    least = requirement.min_rows
    kept = [f"c{j}" for j in range(tree.columns)] + [f"s{i}" for i in range(len(coded.sensitive))]
    kept += ["key", "h"]
    known = {0: Fragment(0, coded.n_rows)}

    def is_open(node: int) -> bool:
        return known[node].rows > fragment_rows and known[node].rows >= 2 * least

    rounds = _Round(session, coded, requirement, cutting)
    table = questions.CODED
    open_nodes = [0] if is_open(0) else []
    while open_nodes:
        moves: dict[int, tuple[Cut, int | None, int | None]] = {}
        portions = rounds.portions(open_nodes, known, most_entries)
        open_nodes = []
        for portion in portions:
            for node, cut, below in rounds.cuts(table, portion, known):
                whole = known[node]
                children = tree.cut(node, cut)
                for child, rows in zip(children, (below, whole.rows - below), strict=True):
                    known[child] = Fragment(whole.depth + 1, rows)
                goes_on = [child if is_open(child) else None for child in children]
                open_nodes += filter(None, goes_on)
                moves[node] = cut, goes_on[0], goes_on[1]
        if open_nodes:
            # rows of finished fragments are left behind: no round reads them again
            session.keep(CUTTING, questions.cut(table, tree.columns, moves, kept))
            table = CUTTING
        left = sum(known[node].rows for node in open_nodes)
        progress(1 - left / coded.n_rows, coded.n_rows - left, coded.n_rows)
    session.drop(CUTTING)
    return Tops(tree, tuple(known[leaf] for leaf in tree.leaves()))


def _check_losses(coded: Coded, cutting: Cutting) -> None:
    n, d = coded.n_rows, len(coded.domains)
    if n * d >= MOST_LOSSES and (cutting.by_loss or cutting.boundaries_first):
        raise InputError(
            f"The table has {n:,} rows and {d} quasi-identifiers, but a method that compares losses "
            f"takes at most {MOST_LOSSES // d:,} rows with so many. Use mondrian, or "
            "flexible-partition with `dimension: widest`, which compare widths alone."
        )


@dataclass(frozen=True)
class _Round:
    """What is the same for all open nodes."""

    session: Session
    coded: Coded
    requirement: Requirement
    cutting: Cutting

    def portions(
        self, nodes: list[int], known: Mapping[int, Fragment], most: int
    ) -> list[list[int]]:
        """The nodes, as many together as have at most so many entries in all."""
        sizes = [domain.size for domain in self.coded.domains]
        values = [self.coded.sensitive_domains[name].size for name in self.requirement.columns]
        found: list[list[int]] = []
        room = 0
        for node in nodes:
            rows = known[node].rows
            entries = sum(min(rows, size) for size in sizes)
            entries += sum(2 * n + min(rows, max(sizes) * n) for n in values)
            if not found or entries > room:
                found.append([])
                room = most
            found[-1].append(node)
            room -= entries
        return found

    def cuts(
        self, table: str, portion: list[int], known: Mapping[int, Fragment]
    ) -> list[tuple[int, Cut, int]]:
        """Node, cut and rows below, for those of the nodes that can be cut."""
        d, costs = len(self.coded.domains), costs_of(self.coded.domains)
        rule = self.cutting
        spans = needed_spans(costs, only_counts=not (rule.by_loss or rule.boundaries_first))
        depth = np.array([known[node].depth for node in portion], np.int64)
        asked = questions.histograms(table, d, spans, (portion[0], portion[-1]))
        seen = read(costs, np.array(portion, np.int64), depth, self.session.ask(asked))
        sets = np.flatnonzero(costs.kind == SET).tolist()
        sizes = [domain.size for domain in self.coded.domains]
        slices = Slices(self.session, table, sizes, sets)
        judge = Judge(self.session, table, self.coded, self.requirement, seen, slices)
        tries = tries_of(rule, seen, slices, self.requirement.min_rows, self.coded.n_rows)
        return _cuts(seen, slices, *_choose(seen, judge, tries))


def _coded(name: str) -> pa.Field:
    """The type of a column of the coded table that is no payload."""
    return pa.field(name, pa.int64() if name in ("node", "key", "h") else pa.int32())


def _choose(seen: Histograms, judge: Judge, tries: Tries) -> tuple[Ints, Places]:
    """For each node the first cut whose two sides hold; nodes without any are left out."""
    n = len(seen.nodes)
    chosen = Places(*(np.full(n, -1, np.int64) for _ in range(3)))
    groups = np.arange(n)
    while len(groups):
        places = tries.next(groups)
        held = judge.hold(groups, places)
        for kept, new in zip(chosen, places, strict=True):
            kept[groups[held]] = new[held]
        groups = groups[~held & (places.column >= 0)]
    found = np.flatnonzero(chosen.column >= 0)
    return found, Places(*(part[found] for part in chosen))


def _cuts(
    seen: Histograms, slices: Slices, groups: Ints, places: Places
) -> list[tuple[int, Cut, int]]:
    """Node, cut and rows below of each chosen cut."""
    through = np.flatnonzero(places.extra)
    wanted = [slice_at(seen, *(int(part[n]) for part in (groups, *places))) for n in through]
    last = dict(zip(through.tolist(), slices.last(wanted), strict=True))
    found = []
    for n, (group, column, entry, extra) in enumerate(zip(groups, *places, strict=True)):
        along = seen.along[column]
        before = along.upto[entry - 1] if entry > along.starts[group] else 0
        cut = Cut(int(column), int(along.code[entry]), last.get(n))
        found.append((int(seen.nodes[group]), cut, int(before + extra)))
    return found
