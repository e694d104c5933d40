"""Climbing hierarchies until k-anonymity constraints are met: Datafly, Classfly and Classfly+.

Rows that satisfy all constraints are found as the largest anonymous subset; the column with most
different values climbs one level in the others (or in all), and so on. The constraints may be on
different columns (`methods/constraints.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import Cells, pack
from shoal.encoding.grouping import SUPPRESSED, Grouping
from shoal.errors import PolicyError, listed
from shoal.hierarchy.tree import HierarchyTree
from shoal.kernels.equivalence_classes import (
    add_counts,
    chase,
    count_distinct,
    number_equal,
    number_small,
    sweep,
)
from shoal.methods.base import (
    FullDomainMethod,
    Progress,
    QuasiColumns,
    check_feasible,
    generalisation_summary,
)
from shoal.methods.constraints import (
    Constraint,
    components,
    constraints_of,
    union,
    without_implied,
    words,
)
from shoal.models.k import K
from shoal.models.requirement import Requirement

SWEEPS = 4
"""Sweeps that drop little before the drops are followed one by one. Most subsets settle in a few
sweeps, which are cheap; only a long chain of drops is worth the lists that following it needs."""
LITTLE = 1 / 8


class ClimbingMethod(FullDomainMethod):
    """A method that climbs hierarchies, for any number of k constraints and no other model."""

    uses_hierarchies: ClassVar[str] = "climbs"

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:
        """Raise unless every model is k, every column has a hierarchy and some constraint names it."""
        method = self.name
        refused = [model for model in requirement.models if not isinstance(model, K)]
        others = [
            f"{model.name} of {model.column}" if model.column else model.name for model in refused
        ]
        if others:
            raise PolicyError(
                f"method: {method} honours k alone, but the policy also asks for {listed(others)}. "
                "Leave these constraints out if k is enough, or use least-loss-partition, "
                "flexible-partition, mondrian or bottom-up, which honour every model."
            )
        super().check(requirement, columns)
        names = list(columns)
        named = {j for one in constraints_of(requirement, names) for j in one.columns}
        left = [name for j, name in enumerate(names) if j not in named]
        if left:
            raise PolicyError(
                f"method: {method} generalises the columns that constraints name, and none names "
                f"{listed(left)}. Add {'it' if len(left) == 1 else 'them'} to a constraint's `on`, "
                "or give another role."
            )


def settle_and_climb(
    cells: Cells,
    requirement: Requirement,
    progress: Progress,
    *,
    one_by_one: bool = False,
    by_union: bool = False,
) -> tuple[Grouping, ...]:
    """Settle the rows that meet all constraints, climb one column of the others, and so on.

    Constraints that share no column are treated independently, each set with a grouping of its own.
    one_by_one: constraints are added one after another (the same result). by_union: only the one
    constraint that covers all of a set is looked at.
    """
    check_feasible(cells, requirement)
    constraints = constraints_of(requirement, [domain.name for domain in cells.domains])
    parts = components(without_implied(constraints)[0])
    groupings = []
    for i, part in enumerate(parts):

        def report(share: float, i: int = i) -> None:
            progress((i + share) / len(parts))

        met = (union(part),) if by_union else part
        groupings.append(_settle_component(cells, met, one_by_one, report))
    return explained(groupings, constraints, cells, together=False)


def _settle_component(
    cells: Cells, constraints: Sequence[Constraint], one_by_one: bool, progress: Progress
) -> Grouping:
    """One set of constraints, on the columns that they name.

    Settled rows are never touched again. What is left at the end, fewer than the largest k, is
    suppressed.
    """
    columns, most = union(constraints).columns, union(constraints).k
    rows, cell_of_row = open_rows(cells, columns, constraints)
    group = np.full(len(rows.number), SUPPRESSED, np.int32)
    levels = [np.zeros((0, len(columns)), np.int32)]
    n_groups = 0
    progress(0.0)
    while rows.n_units >= most:
        settled = rows.settled(one_by_one)
        if settled.any():
            combination = rows.combinations(settled)
            group[rows.number[settled]] = n_groups + combination
            levels.append(same_levels(rows.levels, int(combination.max()) + 1))
            n_groups += len(levels[-1])
            rows.keep(~settled)
        progress(1 - rows.n_rows / cells.n_rows)
        if rows.n_units >= most:
            rows.climb()
    # people who are left are fewer than `most`, however many rows they have
    least = most if rows.people is None else rows.n_rows + 1
    return Grouping(group[cell_of_row], n_groups, columns, np.concatenate(levels), least=least)


def same_levels(levels: Ints, n_groups: int) -> Codes:
    """(n_groups, columns) the same levels for every group."""
    return np.tile(levels.astype(np.int32), (n_groups, 1))


def explained(
    groupings: Sequence[Grouping], constraints: Sequence[Constraint], cells: Cells, together: bool
) -> tuple[Grouping, ...]:
    """The groupings with notes on what was done with the constraints.

    together: one grouping meets all of them; else each independent set has its own.
    """
    names = [domain.name for domain in cells.domains]
    kept, implied = without_implied(constraints)
    notes = [
        f"{words(weak, names)} is implied by {words(strong, names)}."
        for weak, strong in implied.items()
    ]
    parts = [kept] if together else components(kept)
    if len(parts) > 1:
        notes.append(
            f"The constraints fall into {len(parts)} parts that share no column, each treated apart."
        )
    for part, grouping in zip(parts, groupings, strict=True):
        met = "; ".join(words(one, names) for one in part)
        notes.append(
            "\n".join([f"How columns climbed for {met}:", *generalisation_summary(grouping, names)])
        )
    return (replace(groupings[0], notes=tuple(notes)), *groupings[1:])


@dataclass
class OpenRows:
    """The open rows of a subtable: cells over its columns, all at the same levels.

    A node is looked up from the leaf's code and never from the node below it, so levels need not
    nest.
    """

    trees: list[HierarchyTree]
    """One per column of the subtable."""
    shares: list[float]
    """(columns,) how much each counts beside the most important one."""
    constraints: list[Constraint]
    """Columns counted within the subtable."""
    codes: list[Codes]
    """Per column, (n,) the leaf codes of the open cells."""
    weights: Ints
    """(n,) rows of each open cell."""
    number: Codes
    """(n,) which cell of the subtable each one is."""
    levels: Ints
    """(columns,) how far the open rows have climbed."""
    people: tuple[Codes, Codes] | None = None
    """Where people are counted: the different pairs of an open cell and a person in it."""
    _nodes: dict[int, Codes] = field(default_factory=dict)
    """What is known of the nodes, the different values and (below) the keys; a climb or a settled
    row makes some of it stale."""
    _distinct: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._forget_keys()

    def _forget_keys(self) -> None:
        self._keys = np.empty((len(self.constraints), len(self.weights)), np.int32)
        self._stale = set(range(len(self.constraints)))

    @property
    def n_rows(self) -> int:
        """Open rows."""
        return int(self.weights.sum())

    @property
    def n_units(self) -> int:
        """What constraints count: open rows, or the people who have one."""
        return self.n_rows if self.people is None else len(np.unique(self.people[1]))

    def settled(self, one_by_one: bool) -> Bools:
        """(n,) the largest subset that meets all constraints."""
        for i in range(len(self.constraints)):
            self._key(i)
        least = [constraint.k for constraint in self.constraints]
        if self.people is not None:
            return largest_subset_of_people(self._keys, least, *self.people)
        return largest_subset(self._keys, least, self.weights, one_by_one)

    def fail_alone(self, limit: int) -> bool:
        """Whether more than `limit` rows fail one constraint, whatever the others say."""
        for i, constraint in enumerate(self.constraints):
            key = self._key(i)
            rows = counts = np.bincount(key, self.weights)
            if self.people is not None:
                counts = people_by_key(key[self.people[0]], self.people[1], len(rows))
            if rows[counts < constraint.k].sum() > limit:
                return True
        return False

    def climb(self) -> None:
        """One column one level up: the one with most different values for its importance; of equals the
        one that has climbed least, then the first. A column at its top is never chosen, and one without
        importance is chosen first."""
        able = [j for j, tree in enumerate(self.trees) if self.levels[j] < tree.height]
        best = min(able, key=lambda j: (-self._values_for_importance(j), self.levels[j]))
        self.levels[best] += 1
        self._nodes.pop(best, None)
        self._distinct.pop(best, None)
        self._stale |= {i for i, one in enumerate(self.constraints) if best in one.columns}

    def combinations(self, chosen: Bools) -> Codes:
        """(chosen,) the combination over all columns of each chosen cell, numbered 0, 1, 2, …"""
        return self._numbered(range(len(self.trees)), chosen)

    def keep(self, left: Bools) -> None:
        """Leave out the rows that are settled."""
        self.codes = [codes[left] for codes in self.codes]
        self.weights, self.number = self.weights[left], self.number[left]
        if self.people is not None:
            cell, person = self.people
            inside = left[cell]
            place = np.cumsum(left, dtype=np.int32) - np.int32(1)
            self.people = place[cell[inside]], person[inside]
        self._nodes = {j: nodes[left] for j, nodes in self._nodes.items()}
        self._distinct = {}
        # new numbers without gaps: what is counted by key shrinks with the open rows
        self._forget_keys()

    def _key(self, i: int) -> Codes:
        """(n,) the combination each cell has in the columns of one constraint, as a number."""
        if i in self._stale:
            self._keys[i] = self._numbered(self.constraints[i].columns)
            self._stale.remove(i)
        return self._keys[i]

    def _node(self, j: int) -> Codes:
        """(n,) the node of each cell in one column."""
        if j not in self._nodes:
            self._nodes[j] = self.trees[j].nodes[self.levels[j]][self.codes[j]]
        return self._nodes[j]

    def _size(self, j: int) -> int:
        return len(self.trees[j].labels[self.levels[j]])

    def _values(self, j: int) -> int:
        """Different values among the open rows in one column."""
        if j not in self._distinct:
            self._distinct[j] = count_distinct(self._node(j), self._size(j))
        return self._distinct[j]

    def _values_for_importance(self, j: int) -> float:
        """The different values over how much the column counts; more than any where it does not."""
        share = self.shares[j]
        return self._values(j) / share if share else np.inf

    def _numbered(self, columns: Sequence[int], chosen: Bools | None = None) -> Codes:
        nodes = [self._node(j) for j in columns]
        if chosen is not None:
            nodes = [node[chosen] for node in nodes]
        return number_rows(nodes, [self._size(j) for j in columns])[0]


def open_rows(
    cells: Cells, columns: Sequence[int], constraints: Sequence[Constraint]
) -> tuple[OpenRows, Codes]:
    """All rows of the subtable over some columns, and (n_rows,) the cell of each canonical row."""
    codes = [np.ascontiguousarray(cells.codes[:, j]) for j in columns]
    if len(columns) == len(cells.domains):
        of_cell = first = np.arange(cells.n_cells, dtype=np.int32)
    else:
        of_cell, first = number_rows(codes, [cells.domains[j].size for j in columns])
    place = {column: i for i, column in enumerate(columns)}
    trees = []
    for j in columns:
        tree = cells.domains[j].hierarchy
        assert tree is not None, "checked before any work"
        trees.append(tree)
    rows = OpenRows(
        trees=trees,
        shares=[cells.domains[j].share for j in columns],
        constraints=[
            Constraint(tuple(place[c] for c in one.columns), one.k) for one in constraints
        ],
        codes=codes if len(first) == cells.n_cells else [column[first] for column in codes],
        weights=np.bincount(of_cell, cells.counts, len(first)).astype(np.int64),
        number=np.arange(len(first), dtype=np.int32),
        levels=np.zeros(len(columns), np.int64),
    )
    of_row = np.repeat(of_cell, cells.counts)
    if cells.people is not None:
        wide = cells.people.count
        pairs = np.unique(of_row.astype(np.int64) * wide + cells.people.number)
        rows.people = (pairs // wide).astype(np.int32), (pairs % wide).astype(np.int32)
    return rows, of_row


def number_rows(columns: Sequence[Codes], sizes: Sequence[int]) -> tuple[Codes, Codes]:
    """(n,) equal rows get equal numbers 0, 1, 2, … as they first appear; and where each does."""
    words = pack(columns, sizes)
    word, bits = words[0]
    if len(words) == 1 and 1 << bits <= 4 * len(word) + 1024:
        return number_small(word, 1 << bits)
    return number_equal(np.stack([word for word, _ in words]))


def largest_subset(
    keys: Sequence[Codes] | Codes,
    least: Sequence[int],
    weights: Ints,
    one_by_one: bool = False,
) -> Bools:
    """(n,) which cells belong to the unique largest subset that meets every constraint within itself.

    keys[c] (n,): the key of each cell under constraint c, numbered 0, 1, 2, …, in a list or one
    array; weights: rows of each cell. `one_by_one` adds the constraints in the order given, each time
    down to a fixpoint: the same subset by another way.
    """
    n, m = len(weights), len(keys)
    alive = np.zeros(n, np.bool_)
    if n == 0:
        return alive
    table = np.asarray(keys)
    base = np.cumsum([0, *(table.max(axis=1) + 1)]).astype(np.int64)
    # rows are numbered in 32 bits everywhere, so counts of them fit
    counts, rows = np.zeros(base[m], np.int32), weights.astype(np.int32)
    floor = np.array(least, np.int64)
    left = np.arange(n, dtype=np.int32)
    counted = 0
    for active in range(1 if one_by_one else m, m + 1):
        # a constraint is first counted when it is added, over what the others have left
        for c in range(counted, active):
            add_counts(table[c], rows, left, counts[base[c] : base[c + 1]])
        counted = active
        left = _fixpoint(table[:active], base[: active + 1], counts, floor[:active], rows, left)
    alive[left] = True
    return alive


def largest_subset_of_people(
    keys: Sequence[Codes] | Codes, least: Sequence[int], cell: Codes, person: Codes
) -> Bools:
    """The same where people are counted; cell, person: (m,) the different people of each cell.

    Taking cells away only lowers counts, so dropping whatever fails until nothing does leaves the one
    largest subset.
    """
    alive = np.ones(len(keys[0]), np.bool_)
    while alive.any():
        inside = alive[cell]
        held = alive.copy()
        for key, k in zip(keys, least, strict=True):
            counts = people_by_key(key[cell[inside]], person[inside], int(key.max()) + 1)
            held &= counts[key] >= k
        if (held == alive).all():
            break
        alive = held
    return alive


def people_by_key(key: Codes, person: Codes, size: int) -> Ints:
    """(size,) the different people of each key."""
    wide = int(person.max(initial=0)) + 1
    pairs = np.unique(key.astype(np.int64) * wide + person)
    return np.bincount(pairs // wide, minlength=size).astype(np.int64)


def _fixpoint(
    keys: Codes, base: Ints, counts: Codes, least: Ints, weights: Codes, left: Codes
) -> Codes:
    """Those of the cells `left` that remain when nothing fails any more; `counts` go along.

    A sweep that drops much pays for itself; of the others there are few: the whole is linear.
    """
    idle = 0
    while idle < SWEEPS:
        kept, fell = sweep(keys, base, counts, least, weights, left)
        idle += len(left) - kept < LITTLE * len(left)
        left = left[:kept]
        if not fell:
            return left
    return left[: chase(keys, base, counts, least, weights, left)]
