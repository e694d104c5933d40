"""Groups of canonical rows, one after another in one array."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Runs(NamedTuple):
    """Some groups."""

    rows: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    """(g + 1,) group i holds rows[starts[i]:starts[i+1]]."""

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """(g,) rows of each group."""
        return np.diff(self.starts)

    def __bool__(self) -> bool:
        return len(self.starts) > 1


def chosen(runs: Runs, which: npt.NDArray[np.bool_]) -> Runs:
    """Some of the groups."""
    sizes = runs.sizes
    starts = np.concatenate([[0], np.cumsum(sizes[which])]).astype(np.int64)
    return Runs(runs.rows[np.repeat(which, sizes)], starts)


def joined(parts: list[Runs]) -> Runs:
    """The groups of all parts."""
    sizes = np.concatenate([np.zeros(0, np.int64), *(part.sizes for part in parts)])
    rows = np.concatenate([np.zeros(0, np.int32), *(part.rows for part in parts)])
    return Runs(rows.astype(np.int32), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def with_rows(
    runs: Runs, group: npt.NDArray[np.int64], rows: npt.NDArray[np.int32], n_groups: int
) -> Runs:
    """The groups with more rows, rows[i] going to group[i]."""
    owner = np.concatenate([np.repeat(np.arange(n_groups), runs.sizes), group])
    every = np.concatenate([runs.rows, rows])
    order = np.argsort(owner, kind="stable")
    sizes = np.bincount(owner, minlength=n_groups)
    return Runs(
        every[order].astype(np.int32), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    )
