"""Seeded draws for made-up tables: whole columns at a time, so millions of rows take seconds."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def source(rows: int, seed: int) -> np.random.Generator:
    """The one source of chance of a table, after a look at what was asked."""
    if rows < 0 or seed < 0:
        raise InputError(
            f"A sample table needs rows and a seed of 0 or more; found rows {rows}, seed {seed}."
        )
    return np.random.default_rng(seed)


def pick(rng: np.random.Generator, rows: int, weights: Sequence[float] | Floats) -> Codes:
    """(rows,) numbers 0..m-1, each as likely as its weight."""
    return pick_given(rng, np.zeros(rows, dtype=np.int64), np.array([weights], dtype=np.float64))


def pick_given(rng: np.random.Generator, given: Codes, weights: Floats) -> Codes:
    """(rows,) numbers 0..m-1; row i draws by the weights in line given[i] of the (g, m) matrix.

    The lines of running sums are laid end to end, line g reaching from g to g + 1, so one search
    serves all rows.
    """
    sums = np.cumsum(weights, axis=1)
    lines = sums / sums[:, -1:] + np.arange(len(weights))[:, None]
    found = np.searchsorted(lines.ravel(), given + rng.random(len(given)), side="right")
    # given + chance may round up to the next line: keep it in its own
    picked: Codes = np.clip(found - given * weights.shape[1], 0, weights.shape[1] - 1)
    return picked


def falling(m: int, power: float = 1.0) -> Floats:
    """(m,) weights that fall off as towns and names do: the i-th has 1 / i**power."""
    weights: Floats = np.arange(1, m + 1, dtype=np.float64) ** -power
    return weights


def texts(words: Sequence[str], codes: Codes) -> pa.Array:
    """(rows,) string: the word of each code."""
    return pa.array(words, pa.string()).take(pa.array(codes))


def with_gaps(rng: np.random.Generator, values: pa.Array, share: float) -> pa.Array:
    """The values with about this share of them missing."""
    return pc.if_else(pa.array(rng.random(len(values)) >= share), values, None)
