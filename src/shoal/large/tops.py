"""The top cuts of a partition, for tables of which no machine holds all rows.

All open nodes are treated in one round: their histograms are asked for, as many at a time as fit here,
and from these the very cuts follow that the method would make with the rows at hand. A node that has
become small enough, or that cannot be cut, is a fragment; fragments are finished where their rows are
(`fragments.py`). How small is small enough changes nothing in the result.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.cells.costs import costs_of
from shoal.engines.large import questions
from shoal.engines.large.profiling import rows_of
from shoal.engines.large.session import Session
from shoal.engines.large.tree import Cut, Tree
from shoal.errors import InputError
from shoal.kernels.costs import SET, UNIT
from shoal.large.choosing import Places, Tries, tries_of
from shoal.large.histograms import Histograms, needed_spans, read
from shoal.large.judging import Coded, Judge, whole_table
from shoal.large.labels import Ints
from shoal.large.parting import slice_at
from shoal.large.slices import Slices
from shoal.large.walking import MANY_PARTS, walk_of
from shoal.methods._cutting import Cutting
from shoal.methods.base import check_holds
from shoal.models.requirement import Requirement
from shoal.progress import Done, Progress, not_told

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
            return questions.numbered(self.tree, numbers, columns)
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
    progress: Progress = not_told,
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
        progress(Done(1 - left / coded.n_rows, coded.n_rows - left, coded.n_rows))
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
