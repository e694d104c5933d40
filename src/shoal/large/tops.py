"""The top cuts of a partition, for tables of which no machine holds all rows.

All open nodes are treated in one round: their histograms are asked for, and from these the very cuts
follow that the method would make with the rows at hand. A node that has become small enough, or that
cannot be cut, is a fragment; fragments are finished where their rows are (`fragments.py`). How small is
small enough changes nothing in the result.
"""

from dataclasses import dataclass

import numpy as np

from shoal.cells.costs import costs_of
from shoal.engines.large import questions
from shoal.engines.large.session import Session
from shoal.engines.large.tree import Cut, Tree
from shoal.kernels.costs import SET
from shoal.large.choosing import Places, Tries, tries_of
from shoal.large.histograms import Histograms, needed_spans, read
from shoal.large.judging import Coded, Judge, whole_table
from shoal.large.labels import Ints
from shoal.large.parting import slice_at
from shoal.large.slices import Slices
from shoal.methods._cutting import Cutting
from shoal.methods.base import check_holds
from shoal.models.requirement import Requirement
from shoal.progress import Done, Progress, not_told

FRAGMENT_ROWS = 250_000
CUTTING = "cutting"
"""The table of the rows that are still being cut, `node` being their node."""


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

    def rows(self, columns: list[str]) -> str:
        """SQL of all rows of the coded table, `node` being the number of their fragment."""
        numbers = {leaf: number for number, leaf in enumerate(self.tree.leaves())}
        return questions.numbered(self.tree, numbers, columns)


def cut_tops(
    session: Session,
    coded: Coded,
    requirement: Requirement,
    cutting: Cutting,
    fragment_rows: int = FRAGMENT_ROWS,
    progress: Progress = not_told,
) -> Tops:
    """Cut the coded table until no part has more than `fragment_rows` rows, or can be cut."""
    check_holds(whole_table(coded, requirement), requirement)
    tree = Tree(len(coded.domains))
    costs, least = costs_of(coded.domains), requirement.min_rows
    spans = needed_spans(costs, only_counts=not (cutting.by_loss or cutting.boundaries_first))
    sets = np.flatnonzero(costs.kind == SET).tolist()
    kept = [f"c{j}" for j in range(tree.columns)] + [f"s{i}" for i in range(len(coded.sensitive))]
    known = {0: Fragment(0, coded.n_rows)}

    def is_open(node: int) -> bool:
        return known[node].rows > fragment_rows and known[node].rows >= 2 * least

    table = questions.CODED
    open_nodes = [0] if is_open(0) else []
    while open_nodes:
        nodes = np.array(open_nodes, np.int64)
        depth = np.array([known[node].depth for node in open_nodes], np.int64)
        answer = session.ask(questions.histograms(table, tree.columns, spans))
        seen = read(costs, nodes, depth, answer)
        slices = Slices(session, table, tree.columns, sets)
        judge = Judge(session, table, coded, requirement, seen, slices)
        tries = tries_of(cutting, seen, slices, least, coded.n_rows)
        moves: dict[int, tuple[Cut, int | None, int | None]] = {}
        open_nodes = []
        for node, cut, below in _cuts(seen, slices, *_choose(seen, judge, tries)):
            whole = known[node]
            children = tree.cut(node, cut)
            for child, rows in zip(children, (below, whole.rows - below), strict=True):
                known[child] = Fragment(whole.depth + 1, rows)
            goes_on = [child if is_open(child) else None for child in children]
            open_nodes += filter(None, goes_on)
            moves[node] = cut, goes_on[0], goes_on[1]
        if open_nodes:
            # rows of finished fragments are left behind: no round reads them again
            session.keep(CUTTING, questions.cut(table, tree.columns, moves, [*kept, "key", "h"]))
            table = CUTTING
        left = sum(known[node].rows for node in open_nodes)
        progress(Done(1 - left / coded.n_rows, coded.n_rows - left, coded.n_rows))
    session.drop(CUTTING)
    return Tops(tree, tuple(known[leaf] for leaf in tree.leaves()))


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
