"""Put rows that are left over into the nearest groups that still hold with them."""

import numpy as np
import numpy.typing as npt

from shoal.cells.cells import Cells
from shoal.cells.costs import costs_of
from shoal.kernels.inserting import Labels, nearest, widen, widen_all
from shoal.methods._asking import counts_of_runs
from shoal.methods._runs import Runs, with_rows
from shoal.models.requirement import Requirement

Rows = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
MOST_KEPT = 1 << 28
"""Answers kept at a time: rows of different sensitive values times groups."""


def insert(cells: Cells, requirement: Requirement, runs: Runs, left: Rows) -> Runs:
    """The groups with the rows left over, as far as they fit.

    Row by row in canonical order, each into the nearest group that holds with it; again from the
    start until no row moves.
    """
    if not runs or not len(left):
        return runs
    flock = _Flock(cells, requirement, runs)
    moved = True
    while moved:
        moved = False
        for row in left.tolist():
            if flock.take(row):
                moved = True
        left = left[~flock.inside[left]]
    return flock.runs()


class _Flock:
    """Groups that grow, and what is known of which rows they can take.

    Rows with the same sensitive values fit into the same groups. Whether they do is asked once of
    all groups, and afterwards only of those that have grown since.
    """

    def __init__(self, cells: Cells, requirement: Requirement, runs: Runs) -> None:
        self.cells, self.requirement, self.first = cells, requirement, runs
        self.n = len(runs.starts) - 1
        self.costs = costs_of(cells.domains)
        self.codes = np.repeat(cells.codes, cells.counts, axis=0)
        d = self.codes.shape[1]
        self.labels = Labels(
            np.full((self.n, d), np.iinfo(np.int32).max, np.int32),
            np.full((self.n, d), -1, np.int32),
            np.zeros((self.n, d), np.int64),
            np.zeros((self.n, int(self.costs.seen[-1]) // 64 + 1), np.uint64),
        )
        widen_all(self.labels, self.costs, self.codes, *runs)
        self.inside = np.zeros(cells.n_rows, np.bool_)
        self.inside[runs.rows] = True
        self.more: dict[int, list[int]] = {}
        self.grown: list[int] = []
        self.fits: dict[tuple[int, ...], Flags] = {}
        self.asked: dict[tuple[int, ...], int] = {}
        self.values = [cells.sensitive[name] for name in requirement.columns]

    def take(self, row: int) -> bool:
        """Put a row into the nearest group that holds with it; False where there is none."""
        allowed = self._allowed(row)
        g = nearest(self.labels, self.costs, self.codes[row], allowed)
        if g < 0:
            return False
        widen(self.labels, self.costs, g, self.codes[row])
        self.more.setdefault(g, []).append(row)
        self.grown.append(g)
        self.inside[row] = True
        return True

    def _allowed(self, row: int) -> Flags:
        key = tuple(int(values[row]) for values in self.values)
        if key not in self.fits:
            if (len(self.fits) + 1) * self.n > MOST_KEPT:
                self.fits.clear()
            self.fits[key] = self._holds_with(row, self.runs())
        elif self.asked[key] < len(self.grown):
            stale = np.unique(self.grown[self.asked[key] :])
            self.fits[key][stale] = self._holds_with(row, self._some(stale.tolist()))
        self.asked[key] = len(self.grown)
        return self.fits[key]

    def _holds_with(self, row: int, runs: Runs) -> Flags:
        """(g,) whether each group would hold with the row."""
        n = len(runs.starts) - 1
        joined = with_rows(runs, np.arange(n), np.full(n, row, np.int32), n)
        return self.requirement.holds(counts_of_runs(self.cells, self.requirement, *joined))

    def _some(self, groups: list[int]) -> Runs:
        rows, starts = self.first
        parts = [
            np.array([*rows[starts[g] : starts[g + 1]], *self.more[g]], np.int32) for g in groups
        ]
        ends = np.cumsum([len(part) for part in parts])
        return Runs(np.concatenate(parts), np.concatenate([[0], ends]).astype(np.int64))

    def runs(self) -> Runs:
        """The groups as they are now."""
        group = np.array([g for g, rows in self.more.items() for _ in rows], np.int64)
        rows = np.array([row for rows in self.more.values() for row in rows], np.int32)
        return with_rows(self.first, group, rows, self.n)
