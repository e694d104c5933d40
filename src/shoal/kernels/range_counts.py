"""Counts of range queries on a table and on a release: one query at a time, over all cells."""

import numpy as np
import numpy.typing as npt

from shoal.arrays import Bools, Codes, Floats, Ints
from shoal.kernels.jit import kernel


@kernel
def count_rows(
    codes: Codes,
    counts: Ints,
    columns: Ints,
    starts: Ints,
    wanted: npt.NDArray[np.uint8],
) -> int:
    """Rows whose value is wanted in every one of `columns`.

    `codes` has a line per column; `wanted` holds 1 or 0 per code, those of columns[i] from starts[i] on.
    """
    inside = np.ones(codes.shape[1], np.uint8)
    for i in range(len(columns)):
        line, marks = codes[columns[i]], wanted[starts[i] :]
        for cell in range(len(inside)):  # a branch would be guessed wrong too often
            inside[cell] &= marks[line[cell]]
    found = 0
    for cell in range(len(inside)):
        found += counts[cell] * inside[cell]
    return found


@kernel
def share_of_ranges(
    group: Codes,
    low: Floats,
    high: Floats,
    begin: float,
    end: float,
    rows: Floats,
) -> None:
    """Leave in `rows`, of each class, the share of its label low..high that lies in begin..end.

    Both ends belong to a range, and group[i] is the place of the label of class i.
    """
    for i in range(len(group)):
        if rows[i] == 0.0:
            continue
        g = group[i]
        common = min(high[g], end) - max(low[g], begin) + 1.0
        rows[i] *= max(0.0, common) / (high[g] - low[g] + 1.0)


@kernel
def share_of_sets(
    group: Codes,
    starts: Ints,
    members: Codes,
    wanted: Bools,
    rows: Floats,
) -> None:
    """The same where a label is the set members[starts[g]:starts[g + 1]] of codes."""
    for i in range(len(group)):
        if rows[i] == 0.0:
            continue
        g = group[i]
        common = 0
        for at in range(starts[g], starts[g + 1]):
            common += wanted[members[at]]
        rows[i] *= common / (starts[g + 1] - starts[g])
