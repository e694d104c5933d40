"""Rounds of cuts for rules that look at counts alone: rows are walked down the cuts made so far.

Nothing is stored between rounds. Each counts the codes of its open nodes in one pass over all rows;
where a cut goes through equal values, the last row below is searched by the bits of the rows, some of
them in each further pass, until few rows are left to be put in order. A row is a word here, its codes
packed into 63 bits: tables that need more are cut by SQL.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from shoal.arrays import Codes, Ints
from shoal.encoding.domain import Domain, costs_of
from shoal.engines.queries import ENCODED, WORD, Cut, Tree, select
from shoal.engines.sessions import Session
from shoal.engines.words import WordLayout
from shoal.kernels.partition import Cuts
from shoal.kernels.tree_walk import (
    KEY_BITS,
    Search,
    WordTree,
    count_codes,
    count_digits,
    leaf_of_words,
    mark_searched,
)
from shoal.methods.partition import PartitionRule, choose_cuts
from shoal.methods.partition_histograms import ColumnHistogram, NodeHistograms, Tie, TieSide

FEW = 200_000
"""Up to this many rows, of all ties of a round, are put in order here."""
COUNT_BITS = 22
"""As many bits are searched in one pass as give this many counts, as a power of two."""
ROWS = (WORD, "key", "h")
FOUND = pa.schema([("part", pa.int64()), *((name, pa.int64()) for name in ROWS)])
TIED = "tied_rows"


@dataclass(frozen=True)
class Walk:
    """Rows of the encoded table walked down a tree."""

    tree: WordTree

    def leaves(self, batch: pa.RecordBatch) -> tuple[Ints, Ints, Ints, Codes]:
        """Word, key and hash of each row of a batch, and the node that it ends in."""
        columns = [batch.column(name).to_numpy(zero_copy_only=False) for name in ROWS]
        word, key, hashes = (column.astype(np.int64, copy=False) for column in columns)
        leaf = np.empty(len(word), np.int32)
        leaf_of_words(word, key, hashes, self.tree, leaf)
        return word, key, hashes, leaf

    def nodes(self, batch: pa.RecordBatch) -> Codes:
        """(n,) the node that each row of a batch ends in."""
        return self.leaves(batch)[-1]


def walk_down(tree: Tree, layout: WordLayout) -> Walk:
    """What walks rows down the cuts made so far."""
    nodes = 2 * len(tree.cuts) + 1
    shift, mask, code, key, hashes = (np.zeros(nodes, np.int64) for _ in range(5))
    below, word = np.full(nodes, -1, np.int64), np.full(nodes, -1, np.int64)
    for node, (cut, low, high) in tree.cuts.items():
        assert high == low + 1
        shift[node], mask[node] = layout.shift[cut.column], layout.mask[cut.column]
        code[node], below[node] = cut.code, low
        if cut.last is not None:
            *codes, key[node], hashes[node] = cut.last
            word[node] = layout.pack([np.array([one]) for one in codes])[0]
    return Walk(WordTree(shift, mask, code, below, word, key, hashes))


@dataclass(frozen=True)
class CountCodes:
    """Counts the codes of all columns in some nodes."""

    walk: Walk
    layout: WordLayout
    place: Ints
    """(nodes,) where the counts of a node begin, or -1."""
    first: Ints
    """(d + 1,) where those of a column do."""

    def __call__(self, batch: pa.RecordBatch, totals: Ints) -> None:
        """Add the rows of a batch."""
        word, _, _, leaf = self.walk.leaves(batch)
        where = self.place, self.layout.shift, self.layout.mask, self.first
        count_codes(word, leaf, *where, totals)


@dataclass(frozen=True)
class CountDigits:
    """Counts the rows that are searched by their next bits."""

    walk: Walk
    place: Ints
    """(nodes,) which search looks at a node, or -1."""
    search: Search
    digits: Ints
    """(n,) how many bits."""
    room: int
    """Counts of one search."""

    def __call__(self, batch: pa.RecordBatch, totals: Ints) -> None:
        """Add the rows of a batch."""
        word, key, _, leaf = self.walk.leaves(batch)
        count_digits(word, key, leaf, self.place, self.search, self.digits, self.room, totals)


@dataclass(frozen=True)
class FindRows:
    """The rows that are searched."""

    walk: Walk
    place: Ints
    search: Search

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Those of a batch."""
        word, key, hashes, leaf = self.walk.leaves(batch)
        found = np.empty(len(word), np.int64)
        mark_searched(word, key, leaf, self.place, self.search, found)
        kept = np.flatnonzero(found >= 0)
        columns = (found, word, key, hashes)
        return pa.RecordBatch.from_arrays([pa.array(one[kept]) for one in columns], schema=FOUND)


class WalkedTies:
    """Finds the last row below each cut through equal values; a node has one such cut."""

    def __init__(self, session: Session, walk: Walk, layout: WordLayout) -> None:
        self._session, self._walk, self._layout = session, walk, layout

    def sides(self, ties: Iterable[Tie]) -> list[tuple[TieSide, TieSide]]:
        """Not known: rules that look at counts alone do not ask for it."""
        raise NotImplementedError

    def last(self, ties: Iterable[Tie]) -> list[tuple[int, ...]]:
        """The last row below of each tie, as (c0, ..., key, h)."""
        wanted = list(ties)
        if not wanted:
            return []
        n, layout = len(wanted), self._layout
        column = np.array([one.column for one in wanted], np.int64)
        zeros = [np.zeros(n, np.int64) for _ in range(4)]
        search = Search(
            layout.shift[column],
            layout.bits[column],
            np.array([one.code for one in wanted], np.int64),
            zeros[0],
            zeros[1],
            layout.bits.sum() - layout.bits[column],
            zeros[2],
            zeros[3],
        )
        place = np.full(len(self._walk.tree.below), -1, np.int64)
        place[[one.node for one in wanted]] = np.arange(n)
        rows = np.array([one.rows for one in wanted], np.int64)
        below = np.array([one.below for one in wanted], np.int64)
        while rows.sum() > FEW and (search.known < search.total).any():
            self._narrow(place, search, rows, below)
        return self._in_order(place, search, below)

    def _narrow(self, place: Ints, search: Search, rows: Ints, below: Ints) -> None:
        """Learn the next bits of each search; rows: how many are left, below: which of them is it."""
        n = len(rows)
        most = max(1, COUNT_BITS - (n - 1).bit_length())
        digits = np.minimum(most, search.total - search.known)
        room = 1 << most
        count = CountDigits(self._walk, place, search, digits, room)
        totals = self._session.tally(select(ENCODED, ROWS), count, n * room).reshape(n, room)
        for t in range(n):
            upto = np.cumsum(totals[t])
            at = int(np.searchsorted(upto, below[t]))
            rows[t] = totals[t, at]
            below[t] -= upto[at] - rows[t]
            search.known[t] += digits[t]
            search.prefix[t] = (search.prefix[t] << digits[t]) | at
            if search.known[t] == search.total[t] and not search.in_key[t]:
                low = search.shift[t]
                high = search.prefix[t] >> low << (low + search.bits[t])
                search.word[t] = (
                    high | (search.code[t] << low) | (search.prefix[t] & ((1 << low) - 1))
                )
                search.in_key[t], search.total[t] = 1, KEY_BITS
                search.known[t] = search.prefix[t] = 0

    def _in_order(self, place: Ints, search: Search, below: Ints) -> list[tuple[int, ...]]:
        """Put the rows that are left in order."""
        find = FindRows(self._walk, place, search)
        self._session.map(TIED, select(ENCODED, ROWS), find, FOUND, once=True)
        answer = self._session.query(select(TIED, FOUND.names))
        self._session.drop(TIED)
        part, word, key, hashes = (answer[name].to_numpy() for name in FOUND.names)
        order = np.lexsort((hashes, key, word, part))
        starts = np.searchsorted(part[order], np.arange(len(below)))
        at = order[starts + below - 1]
        last = zip(word[at].tolist(), key[at].tolist(), hashes[at].tolist(), strict=True)
        return [(*self._layout.unpack(one), *rest) for one, *rest in last]


class LastRows(Protocol):
    """Finds rows beside cuts."""

    def last(self, ties: Iterable[Tie]) -> list[tuple[int, ...]]:
        """The last row below of each tie, as (c0, ..., key, h)."""


def placed_cuts(
    groups: NodeHistograms, ties: LastRows, numbers: Ints, cuts: Cuts
) -> list[tuple[int, Cut, int]]:
    """Node, cut and rows below of each chosen cut."""
    tied = np.flatnonzero(cuts.extra)
    wanted = [groups.tie(*(int(part[n]) for part in (numbers, *cuts))) for n in tied]
    last = dict(zip(tied.tolist(), ties.last(wanted), strict=True))
    found = []
    for n, below in enumerate(groups.rows_below(numbers, cuts).tolist()):
        column = int(cuts.column[n])
        code = int(groups.columns[column].code[cuts.position[n]])
        found.append((int(groups.nodes[numbers[n]]), Cut(column, code, last.get(n)), below))
    return found


@dataclass(frozen=True)
class WalkedRounds:
    """Chooses the cuts of the open nodes, round by round."""

    session: Session
    domains: tuple[Domain, ...]
    layout: WordLayout
    least: int
    """Rows that a group must have."""
    n_rows: int
    rule: PartitionRule

    def portions(self, nodes: list[int], most: int) -> list[list[int]]:
        """The nodes, as many together as have at most so many counts."""
        together = max(1, most // sum(domain.size for domain in self.domains))
        return [nodes[i : i + together] for i in range(0, len(nodes), together)]

    def cuts(
        self, tree: Tree, portion: list[int], depth: Mapping[int, int]
    ) -> list[tuple[int, Cut, int]]:
        """Node, cut and rows below, for those of the nodes that can be cut."""
        nodes = np.array(portion, np.int64)
        walk = walk_down(tree, self.layout)
        ties = WalkedTies(self.session, walk, self.layout)
        groups = NodeHistograms(
            costs_of(self.domains),
            nodes,
            np.array([depth[node] for node in portion], np.int64),
            self._histograms(walk, nodes),
            ties,
        )
        order = self.rule.cuts(groups, self.least, self.n_rows)
        chosen = choose_cuts(
            order,
            len(nodes),
            np.arange(len(nodes)),
            lambda _, cuts: (cuts.column >= 0) & (cuts.position >= 0),
        )
        numbers = np.flatnonzero(chosen.column >= 0)
        return placed_cuts(groups, ties, numbers, Cuts(*(part[numbers] for part in chosen)))

    def _histograms(self, walk: Walk, nodes: Ints) -> list[ColumnHistogram]:
        """The histograms of all columns."""
        sizes = [domain.size for domain in self.domains]
        first = np.append(0, np.cumsum(sizes)).astype(np.int64)
        place = np.full(len(walk.tree.below), -1, np.int64)
        place[nodes] = np.arange(len(nodes)) * first[-1]
        count = CountCodes(walk, self.layout, place, first)
        totals = self.session.tally(
            select(ENCODED, ROWS), count, len(nodes) * int(first[-1])
        ).reshape(len(nodes), -1)
        found = []
        for j in range(len(sizes)):
            mine = totals[:, first[j] : first[j + 1]]
            node, code = np.nonzero(mine)
            rows, starts = mine[node, code], np.searchsorted(node, np.arange(len(nodes) + 1))
            upto = np.cumsum(rows)
            upto -= np.append(0, upto)[starts][node]
            spans = np.zeros((len(node), 0), np.int64)  # of other columns: not needed
            found.append(ColumnHistogram(starts, node, code, rows, upto, spans, spans))
        return found
