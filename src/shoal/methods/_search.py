"""Look at every node of the lattice, depth first: a node's classes come from the one before it."""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import numpy.typing as npt

from shoal.methods._classes import Classes, Counting, Flags
from shoal.methods._judging import Judge
from shoal.methods._lattice import Levels
from shoal.methods._nodes import Measuring
from shoal.methods.base import Progress
from shoal.threads import each, workers

TASKS = 8
"""Pieces of work for each thread."""


def valid_everywhere(judge: Judge, progress: Progress) -> Flags:
    """(the lattice's shape) whether each node is valid, for judges that are not monotone."""
    valid = np.zeros(judge.counting.lattice.shape, np.bool_)

    def look(classes: Classes) -> None:
        valid[classes.levels] = judge.kept(classes) is not None

    visit_all(judge.counting, look, progress)
    return valid


def costs_everywhere(
    measured: Measuring, progress: Progress, roll_up: bool = True
) -> npt.NDArray[np.float64]:
    """(the lattice's shape) the cost of each node, nan where it is not valid."""
    costs = np.full(measured.counting.lattice.shape, np.nan)

    def look(classes: Classes) -> None:
        kept = measured.judge.kept(classes)
        if kept is not None:
            costs[classes.levels] = measured.cost(classes, kept)

    visit_all(measured.counting, look, progress, roll_up)
    return costs


def visit_all(
    counting: Counting, look: Callable[[Classes], None], progress: Progress, roll_up: bool = True
) -> None:
    """Call `look` once with the classes of every node, several nodes at a time.

    roll_up: count a node from the nearest one below it that is at hand, else from the raw table.
    """
    lattice = counting.lattice
    # columns with many values first: the many nodes visited last are then small
    order = sorted(range(len(lattice.trees)), key=lambda j: (-lattice.trees[j].n_leaves, j))
    first = _first(lattice.shape, order)
    tasks = list(product(*(range(lattice.shape[j]) for j in order[:first])))
    whole = counting.raw  # counted before threads ask for it
    assert lattice.nested

    def task(prefix: Levels) -> None:
        levels = [0] * len(order)
        for j, level in zip(order, prefix, strict=False):
            levels[j] = level
        begin = counting.roll(whole, tuple(levels))
        for classes in _above(counting, begin, order[first:], roll_up):
            look(classes)

    batch = max(1, workers() * 2)
    progress(0.0)
    for begin in range(0, len(tasks), batch):
        each(task, tasks[begin : begin + batch])
        progress(min(1.0, (begin + batch) / len(tasks)))


def _first(shape: Levels, order: list[int]) -> int:
    """How many columns make the pieces of work."""
    pieces = 1
    for i, j in enumerate(order):
        if pieces >= TASKS * workers():
            return i
        pieces *= shape[j]
    return len(order)


def _above(
    counting: Counting, classes: Classes, columns: list[int], roll_up: bool
) -> Iterator[Classes]:
    """The node itself and all that differ from it in these columns alone."""
    if not columns:
        yield classes
        return
    column, *others = columns
    at: list[Classes] = []
    for level in range(counting.lattice.shape[column]):
        if level == 0:
            here = classes
        else:
            levels = (*classes.levels[:column], level, *classes.levels[column + 1 :])
            below = counting.lattice.below[column][level]
            source = min((at[low] for low in below), key=len) if roll_up else counting.raw
            here = counting.roll(source, levels)
        at.append(here)
        yield from _above(counting, here, others, roll_up)
