"""The lattice of full-domain generalisations, and what searching it takes.

A node of the lattice gives every column one level for all rows. Its equivalence classes are counted from
those of a node below it; the requirement decides which of them may be published, and a metric how good
the release would be.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import product
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import PlainSerializer, PlainValidator
from pydantic.dataclasses import dataclass as pydantic_dataclass

from shoal import plugins
from shoal.arrays import Bools, Codes, Ints, Words
from shoal.encoding.cells import Cells
from shoal.encoding.counts import Counts, group_histograms, size_counts
from shoal.encoding.grouping import SUPPRESSED, Grouping, spans_of
from shoal.errors import Infeasible, PolicyError, listed, nearest
from shoal.hierarchy.tree import HierarchyTree
from shoal.kernels.equivalence_classes import count_runs, lift, merge_histograms, number_equal
from shoal.methods.base import (
    FullDomainMethod,
    Progress,
    QuasiColumns,
    check_feasible,
    generalisation_summary,
)
from shoal.metrics.base import Metric, Node, ReleaseView
from shoal.metrics.importance import MeanNcpByImportance
from shoal.models.base import POPULATION, SIZES_ONLY, WEIGHTS, Model
from shoal.models.requirement import Requirement
from shoal.threads import each, workers

Levels = tuple[int, ...]

MOST_NODES = 4_000_000
"""Beyond this many nodes a search would take hours, and is refused."""
MOST_COUNTED = 10_000_000_000
"""Nodes times rows beyond which a search that may skip no node is refused."""
COUNTED_IN_AN_HOUR = 6_000_000_000
"""Nodes times rows that one thread counts in an hour, about: measured with t on people of a panel."""
Histogram = tuple[Ints, Codes, Ints]
"""Entry starts, values and counts, as in `Counts`."""
MOST_KEPT = 1 << 24
"""Classes that may be kept at a time."""
WEIGHED = ("mean-ncp", "ncp", "mean-ncp-by-importance")
"""The metrics that can be weighed by the importance of columns."""
SAME = 1e-9
"""Figures that differ by less, or by less than this share of the better one, are equally good."""
PIECES = 16
"""Pieces of work for each thread, at least."""
LARGE = 100_000
"""With fewer cells than this, threads wait for one another more than they help."""


@dataclass(frozen=True)
class Lattice:
    """All nodes over some columns, and which of them generalise which.

    Level b of a column generalises level a < b when every node of a lies in one of b. In a tree every
    level generalises all below it; where levels do not nest, some do not.
    """

    trees: tuple[HierarchyTree, ...]
    """One per column."""

    @property
    def shape(self) -> Levels:
        """(columns,) how many levels each column has."""
        return tuple(tree.height + 1 for tree in self.trees)

    @property
    def top(self) -> Levels:
        """The levels of the one node in which all rows are equal."""
        return tuple(tree.height for tree in self.trees)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(np.prod(self.shape, dtype=object))

    @cached_property
    def nested(self) -> tuple[Bools, ...]:
        """Per column, (levels, levels) whether level b (second) generalises level a < b (first)."""
        return tuple(_nested(tree) for tree in self.trees)

    @cached_property
    def below(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """below[column][level]: the levels right below it; one, unless levels do not nest."""
        return tuple(
            tuple(_right_below(nested, level) for level in range(len(nested)))
            for nested in self.nested
        )

    def lift(self, column: int, low: int, high: int) -> Words:
        """(nodes of level low,) the node of level high that each lies in."""
        key = column, low, high
        if key not in self._lifts:
            tree = self.trees[column]
            first = np.searchsorted(tree.nodes[low], np.arange(len(tree.labels[low])))
            self._lifts[key] = tree.nodes[high][first].astype(np.uint64)
        return self._lifts[key]

    @cached_property
    def _lifts(self) -> dict[tuple[int, int, int], Words]:
        return {}

    def minimal(self, valid: Bools) -> list[Levels]:
        """The valid nodes that generalise no other valid one, by their levels; `valid` has the
        lattice's shape."""
        reached = valid.copy()
        strictly = np.zeros_like(valid)
        for axis, nested in enumerate(self.nested):
            # a node is reached when it or one that it generalises is valid: column by column
            moved = np.moveaxis(reached, axis, 0)
            above = np.moveaxis(strictly, axis, 0)
            # from the top down: what is read has not been overwritten
            for level in range(len(nested) - 1, -1, -1):
                for lower in np.flatnonzero(nested[:, level]):
                    above[level] |= moved[lower]
                    moved[level] |= moved[lower]
        return [tuple(map(int, node)) for node in np.argwhere(valid & ~strictly)]


def lattice_of(cells: Cells, method: str) -> Lattice:
    """The lattice over all columns, or `PolicyError` where it is too large to be searched."""
    trees = []
    for domain in cells.domains:
        assert domain.hierarchy is not None, "checked before any work"
        trees.append(domain.hierarchy)
    lattice = Lattice(tuple(trees))
    if lattice.n_nodes > MOST_NODES:
        tall = sorted(cells.domains, key=lambda d: -d.hierarchy.height if d.hierarchy else 0)
        words = [f"{d.name} ({d.hierarchy.height + 1})" for d in tall if d.hierarchy]
        raise PolicyError(
            f"method: {method} searches every combination of levels, and these hierarchies have "
            f"{lattice.n_nodes:,}; at most {MOST_NODES:,} are allowed. Levels by column: "
            f"{listed(words)}. Use hierarchies with fewer levels or fewer quasi columns, or "
            "least-loss-partition."
        )
    return lattice


def _check_work(judge: "Judge", method: str) -> None:
    """Raise `PolicyError` where a search that must count every node would take hours."""
    nodes, rows = judge.counting.lattice.n_nodes, judge.counting.cells.n_rows
    if judge.monotone or nodes * rows <= MOST_COUNTED:
        return
    requirement = judge.requirement
    models = {model.name: model for model in requirement.models}
    merged = requirement.holds_when_merged and not any(m.release_wide for m in models.values())
    less = (
        "Set `suppression: 0`, which lets the search skip most of them; or use" if merged else "Use"
    )
    raise PolicyError(
        f"method: {method} would count all {nodes:,} combinations of levels over {rows:,} rows, which "
        f"takes about {nodes * rows / COUNTED_IN_AN_HOUR:,.0f} hours: with {listed(list(models))}, a "
        f"combination above one that holds may fail, so none can be skipped. {less} hierarchies "
        "with fewer levels, fewer quasi columns, or least-loss-partition or local-recoding."
    )


def _nested(tree: HierarchyTree) -> Bools:
    nested = np.zeros((tree.height + 1, tree.height + 1), np.bool_)
    for low in range(tree.height + 1):
        # where level low stays within a node, level high must not begin one
        stays = tree.nodes[low][1:] == tree.nodes[low][:-1]
        for high in range(low + 1, tree.height + 1):
            begins = tree.nodes[high][1:] != tree.nodes[high][:-1]
            nested[low, high] = not (stays & begins).any()
    return nested


def _right_below(nested: Bools, level: int) -> tuple[int, ...]:
    lower = np.flatnonzero(nested[:, level])
    return tuple(int(a) for a in lower if not any(nested[a, c] for c in lower))


class Members(NamedTuple):
    """The different members of classes: people, or pairs of a person and a value that she has."""

    owner: Ints
    """(m,) the class of each."""
    number: Ints
    """(m,) the person or pair, each at most once in a class."""

    def of(self, numbers: Codes) -> "Members":
        """The same for classes that take in these; numbers: (classes,) the new class of each."""
        return members_of(numbers[self.owner], self.number)


@dataclass
class RolledMembers:
    """The members of classes of a node above, found when they are asked for: most nodes have classes
    that are too small, whatever their values."""

    source: Members
    """Those of a node below."""
    numbers: Codes
    """(classes of the source,) the class that takes in each."""

    @cached_property
    def found(self) -> Members:
        """The different members of each class."""
        return self.source.of(self.numbers)

    def of(self, numbers: Codes) -> "RolledMembers":
        """The same for classes that take in these."""
        if "found" in self.__dict__:
            return RolledMembers(self.found, numbers)
        return RolledMembers(self.source, numbers[self.numbers])


def members_of(owner: npt.NDArray[np.integer], number: npt.NDArray[np.integer]) -> Members:
    """The different members; an owner may have a member several times."""
    wide = int(number.max(initial=0)) + 1
    found = np.unique(owner.astype(np.int64) * wide + number)
    return Members(found // wide, found % wide)


@dataclass(frozen=True)
class Classes:
    """The classes of one node."""

    levels: Levels
    words: Words
    """(words, classes) the nodes of each class, a field of bits for every column."""
    sizes: Ints
    """(classes,) rows of each."""
    histograms: Mapping[str, Histogram]
    """Per sensitive column that the models concern."""
    population: Ints | None = None
    """(classes,) rows of the population that equal rows of each, where the policy names one."""
    weights: Ints | None = None
    """(classes,) the sampling weights of the rows of each, where the policy has weights and counts
    rows."""
    people: Members | None = None
    """Where people are counted: the different people of each class. `histograms` are then empty."""
    pairs: Mapping[str, RolledMembers] = field(default_factory=dict)
    """Where people are counted: for each of the sensitive columns the different pairs of a person and a
    value."""

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class Counting:
    """Counts the classes of any node.

    A class is the sum of the classes it takes in, so the classes of a node are counted from those of any
    node that it generalises, and the rows themselves only once. People are no sum: their numbers are
    carried along, each person once for every class.
    """

    cells: Cells
    lattice: Lattice
    columns: tuple[str, ...]
    """The sensitive columns whose values are counted."""

    @cached_property
    def fields(self) -> tuple[tuple[int, np.uint64, np.uint64], ...]:
        """Per column its word, the place of its bits there and as many ones."""
        found, word, used = [], 0, 0
        for domain in self.cells.domains:
            bits = max(1, (domain.size - 1).bit_length())
            if used + bits > 64:
                word, used = word + 1, 0
            found.append((word, np.uint64(used), np.uint64((1 << bits) - 1)))
            used += bits
        return tuple(found)

    @cached_property
    def raw(self) -> Classes:
        """The node of the raw table, its classes being the cells."""
        words = np.zeros((self.fields[-1][0] + 1, self.cells.n_cells), np.uint64)
        for j, (word, shift, _) in enumerate(self.fields):
            words[word] |= self.cells.codes[:, j].astype(np.uint64) << shift
        cells = self.cells
        histograms, people, pairs = {}, None, {}
        if cells.people is not None:
            cell = np.repeat(np.arange(cells.n_cells), cells.counts)
            people = members_of(cell, cells.people.number)
            for name in self.columns:
                known = cells.sensitive[name] != cells.sensitive_domains[name].missing
                found = Members(cell[known], cells.pairs[name][known])
                pairs[name] = RolledMembers(found, np.arange(cells.n_cells, dtype=np.int32))
        for name in () if people is not None else self.columns:
            domain = self.cells.sensitive_domains[name]
            histograms[name] = count_runs(
                self.cells.sensitive[name], self.cells.starts, domain.size, domain.missing
            )
        population = cells.population
        if population is not None:
            population = np.add.reduceat(population, cells.starts[:-1])
        weights = None
        if cells.weights is not None and people is None:
            weights = np.add.reduceat(cells.weights, cells.starts[:-1])
        levels = (0,) * len(self.fields)
        return Classes(levels, words, cells.counts, histograms, population, weights, people, pairs)

    def projected(self, columns: frozenset[int]) -> Classes:
        """The raw table over some of the columns: the node with the others at their top.

        Each comes from that over one column more, where there is room to keep them.
        """
        if columns not in self._projections:
            shape, n = self.lattice.shape, len(self.raw)
            left = [j for j in range(len(shape)) if j not in columns]
            source = self.raw
            if len(left) > 1 and n << len(shape) <= MOST_KEPT:
                fewest = min(left, key=lambda j: (self.cells.domains[j].size, j))
                source = self.projected(columns | {fewest})
            levels = tuple(0 if j in columns else self.lattice.top[j] for j in range(len(shape)))
            found = self.roll(source, levels) if left else source
            if n << len(shape) > MOST_KEPT:
                return found
            self._projections[columns] = found
        return self._projections[columns]

    @cached_property
    def _projections(self) -> dict[frozenset[int], Classes]:
        return {}

    def roll(self, source: Classes, levels: Levels) -> Classes:
        """The classes of a node that generalises the source's."""
        return self.numbered(source, levels)[1]

    def numbered(self, source: Classes, levels: Levels) -> tuple[Codes, Classes]:
        """(source's classes,) the new class of each; and the new classes."""
        words = source.words.copy()
        for j, (low, high) in enumerate(zip(source.levels, levels, strict=True)):
            if low != high:
                word, shift, mask = self.fields[j]
                lift(words[word], shift, mask, self.lattice.lift(j, low, high))
        numbers, first = number_equal(words)
        sizes = np.bincount(numbers, source.sizes, len(first)).astype(np.int64)
        histograms = {}
        for name, (starts, values, counts) in source.histograms.items():
            size = self.cells.sensitive_domains[name].size
            histograms[name] = merge_histograms(numbers, len(sizes), starts, values, counts, size)
        population = source.population
        if population is not None:
            population = np.bincount(numbers, population, len(sizes)).astype(np.int64)
        weights = None
        if source.weights is not None:  # too large for the floats of bincount
            weights = np.zeros(len(sizes), np.int64)
            np.add.at(weights, numbers, source.weights)
        people = None if source.people is None else source.people.of(numbers)
        pairs = {name: one.of(numbers) for name, one in source.pairs.items()}
        node = words[:, first]
        return numbers, Classes(levels, node, sizes, histograms, population, weights, people, pairs)

    def counts(self, classes: Classes, kept: Bools | None = None) -> Mapping[str, Counts]:
        """The counts that the models judge; with `kept`, of these classes alone, and compared with the
        rows of these alone."""
        sizes = classes.sizes if kept is None else classes.sizes[kept]
        found = {SIZES_ONLY: size_counts(sizes)}
        if classes.people is not None:
            found = self._people(classes, classes.people, kept, sizes)
        if classes.population is not None:
            people = classes.population if kept is None else classes.population[kept]
            found[POPULATION] = replace(found[SIZES_ONLY], population=people)
        if self.cells.weights is not None:
            weights = self._weights(classes)
            kept_weights = weights if kept is None else weights[kept]
            found[WEIGHTS] = replace(found[SIZES_ONLY], weights=kept_weights)
        for name, (starts, values, counts) in classes.histograms.items():
            domain, totals = self.cells.sensitive_domains[name], self.cells.totals[name].counts
            if kept is not None:
                lengths = np.diff(starts)
                entries = np.repeat(kept, lengths)
                starts = np.concatenate([[0], np.cumsum(lengths[kept])])
                values, counts = values[entries], counts[entries]
                totals = np.bincount(values, counts, domain.size).astype(np.int64)
            found[name] = Counts(sizes, starts, values, counts, domain, totals)
        return found

    def sizes(self, classes: Classes) -> Counts:
        """The sizes of classes alone, in rows or in people."""
        if classes.people is None:
            return size_counts(classes.sizes)
        people = np.bincount(classes.people.owner, minlength=len(classes))
        return size_counts(people.astype(np.int64), rows=classes.sizes)

    def _weights(self, classes: Classes) -> Ints:
        """(classes,) the sum of the weights of each class, those of a person's rows once."""
        if classes.weights is not None:
            return classes.weights
        members = classes.people
        assert members is not None
        weights = np.zeros(len(classes), np.int64)
        np.add.at(weights, members.owner, self._weight_of_person[members.number])
        return weights

    @cached_property
    def _weight_of_person(self) -> Ints:
        """(people,) the weight of each."""
        cells = self.cells
        assert cells.people is not None
        assert cells.weights is not None
        found = np.zeros(cells.people.count, np.int64)
        found[cells.people.number] = cells.weights
        return found

    def _people(
        self, classes: Classes, people: Members, kept: Bools | None, rows: Ints
    ) -> dict[str, Counts]:
        """The counts in people."""
        place = np.arange(len(classes)) if kept is None else np.where(kept, np.cumsum(kept) - 1, -1)
        owner = place[people.owner]
        sizes = np.bincount(owner[owner >= 0], minlength=len(rows)).astype(np.int64)
        found = {SIZES_ONLY: size_counts(sizes, rows=rows)}
        for name in self.columns:
            domain, (value_of, person_of) = self.cells.sensitive_domains[name], self._pairs[name]
            members = classes.pairs[name].found
            owner = place[members.owner]
            pair = members.number[owner >= 0]
            owner = owner[owner >= 0]
            every = np.unique(pair)
            counts = group_histograms(sizes, owner, value_of[pair], domain)
            known = members_of(owner, person_of[pair]).owner
            found[name] = replace(
                counts,
                totals=np.bincount(value_of[every], minlength=domain.size).astype(np.int64),
                everyone=len(np.unique(person_of[every])),
                known=np.bincount(known, minlength=len(rows)).astype(np.int64),
                rows=rows,
            )
        return found

    @cached_property
    def _pairs(self) -> dict[str, tuple[Codes, Codes]]:
        """Per sensitive column, (pairs,) the value and the person of each pair."""
        found, cells = {}, self.cells
        assert cells.people is not None
        for name in self.columns:
            _, first = np.unique(cells.pairs[name], return_index=True)
            found[name] = cells.sensitive[name][first], cells.people.number[first]
        return found

    def rows_by_node(self, classes: Classes, column: int, chosen: Bools) -> Ints:
        """(nodes of its level,) rows of the chosen classes under each node of one column."""
        word, shift, mask = self.fields[column]
        nodes = ((classes.words[word][chosen] >> shift) & mask).astype(np.int64)
        size = len(self.lattice.trees[column].labels[classes.levels[column]])
        return np.bincount(nodes, classes.sizes[chosen], size).astype(np.int64)


@dataclass(frozen=True)
class Judge:
    """Asks the models of a requirement about nodes.

    Classes that do not hold are suppressed whole. A node is valid when at most `limit` rows are, and
    something is left. What is left is judged again, compared with itself, as the verification of
    the release will judge it; that goes on until nothing more is suppressed.
    """

    counting: Counting
    requirement: Requirement

    @property
    def limit(self) -> int:
        """The most rows that may be suppressed; none where the policy sets no limit."""
        return self.requirement.may_suppress or 0

    @property
    def monotone(self) -> bool:
        """Whether every node above a valid one is surely valid too.

        Without suppression it is enough that classes that hold, merged, hold. With it, a class that
        holds must not be spoilt by one that does not. What is judged over the whole release promises
        neither.
        """
        if any(model.release_wide for model in self.requirement.models):
            return False
        merged = self.requirement.holds_when_merged
        return merged and (self.limit == 0 or self.requirement.holds_when_joined)

    def kept(self, classes: Classes) -> Bools | None:
        """(classes,) those that may be published, or None where the node is not valid."""
        every = self.requirement.models
        over = [model for model in every if model.release_wide]
        kept = self._settled(classes, [model for model in every if model not in over])
        if not over:
            return kept
        # at best the release as a whole holds; else each class must, which is enough for that
        if kept is not None and self._hold_over(classes, kept, over):
            return kept
        return self._settled(classes, every)

    def _hold_over(self, classes: Classes, kept: Bools, models: Sequence[Model]) -> bool:
        counts = self.counting.counts(classes, kept)
        return all(model.holds_over(counts[model.counts_key]) for model in models)

    def _settled(self, classes: Classes, models: Sequence[Model]) -> Bools | None:
        """The classes that are left when nothing falls any more."""
        if self._too_small(classes, models):
            return None
        kept = np.ones(len(classes), np.bool_)
        counts = self.counting.counts(classes)
        fallen = 0
        while True:
            held = np.ones(int(kept.sum()), np.bool_)
            for model in models:
                held &= model.holds(counts[model.counts_key])
            if held.all():
                return kept
            at = np.flatnonzero(kept)[~held]
            fallen += int(classes.sizes[at].sum())
            kept[at] = False
            if fallen > self.limit or not held.any():
                return None
            if self.requirement.only_size:
                return kept
            counts = self.counting.counts(classes, kept)

    def _too_small(self, classes: Classes, models: Sequence[Model]) -> bool:
        """Whether the classes that are too small already are more than may be suppressed: their values
        need not be counted then."""
        by_size = [model for model in models if model.counts_key == SIZES_ONLY]
        if not by_size or len(by_size) == len(models):
            return False
        sizes = self.counting.sizes(classes)
        held = np.logical_and.reduce([model.holds(sizes) for model in by_size])
        return int(classes.sizes[~held].sum()) > self.limit or not held.any()


@dataclass(frozen=True)
class NodeCosts:
    """What valid nodes cost by one metric, and the grouping that a node gives."""

    judge: Judge
    metric: Metric

    @property
    def counting(self) -> Counting:
        """What counts the classes."""
        return self.judge.counting

    def cost(self, classes: Classes, kept: Bools) -> float:
        """The figure of a node, low being good; infinite where there is none."""
        figure = self._figure(classes, kept)
        if figure is None or math.isnan(figure):
            return math.inf
        return -figure if self.metric.high_is_good else figure

    def cost_of(self, levels: Levels) -> float:
        """The cost of a node; infinite where it is not valid."""
        classes = self.counting.roll(self.counting.raw, levels)
        kept = self.judge.kept(classes)
        return math.inf if kept is None else self.cost(classes, kept)

    def check(self) -> None:
        """Raise, before any work, where the metric gives no figure even for the raw table."""
        raw = self.counting.raw
        if self._figure(raw, np.ones(len(raw), np.bool_)) is None:
            name = plugins.name_of(type(self.metric))
            why = ", since the policy names no `target` column" if name == "cm" else ""
            raise PolicyError(
                f"metric: {name} gives no figure for this table{why}. Choose another to search by, "
                "such as mean-ncp."
            )

    @property
    def by_class(self) -> bool:
        """Whether the metric needs no look at the rows."""
        return self.metric.measures_nodes

    def _figure(self, classes: Classes, kept: Bools) -> float | None:
        if self.metric.measures_nodes:
            return self.metric.of_node(self._node(classes, kept))
        return self.metric.measure(self._parts(classes, kept))

    def grouping(self, levels: Levels) -> Grouping:
        """The release that a valid node gives."""
        numbers, classes = self.counting.numbered(self.counting.raw, levels)
        kept = self.judge.kept(classes)
        assert kept is not None, "only valid nodes are published"
        return self._grouping(numbers, levels, kept)

    def _grouping(self, numbers: Codes, levels: Levels, kept: Bools) -> Grouping:
        """numbers: (cells,) the class of each."""
        places = np.where(kept, np.cumsum(kept) - 1, SUPPRESSED).astype(np.int32)
        cells = self.counting.cells
        n_groups = int(kept.sum())
        return Grouping(
            np.repeat(places[numbers], cells.counts),
            n_groups,
            tuple(range(len(levels))),
            np.tile(np.array(levels, np.int32), (n_groups, 1)),
        )

    def best(self, nodes: Sequence[Levels], costs: Sequence[float]) -> Levels:
        """The node that costs least; of equals the least sum of levels, then the first by levels."""
        least = min(costs)
        close = least + margin(least)
        equal = [node for node, cost in zip(nodes, costs, strict=True) if cost <= close]
        return min(equal, key=lambda node: (sum(node), node))

    def _node(self, classes: Classes, kept: Bools) -> Node:
        everything = kept.all()

        def rows_at(column: int) -> Ints:
            rows = self._rows[column][classes.levels[column]]
            if everything:
                return rows
            return rows - self.counting.rows_by_node(classes, column, ~kept)

        sizes = classes.sizes if everything else classes.sizes[kept]
        return Node(self.counting.cells, classes.levels, sizes, rows_at)

    @cached_property
    def _rows(self) -> list[list[Ints]]:
        """Per column and level, the rows of the table under each node."""
        cells, found = self.counting.cells, []
        for j, tree in enumerate(self.counting.lattice.trees):
            leaves = np.bincount(cells.codes[:, j], cells.counts, tree.n_leaves)
            found.append([np.bincount(row, leaves).astype(np.int64) for row in tree.nodes])
        return found

    def _parts(self, classes: Classes, kept: Bools) -> ReleaseView:
        """The release of a node, row by row."""
        counting, cells = self.counting, self.counting.cells
        numbers, again = counting.numbered(counting.raw, classes.levels)
        # the same classes, but numbered as they were met: match them by their words
        there, here = np.lexsort(classes.words), np.lexsort(again.words)
        kept_again = np.empty_like(kept)
        kept_again[here] = kept[there]
        grouping = self._grouping(numbers, classes.levels, kept_again)
        spans = spans_of(cells, grouping)
        gone = grouping.group == SUPPRESSED
        return ReleaseView(cells, (grouping,), (spans,), grouping.n_groups, gone, cells.target)


def valid_everywhere(judge: Judge, progress: Progress) -> Bools:
    """(the lattice's shape) whether each node is valid, for judges that are not monotone."""
    valid = np.zeros(judge.counting.lattice.shape, np.bool_)

    def look(classes: Classes) -> bool:
        valid[classes.levels] = judge.kept(classes) is not None
        return True

    Traversal(judge.counting, look).run(progress)
    return valid


@dataclass(frozen=True)
class Traversal:
    """Looks at the nodes of a lattice depth first: a node's classes come from the one before it."""

    counting: Counting
    look: Callable[[Classes], bool]
    """Called with a node's classes; whether nodes above it may be worth a look."""
    worth: Callable[[Levels], bool] | None = None
    """Called with the highest of some nodes before any of them is counted: whether any of them may
    be worth a look."""
    roll_up: bool = True
    """Count a node from one right below it, else from the raw table."""
    threads: bool = True
    """Whether `look` may be called by several threads at once."""

    def run(self, progress: Progress) -> None:
        """Begin at the bottom; several nodes at a time where that is quicker."""
        lattice, raw = self.counting.lattice, self.counting.raw
        # columns with many values first: the many nodes that come last are then small
        order = sorted(range(len(lattice.trees)), key=lambda j: (-lattice.trees[j].n_leaves, j))
        first, pieces = 0, 1
        while first < len(order) and pieces < PIECES * workers():
            pieces *= lattice.shape[order[first]]
            first += 1

        def piece(prefix: Levels) -> None:
            levels = [0] * len(order)
            for j, level in zip(order, prefix, strict=False):
                levels[j] = level
            if self._enter(tuple(levels), order[first:]):
                self._from(self.counting.roll(raw, tuple(levels)), order[first:])

        prefixes = list(product(*(range(lattice.shape[j]) for j in order[:first])))
        batch = workers() * 2 if self.threads and len(raw) >= LARGE else 1
        progress(0.0)
        for begin in range(0, len(prefixes), batch):
            if batch == 1:
                piece(prefixes[begin])
            else:
                each(piece, prefixes[begin : begin + batch])
            progress(min(1.0, (begin + batch) / len(prefixes)))

    def _from(self, classes: Classes, columns: Sequence[int]) -> bool:
        """The node itself, then all that lie above it in these columns alone; `columns` stand at
        level 0."""
        if not self.look(classes):
            return False
        lattice = self.counting.lattice
        for i, column in enumerate(columns):
            at: dict[int, Classes] = {0: classes}
            hopeless: list[int] = []
            for level in range(1, lattice.shape[column]):
                nested = lattice.nested[column][:, level]
                levels = (*classes.levels[:column], level, *classes.levels[column + 1 :])
                if any(nested[low] for low in hopeless):
                    continue
                if not self._enter(levels, columns[i + 1 :]):
                    continue
                source = min((at[low] for low in at if nested[low]), key=len)
                here = self.counting.roll(source if self.roll_up else self.counting.raw, levels)
                at[level] = here
                if not self._from(here, columns[i + 1 :]):
                    hopeless.append(level)
        return True

    def _enter(self, levels: Levels, columns: Sequence[int]) -> bool:
        if self.worth is None:
            return True
        highest = list(levels)
        for column in columns:
            highest[column] = self.counting.lattice.top[column]
        return self.worth(tuple(highest))


def margin(cost: float) -> float:
    """How much more costs just as much."""
    return SAME * max(1.0, abs(cost)) if abs(cost) < math.inf else 0.0


def _metric(value: Any) -> Any:
    """A metric's name, a mapping of its name and options, or a metric object."""
    if isinstance(value, Metric):
        return value
    options = {"name": value} if isinstance(value, str) else value
    if not isinstance(options, Mapping) or "name" not in options:
        raise ValueError("must be a metric's name, as in `metric: mean-ncp`, or a metric object")
    name, known = options["name"], plugins.names("metrics")
    if name not in known:
        raise ValueError(f"found '{name}'; allowed: {listed(known, 30)}.{nearest(name, known)}")
    if isinstance(value, str):
        return value
    return plugins.metric(name)(**{key: options[key] for key in options if key != "name"})


def _name_of(metric: str | Metric) -> str:
    return metric if isinstance(metric, str) else plugins.name_of(type(metric))


def _plain_metric(value: str | Metric) -> str | dict[str, Any]:
    """A metric as a policy writes it."""
    if isinstance(value, str):
        return value
    given = {f.name: getattr(value, f.name) for f in fields(value)}
    options = {f.name: given[f.name] for f in fields(value) if given[f.name] != f.default}
    return {"name": value.name, **options} if options else value.name


@dataclass(frozen=True)
class Choice:
    """The node that a search chose."""

    levels: Levels
    cost: float
    reason: str
    """In words, how it was chosen."""
    minimal: tuple[Levels, ...] = ()
    """All minimal nodes, where the search finds them."""


@pydantic_dataclass(frozen=True)
class LatticeMethod(FullDomainMethod):
    """A method that searches the lattice for the node to publish."""

    uses_hierarchies: ClassVar[str] = "searches levels of"

    metric: Annotated[str | Metric, PlainValidator(_metric), PlainSerializer(_plain_metric)] = (
        "mean-ncp"
    )
    """The metric by which nodes are compared: its name, alone or with options as in `{name: query-error,
    queries: 500}`; in Python also a metric object."""

    @property
    def honours_importance(self) -> bool:
        """Whether the metric is a sum of losses that can be weighed."""
        return _name_of(self.metric) in WEIGHED

    @abstractmethod
    def search(self, nodes: NodeCosts, progress: Progress) -> Choice | None:
        """The node to publish, or None where no node is valid."""

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:
        """Raise unless every column has a hierarchy and every constraint speaks of all of them."""
        super().check(requirement, columns)
        for model in requirement.models:
            on = model.quasi
            if on is not None and set(on) != set(columns):
                raise PolicyError(
                    f"method: {self.name} judges classes over all quasi columns, "
                    f"but {model.name} speaks of {listed(on)} alone. Leave its `on` out, or use "
                    "datafly or classfly-plus, which treat such constraints apart."
                )

    def nodes(self, cells: Cells, requirement: Requirement) -> NodeCosts:
        """All that a search needs, or an error where it cannot begin."""
        lattice = lattice_of(cells, self.name)
        judge = Judge(Counting(cells, lattice, requirement.columns), requirement)
        _check_work(judge, self.name)
        if judge.monotone:
            check_feasible(cells, requirement)
        metric = plugins.metric(self.metric)() if isinstance(self.metric, str) else self.metric
        if any(domain.share != 1 for domain in cells.domains):
            metric = MeanNcpByImportance()
        nodes = NodeCosts(judge, metric)
        nodes.check()
        return nodes

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """One grouping, every row at the same levels."""
        nodes = self.nodes(cells, requirement)
        choice = self.search(nodes, progress)
        if choice is None:
            check_feasible(cells, requirement)
            raise Infeasible(
                "No combination of levels meets the constraints. Loosen them, or raise `suppression`."
            )
        grouping = nodes.grouping(choice.levels)
        figure = -choice.cost if nodes.metric.high_is_good else choice.cost
        by = f"{plugins.name_of(type(nodes.metric))} ({figure:.6g})"
        names = [domain.name for domain in cells.domains]
        notes = [f"{choice.reason} by {by}. How columns climbed:"]
        notes += generalisation_summary(grouping, names)
        return (replace(grouping, notes=("\n".join(notes),), minimal=choice.minimal),)
