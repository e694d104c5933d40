"""The largest anonymous subset: drop what fails, and whatever fails because of that.

Dropping a cell lowers the counts of its own keys alone, so nothing is ever counted again.
"""

import numpy as np
import numpy.typing as npt

from shoal.kernels.jit import kernel


@kernel
def add_counts(
    key: npt.NDArray[np.int32],
    weights: npt.NDArray[np.int32],
    left: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int32],
) -> None:
    """counts[k]: rows of the cells `left` with key k under one constraint."""
    for cell in left:
        counts[key[cell]] += weights[cell]


@kernel
def sweep(
    keys: npt.NDArray[np.int32],
    base: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int32],
    least: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int32],
    left: npt.NDArray[np.int32],
) -> tuple[int, bool]:
    """Look at each of the cells `left` once and drop those that fail; the others move to the front.

    keys (m, n): the key of each cell under each constraint; counts, at base[c] + key: rows with that
    key. A drop lowers them at once, so later cells already feel it. How many are left, and whether
    one of those may fail now, since a key fell below its constraint after some cells had passed.
    """
    m = len(keys)
    kept = 0
    fell = False
    for cell in left:
        holds = True
        for c in range(m):
            if counts[base[c] + keys[c, cell]] < least[c]:
                holds = False
                break
        if holds:
            left[kept] = cell
            kept += 1
            continue
        for c in range(m):
            key = base[c] + keys[c, cell]
            before = counts[key]
            counts[key] = before - weights[cell]
            # a key that falls to nothing has no cell left to fail
            fell |= before >= least[c] > counts[key] > 0
    return kept, fell


@kernel
def chase(
    keys: npt.NDArray[np.int32],
    base: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int32],
    least: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int32],
    left: npt.NDArray[np.int32],
) -> int:
    """The same to the end: from each drop straight to the cells that fail because of it.

    Lists the cells of every key first, so that each cell and each key is visited once.
    """
    m = len(keys)
    starts = np.zeros(base[m] + 1, np.int64)
    for c in range(m):
        for cell in left:
            starts[base[c] + keys[c, cell] + 1] += 1
    starts = np.cumsum(starts)
    at = starts[:-1].copy()
    members = np.empty(m * len(left), np.int32)
    for c in range(m):
        for i in range(len(left)):
            key = base[c] + keys[c, left[i]]
            members[at[key]] = i
            at[key] += 1
    alive = np.ones(len(left), np.bool_)
    queue = np.empty(len(left), np.int32)
    filled = 0
    for i in range(len(left)):
        for c in range(m):
            if counts[base[c] + keys[c, left[i]]] < least[c]:
                alive[i] = False
                queue[filled] = i
                filled += 1
                break
    done = 0
    while done < filled:
        cell = left[queue[done]]
        done += 1
        for c in range(m):
            key = base[c] + keys[c, cell]
            before = counts[key]
            counts[key] -= weights[cell]
            if before >= least[c] > counts[key]:
                for j in members[starts[key] : starts[key + 1]]:
                    if alive[j]:
                        alive[j] = False
                        queue[filled] = j
                        filled += 1
    kept = 0
    for i in range(len(left)):
        if alive[i]:
            left[kept] = left[i]
            kept += 1
    return kept
