"""The largest anonymous subset of rows (Theorem 4), all constraints at once or one after another."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def largest_subset(
    keys: Sequence[npt.NDArray[np.int32]],
    least: Sequence[int],
    weights: Ints,
    one_by_one: bool = False,
) -> npt.NDArray[np.bool_]:
    """(n,) which cells belong to the unique largest subset that meets every constraint within itself.

    keys[c] (n,): the key of each cell under constraint c, numbered 0, 1, 2, …; weights: rows of each
    cell. `one_by_one` adds the constraints in the order given, each time down to a fixpoint: the same
    subset by another way.
    """
    from shoal.kernels.sorting import counting_order
    from shoal.kernels.subset import drop_failing

    n, m = len(weights), len(keys)
    sizes = [int(key.max()) + 1 if n else 0 for key in keys]
    base = np.cumsum([0, *sizes]).astype(np.int64)
    counts = np.zeros(base[-1], np.int64)
    starts = np.zeros(base[-1] + 1, np.int64)
    members = np.empty(n * m, np.int32)
    for c, key in enumerate(keys):
        part = slice(base[c], base[c + 1])
        counts[part] = np.bincount(key, weights, sizes[c])
        starts[base[c] + 1 : base[c + 1] + 1] = c * n + np.cumsum(np.bincount(key, minlength=sizes[c]))
        counting_order(key, sizes[c], members[c * n : (c + 1) * n])
    alive = np.ones(n, np.bool_)
    floor = np.array(least, np.int64)
    table = np.stack(keys) if n else np.zeros((m, 0), np.int32)
    for active in range(1 if one_by_one else m, m + 1):
        drop_failing(table, starts, members, counts, base, floor, weights, active, alive)
    return alive
