"""The largest anonymous subset: drop what fails, and whatever fails because of that."""

import numpy as np
import numpy.typing as npt

from shoal.kernels.jit import kernel


@kernel
def drop_failing(
    keys: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    members: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int64],
    base: npt.NDArray[np.int64],
    least: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64],
    active: int,
    alive: npt.NDArray[np.bool_],
) -> None:
    """Drop cells until every key of every active constraint is counted often enough.

    keys (m, n): the key of each cell under each constraint; counts, flat, at base[c] + key: rows of
    the live cells with that key; members, by starts (flat alike): the cells of each key. Dropping a
    cell lowers the counts of its own keys alone, so each cell and each key is visited once.
    """
    m, n = keys.shape
    queue = np.empty(n, np.int32)
    filled = 0
    for cell in range(n):
        if not alive[cell]:
            continue
        for c in range(active):
            if counts[base[c] + keys[c, cell]] < least[c]:
                alive[cell] = False
                queue[filled] = cell
                filled += 1
                break
    done = 0
    while done < filled:
        cell = queue[done]
        done += 1
        for c in range(m):
            at = base[c] + keys[c, cell]
            before = counts[at]
            counts[at] -= weights[cell]
            if c < active and before >= least[c] > counts[at]:
                for i in range(starts[at], starts[at + 1]):
                    other = members[i]
                    if alive[other]:
                        alive[other] = False
                        queue[filled] = other
                        filled += 1
