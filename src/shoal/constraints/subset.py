"""The largest anonymous subset of rows (Theorem 4), all constraints at once or one after another."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
SWEEPS = 4
"""Sweeps that drop little before the drops are followed one by one. Most subsets settle in a few
sweeps, which are cheap; only a long chain of drops is worth the lists that following it needs."""
LITTLE = 1 / 8


def largest_subset(
    keys: Sequence[Codes] | Codes,
    least: Sequence[int],
    weights: Ints,
    one_by_one: bool = False,
) -> npt.NDArray[np.bool_]:
    """(n,) which cells belong to the unique largest subset that meets every constraint within itself.

    keys[c] (n,): the key of each cell under constraint c, numbered 0, 1, 2, …, in a list or one
    array; weights: rows of each cell. `one_by_one` adds the constraints in the order given, each time
    down to a fixpoint: the same subset by another way.
    """
    from shoal.kernels.subset import add_counts

    n, m = len(weights), len(keys)
    alive = np.zeros(n, np.bool_)
    if n == 0:
        return alive
    table = np.asarray(keys)
    base = np.cumsum([0, *(table.max(axis=1) + 1)]).astype(np.int64)
    # rows are numbered in 32 bits everywhere, so counts of them fit
    counts, rows = np.zeros(base[m], np.int32), weights.astype(np.int32)
    floor = np.array(least, np.int64)
    left = np.arange(n, dtype=np.int32)
    counted = 0
    for active in range(1 if one_by_one else m, m + 1):
        # a constraint is first counted when it is added, over what the others have left
        for c in range(counted, active):
            add_counts(table[c], rows, left, counts[base[c] : base[c + 1]])
        counted = active
        left = _fixpoint(table[:active], base[: active + 1], counts, floor[:active], rows, left)
    alive[left] = True
    return alive


def _fixpoint(
    keys: Codes, base: Ints, counts: Codes, least: Ints, weights: Codes, left: Codes
) -> Codes:
    """Those of the cells `left` that remain when nothing fails any more; `counts` go along.

    A sweep that drops much pays for itself; of the others there are few: the whole is linear.
    """
    from shoal.kernels.subset import chase, sweep

    idle = 0
    while idle < SWEEPS:
        kept, fell = sweep(keys, base, counts, least, weights, left)
        idle += len(left) - kept < LITTLE * len(left)
        left = left[:kept]
        if not fell:
            return left
    return left[: chase(keys, base, counts, least, weights, left)]
