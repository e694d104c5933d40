"""Incognito: all minimal full-domain generalisations, and the best of them.

A node of a subset of the columns is the node of the whole lattice in which the other columns are at
their top, where all values are one. So what is found for a subset is kept in the array of the whole
lattice.
"""

from itertools import combinations

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools
from shoal.methods.base import Progress
from shoal.methods.lattice import (
    Choice,
    Classes,
    Judge,
    LatticeMethod,
    Levels,
    NodeCosts,
    valid_everywhere,
)


@dataclass(frozen=True)
class Incognito(LatticeMethod):
    """Incognito: every row climbs alike; finds all minimal combinations of levels that hold.

    Searches the subsets of the columns by size, each from its lowest levels up. What lies above a
    node that holds is not counted, nor is a node of which a subset has failed; the counts of a node
    come from one below it. Where a node above one that holds may fail (a model that merging can break,
    or one that a bad class can spoil under a suppression limit above 0), all nodes are counted.
    Without a limit nothing is suppressed. Of the minimal nodes the best by `metric` is published.

    Source: LeFevre, DeWitt and Ramakrishnan, "Incognito: efficient full-domain k-anonymity", 2005.
    Subsets start at the lowest levels that any of their candidates has, as in its variant with
    super-roots.
    """

    def search(self, nodes: NodeCosts, progress: Progress) -> Choice | None:
        """The best of the minimal nodes."""
        counting, judge = nodes.counting, nodes.judge
        valid = (valid_nodes if judge.monotone else valid_everywhere)(judge, progress)
        minimal = counting.lattice.minimal(valid)
        if not minimal:
            return None
        costs = [nodes.cost_of(levels) for levels in minimal]
        chosen = nodes.best(minimal, costs)
        reason = (
            f"{len(minimal):,} of {counting.lattice.n_nodes:,} combinations of levels are minimal; "
            "published is the best of them"
        )
        return Choice(chosen, costs[minimal.index(chosen)], reason, tuple(minimal))


def valid_nodes(judge: Judge, progress: Progress, roll_up: bool = True) -> Bools:
    """(the lattice's shape) whether each node is valid; the judge must be monotone.

    roll_up: count a node from one below it, else from the raw table.
    """
    lattice = judge.counting.lattice
    valid = np.zeros(lattice.shape, np.bool_)
    counting = judge.counting
    valid[lattice.top] = judge.kept(counting.roll(counting.raw, lattice.top)) is not None
    able = [j for j, height in enumerate(lattice.top) if height]
    done = 0
    progress(0.0)
    for size in range(1, len(able) + 1):
        for subset in combinations(able, size):
            _walk(judge, valid, subset, roll_up)
            done += 1
            progress(done / (2 ** len(able) - 1))
    return valid


def _walk(judge: Judge, valid: Bools, subset: tuple[int, ...], roll_up: bool) -> None:
    """Decide the nodes in which just these columns are below their top, from the bottom up."""
    counting, lattice = judge.counting, judge.counting.lattice
    candidates = _candidates(valid, subset, lattice.top)
    places = np.argwhere(candidates)
    if not len(places):
        return
    places = places[np.argsort(places.sum(axis=1), kind="stable")]
    # no candidate lies below this node, so all can be counted from it
    lowest = list(lattice.top)
    for i, j in enumerate(subset):
        nests = all(len(below) <= 1 for below in lattice.below[j])
        lowest[j] = int(places[:, i].min()) if nests else 0
    base = counting.raw
    if roll_up:
        base = counting.roll(counting.projected(frozenset(subset)), tuple(lowest))
    failing: dict[Levels, Classes] = {}
    before: dict[Levels, Classes] = {}
    height = -1
    for place in places.tolist():
        if sum(place) != height:
            height, before, failing = sum(place), failing, {}
        levels = list(lattice.top)
        for j, level in zip(subset, place, strict=True):
            levels[j] = level
        below = [
            (*levels[:j], low, *levels[j + 1 :])
            for j in subset
            for low in lattice.below[j][levels[j]]
        ]
        node = tuple(levels)
        if any(valid[lower] for lower in below):
            valid[node] = True
            continue
        known = [before[lower] for lower in below if lower in before] if roll_up else []
        source = min(known, key=len, default=base)
        classes = source if source.levels == node else counting.roll(source, node)
        if judge.kept(classes) is None:
            failing[node] = classes
        else:
            valid[node] = True


def _candidates(valid: Bools, subset: tuple[int, ...], top: Levels) -> Bools:
    """(levels below the top, column by column) the nodes whose every projection on one column fewer
    is valid: the others cannot be."""
    found = np.ones([top[j] for j in subset], np.bool_)
    for i, raised in enumerate(subset):
        place = tuple(
            top[j] if j == raised or j not in subset else slice(0, top[j]) for j in range(len(top))
        )
        found &= np.expand_dims(valid[place], i)
    return found
