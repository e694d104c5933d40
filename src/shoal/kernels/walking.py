"""In which part of a table that was cut and cut again a row lies."""

import numpy as np
import numpy.typing as npt

from shoal.kernels.jit import kernel


@kernel
def walk(
    rows: npt.NDArray[np.int64],
    column: npt.NDArray[np.int64],
    code: npt.NDArray[np.int64],
    below: npt.NDArray[np.int64],
    last: npt.NDArray[np.int64],
    lasts: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """(n,) the node that each row ends in.

    rows: (n, w) what makes the canonical order. Per node: the column it is cut in, or -1; rows with a
    smaller code there go below, to the node `below`, the others to the next; of those with the same
    code the rows up to lasts[last] go below as well, none where `last` is -1.
    """
    n, width = rows.shape
    out = np.empty(n, np.int64)
    for i in range(n):
        node = np.int64(0)
        while column[node] >= 0:
            value = rows[i, column[node]]
            goes_below = value < code[node]
            if value == code[node] and last[node] >= 0:
                goes_below = True
                for j in range(width):
                    bound = lasts[last[node], j]
                    if rows[i, j] != bound:
                        goes_below = rows[i, j] < bound
                        break
            node = below[node] if goes_below else below[node] + 1
        out[i] = node
    return out
