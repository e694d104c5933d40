"""Count sensitive values per group, without the zeros."""

import numpy as np
import numpy.typing as npt

from shoal.kernels.jit import kernel


@kernel
def count_runs(
    codes: npt.NDArray[np.int32], starts: npt.NDArray[np.int64], size: int, missing: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Histogram of each run codes[starts[i]:starts[i+1]]: (g + 1,) entry starts, values, counts.

    Values ascend inside a run; the code `missing` is not counted.
    """
    n_runs = len(starts) - 1
    tally = np.zeros(size, np.int64)
    found = np.empty(min(size, len(codes)) + 1, np.int32)
    out_starts = np.zeros(n_runs + 1, np.int64)
    values = np.empty(len(codes), np.int32)
    counts = np.empty(len(codes), np.int64)
    at = 0
    for run in range(n_runs):
        n_found = 0
        for i in range(starts[run], starts[run + 1]):
            code = codes[i]
            if code == missing:
                continue
            if tally[code] == 0:
                found[n_found] = code
                n_found += 1
            tally[code] += 1
        found[:n_found].sort()
        for i in range(n_found):
            values[at] = found[i]
            counts[at] = tally[found[i]]
            tally[found[i]] = 0
            at += 1
        out_starts[run + 1] = at
    return out_starts, values[:at].copy(), counts[:at].copy()
