"""What each group covers: its smallest and largest code per column, and the members of its sets."""

import numpy as np
import numpy.typing as npt

from shoal.kernels.jit import kernel


@kernel
def spans(
    codes: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    group: npt.NDArray[np.int32],
    n_groups: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Size (g,), smallest (g, d) and largest (g, d) code of each group; suppressed rows are left out."""
    d = codes.shape[1]
    sizes = np.zeros(n_groups, np.int64)
    low = np.full((n_groups, d), np.iinfo(np.int32).max, np.int32)
    high = np.full((n_groups, d), -1, np.int32)
    for cell in range(len(codes)):
        last = -1
        for row in range(starts[cell], starts[cell + 1]):
            g = group[row]
            if g < 0:
                continue
            sizes[g] += 1
            if g == last:
                continue
            last = g
            for j in range(d):
                low[g, j] = min(low[g, j], codes[cell, j])
                high[g, j] = max(high[g, j], codes[cell, j])
    return sizes, low, high


@kernel
def members(
    codes: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int32],
    row_starts: npt.NDArray[np.int64],
    size: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """The distinct codes of one column in each group, ascending: (g + 1,) starts and the codes.

    `rows` lists the canonical rows group by group, `row_starts` where each group begins; `codes` is
    the column (n_rows,) in canonical order.
    """
    n_groups = len(row_starts) - 1
    seen = np.full(size, -1, np.int64)
    out_starts = np.zeros(n_groups + 1, np.int64)
    out = np.empty(len(rows), np.int32)
    at = 0
    for g in range(n_groups):
        begin = at
        for i in range(row_starts[g], row_starts[g + 1]):
            code = codes[rows[i]]
            if seen[code] != g:
                seen[code] = g
                out[at] = code
                at += 1
        out[begin:at].sort()
        out_starts[g + 1] = at
    return out_starts, out[:at].copy()
