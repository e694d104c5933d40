"""What a method decides: which rows go together, and how far each group is generalised."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SUPPRESSED = -1


@dataclass(frozen=True)
class Grouping:
    """A method's answer for some of the quasi-identifiers (for most methods: all of them)."""

    group: npt.NDArray[np.int32]
    """(n_rows,) the group of each canonical row, 0..n_groups-1, or SUPPRESSED."""
    n_groups: int
    columns: tuple[int, ...]
    """The columns of the cells that this grouping generalises."""
    levels: npt.NDArray[np.int32] | None = None
    """(n_groups, len(columns)) the hierarchy level to publish at, for methods that fix it; without
    it a group gets the lowest label that covers it."""
    least: int = 0
    """Fewer suppressed rows than this (but some) would stand out by being suppressed: the other cells
    of such a row are hidden too."""
    notes: tuple[str, ...] = ()
    """What the method did that the user should know."""
    minimal: tuple[tuple[int, ...], ...] = ()
    """For methods that search all nodes of the lattice: the levels, column by column, of every node
    that holds while no node below it does."""
