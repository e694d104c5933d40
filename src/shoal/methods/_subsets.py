"""Which nodes of the lattice are valid, found subset by subset of the columns.

A subset's node is the node of the whole lattice in which the other columns stand at their top, where
all values are one. So what is found for a subset is kept in the array of the whole lattice.
"""

from itertools import combinations

import numpy as np

from shoal.methods._classes import Classes, Flags
from shoal.methods._judging import Judge
from shoal.methods._lattice import Levels
from shoal.methods.base import Progress


def valid_nodes(judge: Judge, progress: Progress, roll_up: bool = True) -> Flags:
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


def _walk(judge: Judge, valid: Flags, subset: tuple[int, ...], roll_up: bool) -> None:
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


def _candidates(valid: Flags, subset: tuple[int, ...], top: Levels) -> Flags:
    """(levels below the top, column by column) the nodes whose every projection on one column fewer
    is valid: the others cannot be."""
    found = np.ones([top[j] for j in subset], np.bool_)
    for i, raised in enumerate(subset):
        place = tuple(
            top[j] if j == raised or j not in subset else slice(0, top[j]) for j in range(len(top))
        )
        found &= np.expand_dims(valid[place], i)
    return found
