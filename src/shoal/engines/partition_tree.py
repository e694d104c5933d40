"""The tree of cuts of a table larger than memory: cut by histograms until its fragments are small.

The cuts are those that the same rule makes in memory. Each round asks the session for the histograms of
the open nodes, as many at a time as fit in memory, chooses the cuts here and sends the rows on. A node
that has become small enough, or that cannot be cut, is a fragment; fragments are finished where their
rows are (`engines/fragments.py`). How small is small enough does not change the release.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from shoal.arrays import Bools, Ints
from shoal.encoding.counts import Counts, size_counts
from shoal.encoding.domain import UNIT, costs_of
from shoal.engines import queries
from shoal.engines.encode import EncodedTable
from shoal.engines.people_of_cuts import PeopleOfCuts, whole_table_people
from shoal.engines.queries import PERSON, WEIGHT, Cut, Tree, select
from shoal.engines.sessions import Session
from shoal.engines.tie_splits import TieSplits
from shoal.engines.tree_walk import Walk, WalkedRounds, placed_cuts, walk_down
from shoal.engines.words import WordLayout, word_layout
from shoal.errors import InputError
from shoal.kernels.labels import SET, Costs
from shoal.kernels.partition import Cuts, leaf_of_rows
from shoal.methods.partition import PartitionRule, choose_cuts
from shoal.methods.partition_histograms import ColumnHistogram, NodeHistograms
from shoal.models.base import SIZES_ONLY
from shoal.models.requirement import Requirement
from shoal.progress import Progress, no_progress

FRAGMENT_ROWS = 250_000
MOST_FRAGMENTS = 4_000
"""About: past a billion rows fragments grow instead, since every worker is sent the list of them."""
MOST_ENTRIES = 5_000_000
"""Entries of histograms in memory at a time; a single node may have more."""
MOST_LOSSES = (1 << 63) // UNIT
"""Rows times columns: the loss of all of them is summed in 64 bits."""
CODE_TYPES = ((7, "TINYINT"), (15, "SMALLINT"))
"""The bits of codes, and types that hold them."""
OPEN_ROWS = "open_rows"
"""The table of the rows that are still being cut, `node` being their node."""
MOST_SQL_FRAGMENTS = 32
"""Up to this many fragments SQL finds each row's, as nested CASE expressions. With more, Java does not
compile the program that Spark makes of them, and with a thousand Spark runs out of memory; a function
then finds them."""


@dataclass(frozen=True)
class Fragment:
    """Rows that are finished together."""

    depth: int
    """How many cuts led to them."""
    rows: int
    is_group: bool = False
    """Whether it is one group, with more rows than a fragment should have: no cut of it is allowed."""


@dataclass(frozen=True)
class PartitionTree:
    """The cuts that were made and the fragments they left."""

    tree: Tree
    fragments: tuple[Fragment, ...]
    """Depth first, below before above."""
    layout: WordLayout | None = None
    """How rows are words, where they are."""

    def rows(
        self,
        columns: list[str],
        payload: pa.Schema,
        sizes: Mapping[str, int] | None = None,
        by_sql: bool = True,
        only: Collection[int] | None = None,
    ) -> "tuple[str, Locator | None]":
        """SQL of all rows of the encoded table, and what finds `node`, their fragment; None where the
        SQL does.

        payload: the types of columns that are no codes. sizes: of columns of small numbers, how many
        different ones they have; they get the smallest type that holds these. by_sql: whether SQL may
        find the fragments where there are few. only: the fragments whose rows are wanted, where these
        are not all; others are then left out by what finds them.
        """
        numbers = {
            leaf: number
            for number, leaf in enumerate(self.tree.leaves())
            if only is None or number in only
        }
        if by_sql and len(numbers) <= MOST_SQL_FRAGMENTS:
            return queries.with_leaves(self.tree, numbers, columns), None
        small = {name: _small_type(size) for name, size in (sizes or {}).items()}
        schema = pa.schema(
            [payload.field(n) if n in payload.names else _code_field(n) for n in columns]
        )
        schema = pa.schema([f.with_type(small.get(f.name, f.type)) for f in schema])
        schema = schema.insert(0, _code_field("node"))
        locate = locator(self.tree, numbers, schema, self.layout)
        words = [] if self.layout is None else [queries.WORD]
        return select(queries.ENCODED, [*columns, *words]), locate


def fragment_rows_for(n_rows: int) -> int:
    """How many rows a fragment of such a table may have."""
    return max(FRAGMENT_ROWS, -(-n_rows // MOST_FRAGMENTS))


def cut_into_fragments(
    session: Session,
    encoded: EncodedTable,
    requirement: Requirement,
    rule: PartitionRule,
    fragment_rows: int = FRAGMENT_ROWS,
    progress: Progress = no_progress,
    most_entries: int = MOST_ENTRIES,
) -> PartitionTree:
    """Cut the encoded table until no part has more than `fragment_rows` rows, or can be cut.

    Whether all rows together satisfy the requirement is not looked at: see `whole_table`.
    """
    _check_losses(encoded, rule)
    tree = Tree(len(encoded.domains))
    least = requirement.min_rows
    kept = {f"c{j}": _code_type(domain.size) for j, domain in enumerate(encoded.domains)}
    for name in requirement.columns:
        size = encoded.sensitive_domains[name].size
        kept[f"s{encoded.sensitive.index(name)}"] = _code_type(size)
    wide = [PERSON, "key", "h"] if requirement.counts_people else ["key", "h"]
    kept |= dict.fromkeys(wide, "BIGINT")
    known = {0: Fragment(0, encoded.n_rows)}

    def is_open(node: int) -> bool:
        return known[node].rows > fragment_rows and known[node].rows >= 2 * least

    rounds = Rounds(session, encoded, requirement, rule)
    walked = _walked_rounds(session, encoded, requirement, rule)
    table = queries.ENCODED
    open_nodes = [0] if is_open(0) else []
    while open_nodes:
        moves: dict[int, tuple[Cut, int | None, int | None]] = {}
        portions = (
            rounds.portions(open_nodes, known, most_entries)
            if walked is None
            else walked.portions(open_nodes, most_entries)
        )
        open_nodes = []
        for portion in portions:
            depth = {node: known[node].depth for node in portion}
            found = (
                rounds.cuts(table, portion, known)
                if walked is None
                else walked.cuts(tree, portion, depth)
            )
            for node, cut, below in found:
                whole = known[node]
                children = tree.cut(node, cut)
                for child, rows in zip(children, (below, whole.rows - below), strict=True):
                    known[child] = Fragment(whole.depth + 1, rows)
                goes_on = [child if is_open(child) else None for child in children]
                open_nodes += filter(None, goes_on)
                moves[node] = cut, goes_on[0], goes_on[1]
        if open_nodes and walked is None:
            # rows of finished fragments are left behind: no round reads them again
            session.keep(OPEN_ROWS, queries.move_rows(table, tree.columns, moves, kept))
            table = OPEN_ROWS
        left = sum(known[node].rows for node in open_nodes)
        progress(1 - left / encoded.n_rows, encoded.n_rows - left, encoded.n_rows)
    session.drop(OPEN_ROWS)
    leaves = [known[leaf] for leaf in tree.leaves()]
    fragments = tuple(replace(one, is_group=one.rows > fragment_rows) for one in leaves)
    return PartitionTree(tree, fragments, layout_of(encoded))


def layout_of(encoded: EncodedTable) -> WordLayout | None:
    """How the rows of an encoded table are words; None where they are not."""
    return word_layout([domain.size for domain in encoded.domains])


def _walked_rounds(
    session: Session, encoded: EncodedTable, requirement: Requirement, rule: PartitionRule
) -> WalkedRounds | None:
    """Rounds that walk the rows down the tree; None where a rule or a requirement asks for more than
    counts, or a row has too many bits."""
    layout = layout_of(encoded)
    if not session.walks or layout is None or rule.compares_losses or not requirement.only_size:
        return None
    least = requirement.min_rows
    return WalkedRounds(session, encoded.domains, layout, least, encoded.n_rows, rule)


def _code_type(size: int) -> str:
    """The smallest type in SQL for the codes of so many values."""
    return next((kind for bits, kind in CODE_TYPES if size <= 1 << bits), "INTEGER")


def _small_type(size: int) -> pa.DataType:
    """The smallest type for numbers below `size`, and for `size` itself."""
    return next(
        (kind for kind in (pa.int8(), pa.int16()) if size < 1 << kind.bit_width - 1), pa.int32()
    )


def _check_losses(encoded: EncodedTable, rule: PartitionRule) -> None:
    n, d = encoded.n_rows, len(encoded.domains)
    if n * d >= MOST_LOSSES and rule.compares_losses:
        raise InputError(
            f"The table has {n:,} rows and {d} quasi-identifiers, but a method that compares losses "
            f"takes at most {MOST_LOSSES // d:,} rows with so many. Use mondrian, or "
            "flexible-partition with `dimension: widest`, which compare widths alone."
        )


@dataclass(frozen=True)
class Rounds:
    """Chooses the cuts of the open nodes, round by round."""

    session: Session
    encoded: EncodedTable
    requirement: Requirement
    rule: PartitionRule

    def portions(
        self, nodes: list[int], known: Mapping[int, Fragment], most: int
    ) -> list[list[int]]:
        """The nodes, as many together as have at most so many entries in all."""
        sizes = [domain.size for domain in self.encoded.domains]
        values = [self.encoded.sensitive_domains[name].size for name in self.requirement.columns]
        found: list[list[int]] = []
        room = 0
        for node in nodes:
            rows = known[node].rows
            entries = sum(min(rows, size) for size in sizes)
            entries += sum(2 * n + min(rows, max(sizes) * n) for n in values)
            if self.requirement.counts_people:  # by their smallest codes and by their largest
                entries *= 2
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
        sizes = [domain.size for domain in self.encoded.domains]
        costs = costs_of(self.encoded.domains)
        ties = TieSplits(self.session, table, sizes, np.flatnonzero(costs.kind == SET).tolist())
        spans = _needed_spans(costs, only_counts=not self.rule.compares_losses)
        sql = queries.histograms(table, len(sizes), spans, (portion[0], portion[-1]))
        nodes = np.array(portion, np.int64)
        columns = _histograms(len(sizes), nodes, self.session.query(sql))
        depth = np.array([known[node].depth for node in portion], np.int64)
        groups = NodeHistograms(costs, nodes, depth, columns, ties)
        judge = Judge(self.session, table, self.encoded, self.requirement, groups, ties)
        order = self.rule.cuts(groups, self.requirement.min_rows, self.encoded.n_rows)
        chosen = choose_cuts(order, len(nodes), np.arange(len(nodes)), judge.hold)
        numbers = np.flatnonzero(chosen.column >= 0)
        return placed_cuts(groups, ties, numbers, Cuts(*(part[numbers] for part in chosen)))


def _needed_spans(costs: Costs, only_counts: bool) -> dict[int, Sequence[int]]:
    """Per column, of which others the spans are needed: for ranges and trees to grow along it, and to
    know where its own members first and last occur."""
    d = len(costs.kind)
    if only_counts:
        return dict.fromkeys(range(d), ())
    grown = [i for i in range(d) if costs.kind[i] != SET]
    return {j: list(range(d)) if costs.kind[j] == SET else grown for j in range(d)}


def _histograms(d: int, nodes: Ints, answer: pa.Table) -> list[ColumnHistogram]:
    """The histograms of all columns from the answer to `queries.histograms`."""
    column, node, code = (_numbers(answer[name]) for name in ("j", "node", "v"))
    order = np.lexsort((code, node, column))
    node, code = np.searchsorted(nodes, node[order]), code[order]
    count = _numbers(answer["n"])[order]
    low, high = (
        np.stack([_numbers(answer[f"{side}{i}"]) for i in range(d)], axis=1)[order] for side in "lh"
    )
    ends = np.searchsorted(column[order], np.arange(d + 1))
    found = []
    for j in range(d):
        part = slice(ends[j], ends[j + 1])
        # a column's own codes need not be queried
        low[part, j] = high[part, j] = code[part]
        starts = np.searchsorted(node[part], np.arange(len(nodes) + 1)).astype(np.int64)
        total = np.cumsum(count[part])
        upto = total - np.append(0, total)[starts][node[part]]
        found.append(
            ColumnHistogram(
                starts, node[part], code[part], count[part], upto, low[part], high[part]
            )
        )
    return found


def _numbers(column: pa.ChunkedArray) -> Ints:
    return column.to_numpy().astype(np.int64)


def whole_table(encoded: EncodedTable, requirement: Requirement) -> Mapping[str, Counts]:
    """The counts of all rows as one group."""
    if requirement.counts_people:
        return whole_table_people(encoded, requirement.columns)
    tables = {name: encoded.totals[name].counts[None, :] for name in requirement.columns}
    return _counts(encoded, requirement, np.array([encoded.n_rows], np.int64), tables)


class Judge:
    """Asks the requirement about the cuts of a round, by counts alone; every count is queried once."""

    def __init__(
        self,
        session: Session,
        table: str,
        encoded: EncodedTable,
        requirement: Requirement,
        groups: NodeHistograms,
        ties: TieSplits,
    ) -> None:
        self._session, self._table, self._encoded = session, table, encoded
        self._requirement, self._groups, self._ties = requirement, groups, ties
        self._sensitive = [encoded.sensitive.index(name) for name in requirement.columns]
        self._joint: dict[tuple[int, int, int], tuple[Ints, Ints, Ints]] = {}
        """Per column, sensitive column and place of a node: codes, sensitive codes and rows."""
        self._tried = np.zeros(len(groups.nodes), np.bool_)
        self._people = PeopleOfCuts(session, table, encoded, requirement, groups, ties)

    def hold(self, numbers: Ints, cuts: Cuts) -> Bools:
        """(n,) whether both sides of each cut satisfy the requirement."""
        real = (cuts.column >= 0) & (cuts.position >= 0)
        if self._requirement.only_size or not real.any():
            return real
        chosen, placed = numbers[real], Cuts(*(part[real] for part in cuts))
        by_people = self._requirement.counts_people
        counts = self._people.counts(chosen, placed) if by_people else self._counts(chosen, placed)
        held = np.zeros(len(numbers), np.bool_)
        held[real] = self._requirement.holds(counts).reshape(-1, 2).all(axis=1)
        return held

    def _counts(self, chosen: Ints, placed: Cuts) -> dict[str, Counts]:
        """Counts of rows on both sides of each cut, below before above."""
        self._count(chosen, placed.column)
        below = self._groups.rows_below(chosen, placed)
        sizes = np.stack([below, self._groups.rows[chosen] - below], axis=1).ravel()
        tables = {
            name: self._tables(chosen, placed, i)
            for i, name in zip(self._sensitive, self._requirement.columns, strict=True)
        }
        return _counts(self._encoded, self._requirement, sizes, tables)

    def _tables(self, numbers: Ints, cuts: Cuts, i: int) -> Ints:
        """(2n, size) rows of each sensitive value on both sides of each cut."""
        size = self._encoded.sensitive_domains[self._encoded.sensitive[i]].size
        sides = np.zeros((len(numbers), 2, size), np.int64)
        for n, (g, j, at) in enumerate(zip(numbers, cuts.column, cuts.position, strict=True)):
            codes, values, rows = self._joint[int(j), i, int(g)]
            under = codes < self._groups.columns[j].code[at]
            np.add.at(sides[n, 0], values[under], rows[under])
            np.add.at(sides[n, 1], values[~under], rows[~under])
        tied = np.flatnonzero(cuts.extra).tolist()
        wanted = [self._groups.tie(*(int(part[n]) for part in (numbers, *cuts))) for n in tied]
        for n, more in zip(tied, self._ties.values(wanted, i), strict=True):
            for value, rows_below in more.items():
                sides[n, 0, value] += rows_below
                sides[n, 1, value] -= rows_below
        return sides.reshape(-1, size)

    def _count(self, numbers: Ints, columns: Ints) -> None:
        """Count along each node's column; once a cut of a node has failed, along all others too."""
        d, first = self._groups.n_columns, self._sensitive[0]
        wanted: dict[int, list[int]] = {}
        for g, column in zip(numbers.tolist(), columns.tolist(), strict=True):
            for j in range(d) if self._tried[g] else [column]:
                if (j, first, g) not in self._joint:
                    wanted.setdefault(j, []).append(g)
        self._tried[numbers] = True
        if not wanted:
            return
        nodes = {j: self._groups.nodes[some].tolist() for j, some in wanted.items()}
        answer = self._session.query(queries.joint_histograms(self._table, nodes, self._sensitive))
        along, of, node, code, value, rows = (
            _numbers(answer[name]) for name in ("j", "i", "node", "v", "s", "n")
        )
        place = np.searchsorted(self._groups.nodes, node)
        order = np.lexsort((place, of, along))
        keys = np.stack([along, of, place], axis=1)[order]
        starts = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
        for begin, end in zip(starts, np.append(starts[1:], len(keys)), strict=True):
            mine = order[begin:end]
            j, i, g = keys[begin].tolist()
            self._joint[j, i, g] = code[mine], value[mine], rows[mine]


def _counts(
    encoded: EncodedTable, requirement: Requirement, sizes: Ints, tables: Mapping[str, Ints]
) -> dict[str, Counts]:
    counts = {SIZES_ONLY: size_counts(sizes)}
    for name in requirement.columns:
        domain, table = encoded.sensitive_domains[name], tables[name].copy()
        if domain.missing >= 0:
            table[:, domain.missing] = 0
        group, value = np.nonzero(table)
        begins = np.searchsorted(group, np.arange(len(sizes) + 1)).astype(np.int64)
        found = value.astype(np.int32), table[group, value]
        counts[name] = Counts(sizes, begins, *found, domain, encoded.totals[name].counts)
    return counts


@dataclass(frozen=True)
class RowWalk:
    """Walks rows down a tree by all their codes, where these do not fit into a word."""

    columns: tuple[str, ...]
    """What makes the canonical order: c0, ..., key, h."""
    cut: tuple[Ints, Ints, Ints, Ints, Ints]
    """See `kernels.partition.leaf_of_rows`."""

    def nodes(self, batch: pa.RecordBatch) -> Ints:
        """(n,) the node that each row of a batch ends in."""
        rows = np.empty((batch.num_rows, len(self.columns)), np.int64)
        for j, name in enumerate(self.columns):
            rows[:, j] = batch.column(name).to_numpy(zero_copy_only=False)
        return leaf_of_rows(rows, *self.cut)


def row_walk(tree: Tree) -> RowWalk:
    """What walks rows down the cuts of a tree."""
    nodes = 2 * len(tree.cuts) + 1
    column, code, below, last = (np.full(nodes, -1, np.int64) for _ in range(4))
    lasts: list[tuple[int, ...]] = []
    for node, (cut, low, high) in tree.cuts.items():
        assert high == low + 1
        column[node], code[node], below[node] = cut.column, cut.code, low
        if cut.last is not None:
            last[node] = len(lasts)
            lasts.append(cut.last)
    names = (*(f"c{j}" for j in range(tree.columns)), "key", "h")
    table = np.array(lasts, np.int64).reshape(len(lasts), len(names))
    return RowWalk(names, (column, code, below, last, table))


@dataclass(frozen=True)
class Locator:
    """Puts the number of its fragment into `node` of each row; rows outside all are left out."""

    walk: Walk | RowWalk
    number: Ints
    """(nodes,) -1 for none."""
    schema: pa.Schema
    """What goes out."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of a batch with their fragments."""
        node = self.number[self.walk.nodes(batch)]
        kept = node >= 0
        others = [name for name in self.schema.names if name != "node"]
        found = pa.RecordBatch.from_arrays([batch.column(name) for name in others], names=others)
        if not kept.all():
            found, node = found.filter(pa.array(kept)), node[kept]
        columns = {name: found.column(name) for name in others} | {"node": pa.array(node)}
        arrays = [columns[f.name].cast(f.type) for f in self.schema]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def locator(
    tree: Tree, numbers: Mapping[int, int], schema: pa.Schema, layout: WordLayout | None
) -> Locator:
    """What finds the numbers of the nodes that rows lie in."""
    number = np.full(2 * len(tree.cuts) + 1, -1, np.int64)
    for node, value in numbers.items():
        number[node] = value
    return Locator(row_walk(tree) if layout is None else walk_down(tree, layout), number, schema)


def _code_field(name: str) -> pa.Field:
    """The type of a column of the encoded table that is no payload."""
    wide = name in ("node", PERSON, WEIGHT, "key", "h") or name.startswith("i")  # hashes of ids
    return pa.field(name, pa.int64() if wide else pa.int32())
