"""Visit the nodes of the lattice depth first: a node's classes come from the one before it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from shoal.methods._classes import Classes, Counting, Flags
from shoal.methods._judging import Judge
from shoal.methods._lattice import Levels
from shoal.methods.base import Progress
from shoal.threads import each, workers

PIECES = 16
"""Pieces of work for each thread, at least."""
LARGE = 100_000
"""With fewer cells than this, threads wait for one another more than they help."""


def valid_everywhere(judge: Judge, progress: Progress) -> Flags:
    """(the lattice's shape) whether each node is valid, for judges that are not monotone."""
    valid = np.zeros(judge.counting.lattice.shape, np.bool_)

    def look(classes: Classes) -> bool:
        valid[classes.levels] = judge.kept(classes) is not None
        return True

    Visit(judge.counting, look).everywhere(progress)
    return valid


@dataclass(frozen=True)
class Visit:
    """Look at the nodes of a lattice."""

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

    def everywhere(self, progress: Progress) -> None:
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
